"""Rankers in PyTerrier pipelines, with the real package."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import topkit as tk
from topkit.rankers.checks import easy_data

pytestmark = pytest.mark.filterwarnings("ignore")  # PyTerrier's own warnings, and short training

pt = pytest.importorskip("pyterrier", reason="needs the extra pyterrier")
pd = pytest.importorskip("pandas")

from topkit.pyterrier import transformer  # noqa: E402

DATA = easy_data(12)
NAMES = tuple(f"f{j}" for j in range(DATA.n_features))


def results(data: tk.Dataset) -> Any:
    """A result frame with feature vectors, in the order of BM25 (here: the reverse)."""
    frame = pd.DataFrame(
        {
            "qid": [data.qids[q] for q in data.query_index],
            "query": "words",
            "docno": data.names_of_documents().tolist(),
            "features": list(np.array(data.X)),
            "score": 0.0,
        }
    )
    frame[list(NAMES)] = np.array(data.X)
    return pt.model.add_ranks(frame.iloc[::-1].reset_index(drop=True))


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    FRAME = results(DATA)
GRADES = np.array(DATA.y)[::-1].astype(int)
QRELS = pd.DataFrame({"qid": FRAME["qid"], "docno": FRAME["docno"], "label": GRADES})


def test_a_fitted_ranker_re_ranks() -> None:
    ranker = tk.ranker("listnet").fit(DATA)
    ranked = transformer(ranker)(FRAME)
    expected = dict(zip(DATA.names_of_documents().tolist(), ranker.score(DATA), strict=True))
    scores = [expected[doc] for doc in ranked["docno"]]
    np.testing.assert_allclose(ranked["score"], scores, rtol=1e-6, atol=1e-6)
    best = ranked[ranked["rank"] == 0].set_index("qid")["docno"].to_dict()
    run = ranker.rank(DATA)
    assert best == {qid: run[qid][0][0] for qid in run}
    assert set(ranked.columns) == set(FRAME.columns)


def test_columns_may_be_the_features() -> None:
    named = tk.Dataset(DATA.X, DATA.y, DATA.ptr, DATA.qids, feature_names=NAMES)
    ranker = tk.ranker("listnet").fit(named)
    by_columns = transformer(ranker, NAMES)(FRAME)
    np.testing.assert_allclose(by_columns["score"], transformer(ranker)(FRAME)["score"])
    with pytest.raises(tk.InputError, match="feature 1 is 'f1' in the data but was 'f0'"):
        transformer(ranker, NAMES[1:] + NAMES[:1])(FRAME)


def test_a_pipeline_is_fitted_and_evaluated() -> None:
    pipeline = pt.Transformer.from_df(FRAME) >> transformer("listnet", l2=0.1)
    topics = FRAME[["qid", "query"]].drop_duplicates()
    pipeline.fit(topics, QRELS)
    table = pt.Experiment([pt.Transformer.from_df(FRAME), pipeline], topics, QRELS, ["ndcg_cut_5"])
    before, after = table["ndcg_cut_5"]
    assert after > before + 0.1
    data = in_the_order_of_the_frame(DATA)
    expected = tk.ranker("listnet", l2=0.1).fit(data).score(data)
    np.testing.assert_allclose(np.sort(pipeline(topics)["score"]), np.sort(expected), rtol=1e-4, atol=1e-4)


def in_the_order_of_the_frame(data: tk.Dataset) -> tk.Dataset:
    """The data with queries and rows in the order of the frame."""
    last_to_first = np.arange(len(data))[::-1]
    qid = np.array([data.qids[q] for q in data.query_index])[last_to_first]
    return tk.Dataset.from_arrays(data.X[last_to_first], data.y[last_to_first], qid)


def test_validation_topics_are_used() -> None:
    chosen = transformer("lambdamart", trees=5)
    chosen.fit(FRAME, QRELS, FRAME, QRELS)
    assert np.isfinite(chosen(FRAME)["score"]).all()


def test_empty_results_and_invalid_frames() -> None:
    chosen = transformer(tk.ranker("listnet").fit(DATA))
    empty = chosen(FRAME.iloc[:0])
    assert {"score", "rank"} <= set(empty.columns)
    assert len(empty) == 0
    with pytest.raises(tk.InputError, match="no document in common"):
        transformer("listnet").fit(FRAME, QRELS.assign(qid="other"))
    with pytest.raises(tk.InputError, match="settings are for a ranker that is given by name"):
        transformer(tk.ranker("listnet"), l2=0.1)
