"""Replies as models give them: each is understood as a reader would, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkit.labelling.judges.prompts import Prompt
from topkit.labelling.judges.replies import read_reply, stated_confidence
from topkit.labelling.judges.structured import answer_probability, read_completion
from topkit.labelling.question import BestOf, Question

PAIR = Prompt().allowed(Question("x", "y"))
GRADE = Prompt().allowed(Question("x"))
FIVE = Prompt().allowed(BestOf.among(list("vwxyz")))

UNDERSTOOD = [
    # the bare word, with the decoration that models like
    ("1", "1"),
    (" **2**\n", "2"),
    ("(1)", "1"),
    ("`tie`", "tie"),
    ("Tie.", "tie"),
    ("BAD-2", "bad-2"),
    ("Document 2", "2"),
    ("**Document 1**", "1"),
    ("1 (the first)", "1"),
    ("2, because it names the speed.", "2"),
    ("1 - it answers the question", "1"),
    ("2\n\nThe second document explains how fast jaguars run.", "2"),
    # reasoning before the answer
    ("<think>1 is short, 2 is long. Hmm, document 2 is better? No.</think>1", "1"),
    ("<think>\nfirst...\n</think>\n\nDocument 2 is more relevant.", "2"),
    ("the first is about cars, so</think>\n2", "2"),
    ("<reasoning>Both mention it.</reasoning>tie", "tie"),
    ("<|channel|>analysis<|message|>1 or 2?<|end|><|start|>assistant<|channel|>final<|message|>2", "2"),
    ("Document 1 is about cars. Document 2 is about the animal and its speed.\n\nFinal answer: 2", "2"),
    ("Let's think.\n1. Document 1 is about cars.\n2. Document 2 covers speed.\n\n**Answer:** 2", "2"),
    ("The first is brief; the second is detailed. Therefore \\boxed{2}", "2"),
    ("Both are fine, but [[1]]", "1"),
    ("<answer>bad-1</answer>", "bad-1"),
    ("My choice is document 1.", "1"),
    # sentences
    ("Document 1 is more relevant.", "1"),
    ("Document 1 is more relevant than Document 2, as it mentions top speed.", "1"),
    ("The second document is clearly more relevant to the query.", "2"),
    ("I would say that the first passage is better.", "1"),
    ("Document 2 is less relevant than Document 1.", "1"),
    ("The more relevant document is Document 2.", "2"),
    ("I prefer the second one because it is specific.", "2"),
    ("Document B is the most relevant.", "2"),
    ("Both documents are equally relevant.", "tie"),
    ("Neither document is more relevant than the other.", "tie"),
    ("Document 2 is completely irrelevant.", "bad-2"),
    ("Document 2 provides more detail about speed than Document 1.", "2"),
    # JSON
    ('{"answer": "1"}', "1"),
    ('{"answer": 2, "confidence": 0.9}', "2"),
    ('{"reasoning": "Document 1 is better than 2", "winner": "Document 1"}', "1"),
    ('{"Preference": "tie"}', "tie"),
    ('```json\n{"answer": "2"}\n```', "2"),
    ('Sure! Here it is:\n\n```\n{"answer": "bad-1"}\n```\nHope that helps.', "bad-1"),
    ('<think>{"answer": "1"}?</think>{"answer": "2"}', "2"),
    ('{"step": 1} then {"answer": "2"}', "2"),
    ('"1"', "1"),
]
NOT_UNDERSTOOD = [
    "",
    "   \n",
    "I'm sorry, but I can't help with that.",
    "I cannot determine which document is more relevant.",
    "<think>Document 1 is more relevant because",  # cut off
    "Document 1 is more relevant. Document 2 is more relevant.",
    "Document 1 is not more relevant.",
    "1. Document 1 is about cars.\n2. Document 2 is about animals.",
    "Both documents discuss jaguars.",
    '{"answer": "3"}',
    '{"answer": null}',
    '{"answer": true}',
    '{"thoughts": "Document 1"}',
    "If you want speed, document 1 is better.",
    "42",
    "<|channel|>analysis<|message|>1",
    "1\n...\n2",
    # SmolLM2-135M: repeats the choices, or talks about the task
    "1 (the first), 2 (the second), tie (about the same), bad-1 or bad-2 (that one is clearly irrelevant)",
    "The document that is more relevant to the query is the one that is more specific and detailed.",
]


@pytest.mark.parametrize(("reply", "answer"), UNDERSTOOD)
def test_replies_about_pairs_are_understood(reply: str, answer: str) -> None:
    assert read_reply(reply, PAIR) == answer


@pytest.mark.parametrize("reply", NOT_UNDERSTOOD)
def test_replies_without_an_answer_are_none(reply: str) -> None:
    assert read_reply(reply, PAIR) is None


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Excellent.", "excellent"),
        ("Grade: fair", "fair"),
        ('{"grade": "perfect"}', "perfect"),
        ("The document is a good match for the query.", "good"),
        ("<think>perfect? no, it lacks numbers</think>good", "good"),
        ("This is not good.", None),
        ("It is somewhere between fair and good.", None),
        ("hm", None),
    ],
)
def test_grades(reply: str, answer: str | None) -> None:
    assert read_reply(reply, GRADE) == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("4", "4"),
        ("Document 5 is the most relevant.", "5"),
        ("The third passage is the best.", "3"),
        ('{"best": 2}', "2"),
        ("6", None),
        ("Document 1 is less relevant than Document 2.", None),  # says nothing about the other three
    ],
)
def test_best_of_five(reply: str, answer: str | None) -> None:
    assert read_reply(reply, FIVE) == answer


def test_words_of_another_language() -> None:
    words = Prompt(words={"gleich": "tie", "das erste": "1"}).allowed(Question("x", "y"))
    assert read_reply("Gleich.", words) == "tie"
    assert read_reply("Das erste", words) == "1"
    assert read_reply("Dokument 1 ist kurz.\nAntwort: gleich", words) == "tie"
    assert read_reply("答案：2", words) == "2"


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error(reply: str) -> None:
    assert read_reply(reply, PAIR) in {*PAIR.values(), None}


@given(st.text(alphabet="{}[]<>think/\"'1 2:aeiou\n", max_size=400))
def test_fragments_of_markup_are_read_without_an_error(reply: str) -> None:
    assert read_reply(reply, PAIR) in {*PAIR.values(), None}


def test_confidence_is_stated_or_by_log_probabilities() -> None:
    assert stated_confidence('{"answer": "1", "confidence": 0.8}') == 0.8
    assert stated_confidence('{"answer": "1", "confidence": "high"}') is None
    assert stated_confidence("1") is None
    # P(1) = 0.6, P(2) = 0.2, the rest is no answer: 0.6/(0.6 + 0.2) = 0.75
    tops = [
        {"token": "1", "logprob": -0.5108},
        {"token": "2", "logprob": -1.6094},
        {"token": "x", "logprob": -2.3},
    ]
    content = [{"token": "Answer", "logprob": -0.1}, {"token": "1", "logprob": -0.5108, "top_logprobs": tops}]
    assert answer_probability(content, ["1", "2", "tie"]) == pytest.approx(0.75, abs=1e-4)
    assert answer_probability([], ["1", "2"]) is None


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"message": 3}]}'])
def test_bodies_that_are_no_completion(body: bytes) -> None:
    with pytest.raises(ValueError, match="not a chat completion"):
        read_completion(body, ["1"])
