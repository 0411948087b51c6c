"""Analyser: text becomes terms (lower case, tokens, stop words, Snowball stems)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from topkit.data import InputError

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
"""Words of English grammar, which say nothing of what a text is about."""


@dataclass(frozen=True)
class Analyser:
    """How a text becomes terms: lower case, tokens by a pattern, no stop words, stems.

    The stems are those of Snowball (by the package PyStemmer: its authors' own C code with a maintained
    binding; a stemmer in Python would take longer than all the rest of indexing). Stop words are compared
    before stemming.

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
            raise InputError(f"the token pattern {self.pattern!r} is not valid ({error})") from None
        if groups:
            raise InputError(
                f"the token pattern {self.pattern!r} has groups", "write (?:…) in place of (…) in it"
            )
        if self.language is not None:
            import Stemmer

            if self.language not in Stemmer.algorithms():
                choice = ", ".join(sorted(Stemmer.algorithms()))
                raise InputError(f"there is no stemmer for {self.language!r}", f"choose from {choice}")

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
        import Stemmer  # a new stemmer each time: one must not be shared by threads

        stems = Stemmer.Stemmer(self.language).stemWords(tokens)
        return ["" if token in stop else stem for token, stem in zip(tokens, stems, strict=True)]

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order, repeated as often as they occur."""
        return [term for term in self.reduce(self.tokens(text)) if term]
