"""Reading a model's reply: which of the allowed answers it gives, or None if it gives none or several."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from topkit.labelling.judges.sentences import answer_in_sentences

LONGEST = 20_000
"""Only the last characters of a reply are searched for sentences: the answer is at the end of a long one."""
OBJECTS = 20
"""The maximum number of opening braces at which a JSON object is tried, so that reading stays fast."""

REASONING = "think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad"
_CLOSED = re.compile(rf"<({REASONING})>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN = re.compile(rf"<({REASONING})>", re.IGNORECASE)
_CLOSE = re.compile(rf"</({REASONING})>", re.IGNORECASE)
_CHANNEL = re.compile(r"<\|channel\|>final<\|message\|>")
_ANY_CHANNEL = re.compile(r"<\|channel\|>")
_CONTROL = re.compile(r"<\|[a-z_]+\|>")

ANSWER_KEYS = (
    "answer",
    "final_answer",
    "choice",
    "preference",
    "preferred",
    "preferred_document",
    "winner",
    "better",
    "better_document",
    "best",
    "best_document",
    "more_relevant",
    "most_relevant",
    "verdict",
    "judgment",
    "judgement",
    "decision",
    "label",
    "grade",
    "relevance",
    "rating",
    "result",
)
"""Names of the field that holds the answer in a JSON object, in order of preference."""
NOUNS = "document|doc|passage|text|result|article|option|candidate|response|item"
"""What models call the things they compare."""
_MARK = re.compile(
    rf"(?:\b(?:final\s+)?(?:answer|verdict|choice|decision|preference|judge?ment|grade|rating|label|winner)\b"
    rf"(?:\s+(?:is|would\s+be))?\s*[:=→]?\s*|\\boxed\s*\{{|<answer>|\[\[)"
    rf"[\s\"'*_`(\[{{]*(?:the\s+)?(?:(?:{NOUNS})\s*#?\s*)?(?P<word>[^\s\"'*_`()\[\]{{}}<>.,;:!]+)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(rf"(?:the\s+)?(?:(?:{NOUNS})\s*#?\s*)(\S+)", re.IGNORECASE)
_LEADING = re.compile(r"[\s\"'*_`(\[#]*([\w-]+)[\"'*_`)\]]*\s*(?:[(:,;—–]|-\s|because\b|since\b|as\b)")
_EDGES = " \t\r\n\"'*_`()[]{}#<>.,;:!\\"
_COLON = re.compile(r"[:：](?![^{]*\})")
_LIST = re.compile(r"^\s*2[.)]\s", re.MULTILINE)


def read_reply(reply: str, words: Mapping[str, str]) -> str | None:
    """The answer of a reply; ``words`` maps every allowed word, in lower case, to its answer.

    It understands the bare word, an answer after reasoning (``<think>…</think>1``), sentences ("Document 1 is
    more relevant."), marked answers ("Final answer: 2", ``\\boxed{2}``, ``[[2]]``), JSON and fenced JSON. A
    reply that gives no answer, or contradicts itself, is None.

    >>> words = {"1": "1", "2": "2", "tie": "tie"}
    >>> read_reply("<think>The second one lists speeds.</think> Document 2 is more relevant.", words)
    '2'
    >>> read_reply('Sure! ```json\\n{"answer": 1}\\n```', words), read_reply("I cannot judge this.", words)
    ('1', None)
    """
    text = without_reasoning(reply)
    if text is None or not text.strip():
        return None
    fields = [record for record in json_objects(text) if _answer_key(record)]
    if fields:
        return _from_value(fields[-1][_answer_key(fields[-1]) or ""], words)
    text = "\n".join(line for line in text.splitlines() if not _repeats_choices(line, words))
    return (
        _word(text, words)
        or _marked(text, words)
        or _edge_line(text, words)
        or answer_in_sentences(text[-LONGEST:], words, NOUNS)
    )


def without_reasoning(reply: str) -> str | None:
    """The reply without its reasoning; None if the reasoning was cut off before the answer.

    >>> without_reasoning("<think>hm</think>1"), without_reasoning("hm, so</think>1")
    ('1', '1')
    >>> without_reasoning("<think>The first") is None
    True
    """
    if _ANY_CHANNEL.search(reply):  # the format of gpt-oss
        final = list(_CHANNEL.finditer(reply))
        return _CONTROL.sub("", reply[final[-1].end() :]) if final else None
    text = _CLOSED.sub("", reply)
    closes = list(_CLOSE.finditer(text))  # some servers remove the opening tag
    if closes:
        text = text[closes[-1].end() :]
    return None if _OPEN.search(text) else _CONTROL.sub("", text)


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text that are not inside one another, in order."""
    decoder = json.JSONDecoder()
    position = 0
    for _ in range(OBJECTS):
        position = text.find("{", position)
        if position < 0:
            return
        try:
            record, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position += 1
            continue
        if isinstance(record, dict):
            yield record


def stated_confidence(reply: str) -> float | None:
    """The confidence that a JSON reply states, from 0 to 1 (percentages are converted); None if none.

    >>> stated_confidence('{"answer": "1", "confidence": 85}')
    0.85
    """
    text = without_reasoning(reply) or ""
    stated = [record["confidence"] for record in json_objects(text) if "confidence" in record]
    if not stated or isinstance(stated[-1], bool) or not isinstance(stated[-1], int | float):
        return None
    value = stated[-1] / 100 if 1 < stated[-1] <= 100 else float(stated[-1])
    return value if 0 <= value <= 1 else None


def _answer_key(record: Mapping[str, Any]) -> str | None:
    names = {name.lower().replace(" ", "_").replace("-", "_"): name for name in record}
    return next((names[key] for key in ANSWER_KEYS if key in names), None)


def _from_value(value: object, words: Mapping[str, str]) -> str | None:
    """The answer in a value of a JSON object: a word, a number, or a short text."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value)
    return _word(text, words) or _marked(text, words) or answer_in_sentences(text[-LONGEST:], words, NOUNS)


def _word(text: str, words: Mapping[str, str]) -> str | None:
    """The answer if the whole text is one of the words, perhaps as "Document 1" and with punctuation."""
    bare = text.strip(_EDGES).lower()
    if bare in words:
        return words[bare]
    numbered = _NUMBERED.fullmatch(bare)
    return words.get(numbered[1].strip(_EDGES)) if numbered else None


def _marked(text: str, words: Mapping[str, str]) -> str | None:
    """The last answer that is marked as one: "Answer: 1", ``\\boxed{1}``, ``[[1]]``."""
    marked = [words.get(match["word"].strip(_EDGES).lower()) for match in _MARK.finditer(text)]
    known = [answer for answer in marked if answer is not None]
    return known[-1] if known else None


def _edge_line(text: str, words: Mapping[str, str]) -> str | None:
    """The answer on the first or the last line, alone or before an explanation; both must not disagree."""
    lines = [line for line in text.splitlines() if line.strip(_EDGES)]
    if not lines:
        return None
    ends = [_word(lines[0], words), _word(lines[-1], words)]
    if ends[1] is None and _COLON.search(lines[-1]):  # "Antwort: 1", whatever the language
        ends[1] = _word(_COLON.split(lines[-1])[-1], words)
    if ends[0] is None and not _LIST.search(text):  # "1. … 2. …" lists both documents
        start = _LEADING.match(lines[0])
        ends[0] = words.get(start[1].lower()) if start else None
    return single(answer for answer in ends if answer is not None)


def _repeats_choices(line: str, words: Mapping[str, str]) -> bool:
    """Whether a line repeats the choices instead of choosing: it names all of them, or all but one."""
    tokens = {token.lower() for token in re.findall(r"[\w-]+", line)}
    named = {answer for word, answer in words.items() if word in tokens}
    return len(named) >= max(3, len(set(words.values())) - 1)


def single(answers: Iterable[str]) -> str | None:
    """The only answer among several that may repeat it; None if there is none or they differ."""
    different = set(answers)
    return different.pop() if len(different) == 1 else None
