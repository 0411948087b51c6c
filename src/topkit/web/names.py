"""Names that people could mistake for each other: "admin", "Admin", and "аdmin" with a Cyrillic letter."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_LOOKS_LIKE = {
    # Cyrillic
    **dict(zip("абвгдеѕіјкмнорсԁтухһԛԝүґ", "a6brgesijkmhopcdtyxhqwyr", strict=True)),
    # Greek
    **dict(zip("αβεηικνορτυχωγ", "abenikvoptuxwy", strict=True)),
    # Armenian, and Latin letters and digits that other fonts draw alike
    **dict(zip("оսոհզցɑɡıɩ", "ounhqgagii", strict=True)),
    "0": "o",
    "1": "l",
    "|": "l",
}
_INVISIBLE = "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200d\u2060\u3164\ufe0f\uffa0"
_TABLE = str.maketrans(_LOOKS_LIKE)

MODEL_MARK = "model:"
"""Starts the name of every model, so that pages, exports and reports show that no person answered."""


@lru_cache(10_000)
def likeness(name: str) -> frozenset[str]:
    """What a name looks like; two names are look-alikes if they share one of these.

    Case, width, spaces and letters of other alphabets that look like Latin ones do not count. A capital I is
    read both as an i and as an l.

    >>> likeness("Admin") & likeness("аdmin") != frozenset()
    True
    >>> likeness("Ila") & likeness("Lia")
    frozenset()
    """
    visible = unicodedata.normalize("NFKC", name.translate(dict.fromkeys(map(ord, _INVISIBLE))))
    words = " ".join(visible.split())
    return frozenset(
        unicodedata.normalize("NFKC", form.casefold()).translate(_TABLE)
        for form in (words, words.replace("I", "l"))
    )
