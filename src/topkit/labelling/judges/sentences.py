"""Answers in sentences: "Document 1 is more relevant", "I prefer the second passage", "Both are equal"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

ORDINALS = {
    "first": "1",
    "second": "2",
    "third": "3",
    "fourth": "4",
    "fifth": "5",
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "a": "1",
    "b": "2",
    "c": "3",
    "d": "4",
    "e": "5",
    "former": "1",
    "latter": "2",
}
"""Words that models use for the number of a document."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_BETTER = (
    r"(?:more\s+(?:\w+ly\s+)?(?:relevant|useful|helpful|pertinent|informative|appropriate|suitable|specific"
    r"|comprehensive)|most\s+(?:relevant|useful|helpful)|better|best|preferable|preferred|superior|stronger"
    r"|the\s+winner|clearly\s+ahead|closer\s+to\s+the\s+query)"
)
_WORSE = r"(?:less\s+(?:\w+ly\s+)?(?:relevant|useful|helpful|pertinent|informative)|worse|inferior|weaker)"
_IS = r"(?:is|was|are|seems?|appears?|looks?|would\s+be|ranks?|remains?)"
_SAME = re.compile(
    r"\b(?:equally\s+(?:\w+ly\s+)?(?:relevant|irrelevant|useful|good|bad|helpful)|about\s+the\s+same"
    r"|the\s+same\s+relevance|neither\s+(?:\w+\s+){0,3}(?:more\s+relevant|better)|no\s+(?:clear|real)?\s*"
    r"(?:difference|preference|winner)|(?:is|as)\s+a\s+tie|it's\s+a\s+tie|\btied\b|both\s+(?:\w+\s+){0,2}"
    r"(?:are\s+)?(?:irrelevant|not\s+relevant|off-topic))",
    re.IGNORECASE,
)
_NOT_SURE = re.compile(
    r"^\s*(?:if|whether|unless|had)\b|\bnot\s+(?:\w+ly\s+)?(?:more|better|the)\b", re.IGNORECASE
)
_NEGATION = re.compile(r"\b(?:not|n't|isn't|hardly|no|neither)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)


def answer_in_sentences(text: str, words: Mapping[str, str], nouns: str) -> str | None:
    """The answer that the sentences of a text give, if they give exactly one.

    Documents are meant by number, ordinal or letter ("document 2", "the second passage", "Document B").

    >>> words = {"1": "1", "2": "2", "tie": "tie", "bad-1": "bad-1", "bad-2": "bad-2"}
    >>> answer_in_sentences("The second passage is less relevant than the first.", words, "passage|document")
    '1'
    >>> answer_in_sentences("Document 1 is not more relevant.", words, "document") is None
    True
    """
    if "1" not in words:
        return _only_word(text, words)
    reference = _reference(nouns)
    votes: set[str] = set()
    bad: set[str] = set()
    for sentence in _SENTENCE.split(text):
        if _SAME.search(sentence):
            votes.add("tie")
        elif not _NOT_SURE.search(sentence):
            votes.update(_preferred(sentence, reference, words))
            bad.update(_irrelevant(sentence, reference))
    if not votes and len(bad) == 1:
        votes = {f"bad-{number}" for number in bad}
    answers = {words[vote] for vote in votes if vote in words}
    return answers.pop() if len(answers) == 1 == len(votes) else None


def _reference(nouns: str) -> str:
    """A pattern for one document, without groups."""
    ordinals = "|".join(word for word in ORDINALS if len(word) > 4 or word == "third")
    short = "|".join(word for word in ORDINALS if len(word) < 6)
    return (
        rf"(?:\b(?:{nouns})\s*(?:no\.?|number|#)?\s*\[?(?:\d+|{short})\b\]?"
        rf"|\b(?:the\s+)?(?:{ordinals})(?:\s+(?:{nouns}|one))?\b)"
    )


def _number(reference: str) -> str:
    """The number of the document that a text refers to."""
    digits = re.search(r"\d+", reference)
    if digits:
        return digits[0]
    ordinals = [ORDINALS[word] for word in re.findall(r"[a-z]+", reference.lower()) if word in ORDINALS]
    # "the second one" is document 2: "one" stands for the noun
    return ordinals[0] if ordinals else ""


def _preferred(sentence: str, reference: str, words: Mapping[str, str]) -> Iterator[str]:
    """The documents that a sentence prefers."""
    better = [
        rf"({reference})\s+(?:\w+\s+){{0,2}}?{_IS}\s+(?:\w+,?\s+){{0,4}}?{_BETTER}",
        rf"({reference})\s+(?:clearly\s+|definitely\s+)?wins\b",
        rf"\b(?:prefer|choose|select|pick|favou?r|go\s+with|rank)\s+(?:\w+\s+)?({reference})",
        rf"\b(?:better|best|winning|(?:more|most)\s+relevant)\s+(?:\w+\s+)?(?:is|would\s+be|:)\s*[*\"']*({reference})",
        rf"({reference})\s+(?:provides|offers|gives|contains|answers|addresses|covers|matches|has)\s"
        rf"(?:[\w,'-]+\s+){{0,8}}?(?:better|more\s+\w+(?:\s+\w+){{0,5}})\s+than\s+(?:\w+\s+)?{reference}",
    ]
    for pattern in better:
        for match in re.finditer(pattern, sentence, re.IGNORECASE):
            yield _number(match[1])
    worse = rf"({reference})\s+(?:\w+\s+){{0,2}}?{_IS}\s+(?:\w+,?\s+){{0,3}}?{_WORSE}"
    if "3" not in words:  # with more documents, the worse one does not say which is best
        for match in re.finditer(worse, sentence, re.IGNORECASE):
            yield {"1": "2", "2": "1"}.get(_number(match[1]), "")


def _irrelevant(sentence: str, reference: str) -> Iterator[str]:
    """The documents that a sentence calls irrelevant."""
    pattern = rf"({reference})\s+{_IS}\s+(?:\w+\s+){{0,2}}?(?:irrelevant|not\s+relevant|off-topic|unrelated)"
    for match in re.finditer(pattern, sentence, re.IGNORECASE):
        yield _number(match[1])


def _only_word(text: str, words: Mapping[str, str]) -> str | None:
    """The answer if exactly one of the words occurs, and not after a negation ("not good")."""
    answers: set[str] = set()
    for word, answer in words.items():
        for match in re.finditer(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text, re.IGNORECASE):
            if _NEGATION.search(text[max(0, match.start() - 40) : match.start()]):
                return None
            answers.add(answer)
    return answers.pop() if len(answers) == 1 else None
