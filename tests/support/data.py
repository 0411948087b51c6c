"""Random data sets for property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from topkit.data import Dataset

token = st.text(
    st.characters(blacklist_categories=["Cs", "Cc", "Z"], blacklist_characters="#\x00"), min_size=1
)
value = st.floats(width=32, allow_infinity=False)


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    n, width = sum(lengths), draw(st.integers(1, 4))
    X = draw(st.lists(st.lists(value, min_size=width, max_size=width), min_size=n, max_size=n))
    y = draw(st.lists(st.floats(-9, 9, width=32), min_size=n, max_size=n))
    qids = draw(st.lists(token, min_size=len(lengths), max_size=len(lengths), unique=True))
    ids = draw(st.none() | st.lists(token, min_size=n, max_size=n))
    return Dataset.build(X, y, np.repeat(np.array(qids, object), lengths), doc_ids=ids)
