"""TREC runs and judgments, and preference files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import topkit as tk
from topkit.data import Grade, InputError, Judgments, Preference, Run

RUN = b"""# a comment
q1 Q0 d#1 7 0.25 sys trailing words
q1\tQ0\td2 8 1e2   sys

q2 Q0 d#1 1 -3.5 sys
q1 Q0 d3 9 0.25 sys
"""


@pytest.fixture(params=[True, False], ids=["compiled", "plain"])
def compiled(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_a_run_keeps_its_order_and_gathers_its_queries(tmp_path: Path, compiled: bool) -> None:
    path = tmp_path / "sys.gz"
    path.write_bytes(gzip.compress(RUN))
    run = tk.read_run(path, compiled=compiled)
    assert run.name == "sys"
    assert run.qids == ("q1", "q2")
    assert run["q1"] == [("d#1", 0.25), ("d2", 100.0), ("d3", 0.25)]
    assert run["q2"] == [("d#1", -3.5)]


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"q1 Q0 d1 1 0.5\n", 1, "expected 6 fields, got 5"),
        (b"q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 high t\n", 2, "score 'high'"),
        (b"q1 Q0 d1 1 nan t\n", 1, "score 'nan'"),
        (b"q1 Q0 d1 1 1e999 t\n", 1, "score '1e999'"),
        (b"q1 Q0 d1 1 1 t\nq2 Q0 d1 1 1 t\n\nq1 Q0 d1 2 0 t\n", 4, "document 'd1' is given twice"),
    ],
)
def test_a_bad_run_is_named(tmp_path: Path, content: bytes, line: int, words: str, compiled: bool) -> None:
    path = tmp_path / "bad.run"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as caught:
        tk.read_run(path, compiled=compiled)
    assert (caught.value.file, caught.value.line) == (str(path), line)
    assert caught.value.remedy


def test_an_empty_run_is_named(tmp_path: Path, compiled: bool) -> None:
    (tmp_path / "empty").write_bytes(b"\n# nothing\n")
    with pytest.raises(InputError, match="no results"):
        tk.read_run(tmp_path / "empty", compiled=compiled)


word = st.text(
    st.characters(blacklist_categories=["Cs", "Cc", "Z"], blacklist_characters="#\x00"), min_size=1
)
scores = st.floats(allow_nan=False, allow_infinity=False)
runs = st.dictionaries(word, st.dictionaries(word, scores, min_size=1), min_size=1).map(
    lambda table: Run.of({query: list(docs.items()) for query, docs in table.items()})
)


@given(runs)
def test_runs_survive_a_round_trip(tmp_path_factory: pytest.TempPathFactory, run: Run) -> None:
    path = tmp_path_factory.getbasetemp() / "trip.run"
    tk.write_run(run, path)
    assert tk.read_run(path) == run
    assert tk.read_run(path, compiled=False) == run


def test_qrels(tmp_path: Path) -> None:
    path = tmp_path / "q"
    path.write_bytes(b"# judged\n31_1 Q0 CAR#1 2.0\n31_1 Q0 M2 -1\n\n31_2\t0\tM2\t1\n")
    judged = tk.read_qrels(path)
    assert judged.grades == (Grade("31_1", "CAR#1", 2.0), Grade("31_1", "M2", -1.0), Grade("31_2", "M2", 1.0))
    tk.write_qrels(judged, tmp_path / "again")
    assert tk.read_qrels(tmp_path / "again") == judged


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"1 0 d1 1\n1 0 d2\n", 2, "expected 4 fields, got 3"),
        (b"1 0 d1 good\n", 1, "grade 'good'"),
        (b"1 0 d1 nan\n", 1, "grade 'nan'"),
        (b"1 0 d1 1_0\n", 1, "grade '1_0'"),
        (b"1 0 d1 --1\n", 1, "grade '--1'"),
        (b"1 0 d1 1\n2 0 d1 1\n1 0 d1 0\n", 3, "judged twice"),
    ],
)
def test_bad_qrels_are_named(tmp_path: Path, content: bytes, line: int, words: str) -> None:
    path = tmp_path / "q"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as caught:
        tk.read_qrels(path)
    assert caught.value.line == line


def test_preferences(tmp_path: Path) -> None:
    path = tmp_path / "p"
    path.write_bytes(b"t1 A B B\nt1 A C tie ann 4.5\nt2 X Y X bob\n")
    judged = tk.read_preferences(path)
    assert [p[:5] for p in judged.preferences] == [
        ("t1", "A", "B", "b", ""),
        ("t1", "A", "C", "tie", "ann"),
        ("t2", "X", "Y", "a", "bob"),
    ]
    assert judged.preferences[1].seconds == 4.5
    assert [p.winner for p in judged.preferences] == ["B", None, "X"]
    tk.write_preferences(judged, tmp_path / "again")
    assert [p[:5] for p in tk.read_preferences(tmp_path / "again").preferences] == [
        p[:5] for p in judged.preferences
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"t A B C\n", "expected the winner 'A', 'B' or 'tie', got 'C'"),
        (b"t A A A\n", "itself"),
        (b"t A B\n", "expected 4 to 6 fields, got 3"),
        (b"", "no preferences"),
        (b"t A B A ann fast\n", "seconds 'fast'"),
    ],
)
def test_bad_preferences_are_named(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "p").write_bytes(content)
    with pytest.raises(InputError, match=words):
        tk.read_preferences(tmp_path / "p")


def test_bad_marks_are_wins_of_the_other() -> None:
    assert Preference("q", "d1", "d2", "bad-a").winner == "d2"
    assert Preference("q", "d1", "d2", "bad-b").winner == "d1"


def test_judgments_add_up() -> None:
    one = Judgments(grades=(Grade("q1", "d", 1), Grade("q1", "d", 2)))
    both = one + Judgments(preferences=(Preference("q2", "a", "b", "a"),))
    assert both.queries == ("q1", "q2")
    assert both.grades_by_query() == {"q1": {"d": 2}}
    assert list(both.preferences_by_query()) == ["q2"]


@pytest.mark.real_data
def test_real_files_have_the_sizes_their_owners_say(real_data: Path) -> None:
    crowd = tk.read_preferences(real_data / "cast2019-prefs/TREC-CAsT-2019.pref")
    assert len(crowd.preferences) == 14_573
    runs = sorted((real_data / "trec3/runs").glob("*.gz"))
    assert len(runs) == 40
    for path in runs[::8]:
        run = tk.read_run(path)
        assert run == tk.read_run(path, compiled=False)
        assert len(run) == 50


def test_preferences_that_could_not_be_read_back_are_not_written(tmp_path: Path) -> None:
    judged = Judgments(preferences=(Preference("q", "d1", "d2", "a", "two words", 3.0),))
    with pytest.raises(InputError, match="two words"):
        tk.write_preferences(judged, tmp_path / "p.txt")
    assert list(tmp_path.iterdir()) == []
