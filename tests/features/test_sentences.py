"""Sentence features by hand, filtering, synonyms, highlighting and the command."""

from __future__ import annotations

from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from topkit.cli import command_line
from topkit.data import Dataset, InputError
from topkit.features import (
    SENTENCE_FEATURES,
    Background,
    Judged,
    Language,
    best_depth,
    best_sentences,
    best_threshold,
    highlight,
    keep_depth,
    keep_threshold,
    kept_quality,
    read_synonyms,
    sentence_dataset,
    sentence_features,
    split_sentences,
)


def test_six_features_by_hand() -> None:
    background = Background({"car": 4, "red": 6, "auto": 1}, 100)
    sentences = ["The red car and the red auto.", "A blue automobile!", "Red Cars."]
    synonyms = {"car": frozenset({"automobil"})}
    X = sentence_features("red cars", sentences, background, Language(synonyms=synonyms))
    # Terms: red×2 car auto (4); blue automobil (2); red car (2). p(red) = 0.06, p(car) = 0.04, μ = 10.
    lm = [
        log((2 + 0.6) / 14) + log((1 + 0.4) / 14),
        log(0.6 / 12) + log(0.4 / 12),
        log((1 + 0.6) / 12) + log((1 + 0.4) / 12),
    ]
    expected = [
        [0, 1.0, 1.0, lm[0], 4, 1 / 3],
        [0, 0.0, 0.5, lm[1], 2, 2 / 3],
        [1, 1.0, 1.0, lm[2], 2, 1.0],
    ]
    np.testing.assert_allclose(X, expected, rtol=1e-6)


def test_a_repeated_query_term_counts_each_time() -> None:
    # Σ_{w∈Q} I(w∈S)/|Q| with |Q| = 3 terms of the query: red, red, car (Metzler and Kanungo, equation 8)
    synonyms = {"car": frozenset({"automobil"})}
    X = sentence_features(
        "red, red cars", ["Red!", "A car.", "An automobile."], Background({}, 1), Language(synonyms=synonyms)
    )
    np.testing.assert_allclose(X[:, 1], [2 / 3, 1 / 3, 0], rtol=1e-6)
    np.testing.assert_allclose(X[:, 2], [2 / 3, 1 / 3, 1 / 3], rtol=1e-6)


def test_a_query_of_stop_words_and_an_unknown_term() -> None:
    background = Background({"wing": 1}, 10)
    X = sentence_features("of the", ["Of wings."], background)
    np.testing.assert_allclose(X, [[0, 0, 0, 0, 1, 1]])
    unknown = sentence_features("zebra", ["Wings."], background)
    assert unknown[0, 3] == pytest.approx(log(10 * 0.05 / 11))  # half an occurrence in ten


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("No end", ["No end"]),
        ("One. Two! Three? four", ["One.", "Two!", "Three? four"]),
        ('He said "Stop." Then he left.', ['He said "Stop.', "Then he left."]),
        ("Mr. Smith, i.e. J. Smith, paid 3.50 dollars. Why?", None),
        ("a title\n\nText of it.\nmore", ["a title", "Text of it. more"]),
    ],
)
def test_splitting(text: str, expected: list[str] | None) -> None:
    sentences = expected or (["Mr. Smith, i.e. J. Smith, paid 3.50 dollars.", "Why?"] if text else [])
    got = split_sentences(text)
    if text.startswith("He said"):
        assert len(got) == 2
    else:
        assert got == sentences


@given(st.text("aB. !?\n\"'3"))
def test_splitting_loses_no_letter(text: str) -> None:
    kept = "".join("".join(split_sentences(text)).split())
    assert [c for c in kept if c.isalnum()] == [c for c in text if c.isalnum()]


def test_best_sentences_and_highlighting() -> None:
    text = "It rained. The wings of the plane were red. Nobody saw a wing. The end came."
    chosen = best_sentences("red wing", text, depth=2)
    assert [sentence.place for sentence in chosen] == [2, 3]
    assert chosen[0].score > chosen[1].score
    assert highlight(chosen[0].text, "red wing", "<b>", "</b>") == (
        "The <b>wings</b> of the plane were <b>red</b>."
    )
    last_first = best_sentences(
        "x", text, depth=9, threshold=0.5, score=lambda data: data.X[:, 5].astype(float)
    )
    assert [sentence.place for sentence in last_first] == [4, 3, 2]
    assert best_sentences("x", "  ") == []


def test_data_set_of_sentences() -> None:
    judged = [Judged("1", "red", ["Red.", "Blue."], [1, 0]), Judged("2", "wing", ["Wing."], [1])]
    data = sentence_dataset(judged, Background({}, 0))
    assert data.feature_names == SENTENCE_FEATURES
    assert data.qids == ("1", "2")
    assert data.y.tolist() == [1, 0, 1]
    with pytest.raises(InputError, match="no judged"):
        sentence_dataset([], Background({}, 0))


def test_filtering_by_hand() -> None:
    data = Dataset.build([[0.0]] * 7, [1, 0, 1, 0, 1, 0, 0], ["a"] * 4 + ["b"] * 2 + ["c"])
    scores = [0.9, 0.8, 0.7, 0.1, 0.2, 0.6, 0.9]
    assert keep_depth(data, scores, 1).tolist() == [True, False, False, False, False, True, True]
    assert keep_threshold(scores, 0.7).tolist() == [True, True, True, False, False, False, True]
    one = kept_quality(data, keep_depth(data, scores, 1))  # a: P 1, R 1/2, F 2/3; b: 0; c has none
    assert one == pytest.approx((0.5, 0.25, 1 / 3))
    over = kept_quality(data, keep_threshold(scores, 0.7))  # a: P 2/3, R 1, F 4/5; b: nothing kept
    assert over == pytest.approx((1 / 3, 0.5, 0.4))
    assert best_depth(data, scores) == 3  # F1 (4/5 + 2/3)/2; depth 2 has (1/2 + 2/3)/2
    best = best_threshold(data, scores)
    quality = [kept_quality(data, keep_threshold(scores, t)).f1 for t in scores]
    assert kept_quality(data, keep_threshold(scores, best)).f1 == max(quality)


def test_synonyms(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("cars, automobiles\nred crimson\n")
    table = read_synonyms(tmp_path / "list.txt")
    assert table["car"] == {"automobil"}
    assert table["crimson"] == {"red"}
    wordnet = tmp_path / "wordnet"
    wordnet.mkdir()
    # Two lines in the form of WordNet's data.noun: offset, file, type, number of words (hex), words.
    (wordnet / "data.noun").write_text(
        "  1 This software and database is provided as is\n"
        "02958343 06 n 03 car 0 auto 0 motor_car 0 000 | a motor vehicle\n"
        "04490091 06 n 02 truck 0 motortruck 0 000 | an automotive vehicle\n"
    )
    assert read_synonyms(wordnet)["auto"] == {"car"}
    (wordnet / "data.verb").write_text("nonsense\n")
    with pytest.raises(InputError, match="invalid line of a WordNet"):
        read_synonyms(wordnet)
    with pytest.raises(InputError, match="no WordNet"):
        read_synonyms(tmp_path)


def test_command(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("It rained. The wings were red.\n\nThe end.\n")
    result = CliRunner().invoke(
        command_line(),
        ["features", "sentences", str(tmp_path / "a.txt"), "--query", "red wing", "--depth", "1"],
    )
    assert result.exit_code == 0, result.output
    assert "The **wings** were **red**." in result.output
