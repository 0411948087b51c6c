"""Analyser: from text to terms (lower case, tokens, stop words, Snowball stems)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from topkit.compute import require
from topkit.data import InputError
from topkit.data.settings import suggestion

WORD = r"\w+"
"""The default token: a run of letters, digits and underscores."""

_GRAMMAR = """
a about above after again against all also am an and any are as at be because been before being below between
both but by can could did do does doing down during each few for from further had has have having he her here
hers him his how i if in into is it its itself just me more most my no nor not now of off on once only or
other our ours out over own same she should so some such than that the their theirs them then there these
they this those through to too under until up upon us very was we were what when where which while who
whom whose why will with would you your yours
"""

STOP_WORDS = frozenset(_GRAMMAR.split())
"""English function words, which carry no information about the topic of a text."""


@dataclass(frozen=True)
class Analyser:
    """How text becomes terms: lower case, tokens by a pattern, no stop words, stems.

    Stemming uses Snowball through PyStemmer (``pip install 'topkit[text]'``): its authors' C code, as a
    stemmer in Python would dominate the time of indexing. Stop words are removed before stemming.

    language: a Snowball language such as ``english`` or ``porter``; None for no stemming.
    stop_words: tokens to leave out.
    pattern: regular expression of a token, applied to the text in lower case.

    >>> Analyser().terms("The wings of a slip-stream, winged")
    ['wing', 'slip', 'stream', 'wing']
    >>> Analyser(language=None, stop_words=frozenset(), pattern=r"[a-z]").terms("To be")
    ['t', 'o', 'b', 'e']
    """

    language: str | None = "english"
    stop_words: frozenset[str] = STOP_WORDS
    pattern: str = WORD

    def __post_init__(self) -> None:
        try:
            groups = re.compile(self.pattern).groups
        except re.error as error:
            raise InputError(f"invalid token pattern {self.pattern!r} ({error})") from None
        if groups:
            raise InputError(
                f"the token pattern {self.pattern!r} has capturing groups", "write (?:…) instead of (…)"
            )
        if self.language is not None:
            languages = sorted(require("Stemmer", "text").algorithms())
            if self.language not in languages:
                raise InputError(
                    f"unknown stemmer language {self.language!r}",
                    suggestion(self.language, languages, f"choose from {', '.join(languages)}"),
                )

    @cached_property
    def _token(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text in lower case, stop words included."""
        return self._token.findall(text.lower())

    def reduce(self, tokens: Sequence[str]) -> list[str]:
        """The term of each token: its stem, or an empty string for a stop word."""
        stop = self.stop_words
        if self.language is None:
            return ["" if token in stop else token for token in tokens]
        # A new stemmer per call, because threads must not share one.
        stems = require("Stemmer", "text").Stemmer(self.language).stemWords(tokens)
        return ["" if token in stop else stem for token, stem in zip(tokens, stems, strict=True)]

    def terms(self, text: str) -> list[str]:
        """The terms of a text in order, with repetitions."""
        return [term for term in self.reduce(self.tokens(text)) if term]

    def __str__(self) -> str:
        return f"stems {self.language or 'none'}, {len(self.stop_words)} stop words, tokens {self.pattern}"
