"""The formats of the field: BEIR, MS MARCO, SMART, preferences in tables, LightGBM's group files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import topkit as tk
from topkit import Dataset, InputError, Judgments
from topkit.data.formats import read_dataset
from topkit.data.looks import look_of_line


def write(folder: Path, text: str, name: str = "file") -> Path:
    (folder / name).write_text(text)
    return folder / name


# -- judgments ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "grades"),
    [
        ("query-id\tcorpus-id\tscore\n1\t31715818\t1\n1\t502797\t0\n", {"1": {"31715818": 1, "502797": 0}}),
        ("# BEIR\n\nquery-id\tcorpus-id\tscore\n1\td\t2\n", {"1": {"d": 2}}),
        ("1185869\t0\n1185868\t16\n", {"1185869": {"0": 1}, "1185868": {"16": 1}}),
        ("300674\t0\t7067032\t1\n", {"300674": {"7067032": 1}}),
        ("     1     28\t0\t0.000000\n     1     35\t0\t0.000000\n", {"1": {"28": 1, "35": 1}}),
    ],
)
def test_judgments_of_beir_msmarco_and_smart_are_recognised(
    tmp_path: Path, text: str, grades: dict[str, dict[str, float]]
) -> None:
    assert tk.read_qrels(write(tmp_path, text)).grades_by_query() == grades


def test_three_columns_must_be_named_because_cranfield_counts_the_other_way(tmp_path: Path) -> None:
    path = write(tmp_path, "1 d1 1\n1 d2 4\n")
    with pytest.raises(InputError, match=r"name the format plain.*name the format cranfield"):
        tk.read_qrels(path)
    assert tk.read_qrels(path, "plain").grades_by_query() == {"1": {"d1": 1, "d2": 4}}
    assert tk.read_qrels(path, "cranfield").grades_by_query() == {"1": {"d1": 4, "d2": 1}}
    with pytest.raises(InputError, match="unknown format of judgments 'plane'; did you mean 'plain'"):
        tk.read_qrels(path, "plane")


def test_an_error_after_the_header_has_the_line_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "query-id\tcorpus-id\tscore\n1\td\t1\n1\td\tgood\n")
    with pytest.raises(InputError, match="the grade 'good' is not a number") as caught:
        tk.read_qrels(path)
    assert caught.value.line == 3


# -- runs --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("compiled", [True, False])
def test_runs_of_msmarco_have_minus_rank_as_score(tmp_path: Path, compiled: bool) -> None:
    path = write(tmp_path, "1048585\t7187158\t1\n1048585\t7187157\t2\n2\t7\t1\n1048585\t9\t3\n")
    run = tk.read_run(path, compiled=compiled)
    assert run["1048585"] == [("7187158", -1.0), ("7187157", -2.0), ("9", -3.0)]
    assert run["2"] == [("7", -1.0)]
    with pytest.raises(InputError, match=r"file:2: expected a rank, a whole number, got '0\.7'"):
        tk.read_run(write(tmp_path, "1 d1 1\n1 d2 0.7\n"), compiled=compiled)


def test_a_run_of_msmarco_is_evaluated_like_its_trec_form(tmp_path: Path) -> None:
    three = tk.read_run(write(tmp_path, "1 a 1\n1 b 2\n1 c 3\n", "three"))
    six = tk.read_run(write(tmp_path, "1 Q0 a 1 9 t\n1 Q0 b 2 8 t\n1 Q0 c 3 7 t\n", "six"))
    grades = {"1": {"b": 1}}
    assert (
        tk.evaluate_run(grades, three, ["rr"]).mean["rr"] == tk.evaluate_run(grades, six, ["rr"]).mean["rr"]
    )
    assert tk.evaluate_run(grades, three, ["rr"]).mean["rr"] == 0.5


# -- what a file looks like ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "read", "words"),
    [
        (
            "1 Q0 d 1 0.5 t\n",
            tk.read_qrels,
            r"got 6.*looks like a TREC run: use tk\.read_run",
        ),
        (
            "1 0 d 1\n",
            tk.read_run,
            r"got 4.*looks like TREC judgments: use tk\.read_qrels",
        ),
        ("2 qid:1 1:0.5 2:1 3:4\n", tk.read_run, r"looks like LETOR text: use tk\.read_letor"),
        ("31_1 A B B\n", tk.read_qrels, r"looks like preferences: use tk\.read_preferences or --preferences"),
        ("query,a,b,winner\nq,x,y,x\n", tk.read_qrels, "looks like a table of preferences"),
        ("1 0 d 1\n", tk.read_preferences, r"got '1'.*looks like TREC judgments"),
        ('{"_id": "1", "text": "x"}\n', tk.read_qrels, "looks like JSON Lines of documents or queries"),
        ("0 1:0.5 2:3\n", tk.read_letor, r"expected 'qid:ID'.*without query ids: use tk\.read_lightgbm"),
        ("qid,label,x\n1,0,2\n", tk.read_letor, r"looks like CSV: use tk\.read_csv"),
        ("PAR1\0\0", tk.read_letor, r"binary.*looks like Parquet: use tk\.read_parquet"),
        (".I 1\n.T\nwing\n", tk.read_run, "looks like a SMART collection"),
        ("<top>\n<num> Number: 301\n", tk.read_run, r"looks like TREC topics: use tk\.read_queries"),
    ],
)
def test_errors_name_what_the_file_looks_like(tmp_path: Path, text: str, read: object, words: str) -> None:
    assert callable(read)
    with pytest.raises(InputError, match=words):
        read(write(tmp_path, text))


def test_an_error_within_the_expected_format_stays_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        tk.read_qrels(write(tmp_path, "1 0 d1 1\n1 0 d1 0\n"))
    assert "looks like" not in str(caught.value)


def test_looks() -> None:
    assert look_of_line("0.25") == "scores"
    assert look_of_line("q d 3") == "three"
    assert look_of_line("1048585\twhat is paula deen's brother") == "tab-text"
    assert look_of_line('{"query": "q", "a": "x", "b": "y", "answer": "a"}') == "preferences"
    assert look_of_line("some words of a text without any form") is None


# -- preferences -------------------------------------------------------------------------------------------
EXPECTED = [("q", "x", "y", "b"), ("q", "x", "z", "tie"), ("r", "v", "w", "a")]
PREFERENCES = {
    "text": "q x y y\nq x z tie\nr v w v\n",
    "winner ids": "query,a,b,winner\nq,x,y,y\nq,x,z,tie\nr,v,w,v\n",
    "positions": "topic;doc_a;doc_b;answer\nq;x;y;b\nq;x;z;same\nr;v;w;A\n",
    "sides": "qid\tleft\tright\tpreference\nq\tx\ty\tright\nq\tx\tz\t\nr\tv\tw\tleft\n",
    "JSON Lines": (
        '{"query": "q", "a": "x", "b": "y", "winner": "y"}\n'
        '{"query": "q", "a": "x", "b": "z", "winner": null}\n'
        '{"a": "v", "b": "w", "winner": "v", "query": "r"}\n'
    ),
}


@pytest.mark.parametrize("form", list(PREFERENCES))
def test_preferences_are_read_as_people_have_them(tmp_path: Path, form: str) -> None:
    judged = tk.read_preferences(write(tmp_path, PREFERENCES[form]))
    assert [preference[:4] for preference in judged.preferences] == EXPECTED


def test_winners_and_losers_with_assessors_and_seconds(tmp_path: Path) -> None:
    text = "prompt,chosen,rejected,worker,seconds\nq,y,x,ann,3.5\nq,z,x,bob,\n"
    first, second = tk.read_preferences(write(tmp_path, text)).preferences
    assert first[:6] == ("q", "y", "x", "a", "ann", 3.5)
    assert second[:5] == ("q", "z", "x", "a", "bob")
    assert np.isnan(second.seconds)


def test_an_id_that_is_also_a_word_is_an_id_in_a_column_of_winners(tmp_path: Path) -> None:
    by_id = tk.read_preferences(write(tmp_path, "query,a,b,winner\nq,b,a,b\n"))
    assert by_id.preferences[0].answer == "a"
    by_place = tk.read_preferences(write(tmp_path, "query,a,b,answer\nq,b,a,b\n"))
    assert by_place.preferences[0].answer == "b"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("query,a,b,winner\nq,x,y,z\n", "file:2: expected the winner 'x', 'y' or 'tie', got 'z'"),
        ("query,a,b,winner\nq,x,x,x\n", "file:2: document 'x' is compared with itself"),
        ("query,a,b,winner\nq,x,,x\n", "file:2: the query or a document is empty"),
        ("query,a,b,winner,seconds\nq,x,y,x,fast\n", "file:2: invalid number of seconds 'fast'"),
        ("query,a,b,winner\nq,x,y\n", "file:2: expected 4 columns, got 3"),
        (
            '{"query": "q", "a": "x", "winner": "x"}\n',
            "file:1: expected columns of preferences, got",
        ),
    ],
)
def test_invalid_preferences_are_errors_with_the_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        tk.read_preferences(write(tmp_path, text))


def test_frames_of_winner_ids_are_preferences() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"topic": [7, 7], "left": ["x", "x"], "right": ["y", "z"], "winner": ["y", None]})
    judged = Judgments.from_frame(frame)
    assert [preference[:4] for preference in judged.preferences] == [
        ("7", "x", "y", "b"),
        ("7", "x", "z", "tie"),
    ]
    with pytest.raises(InputError, match="row 1: expected the winner 'x', 'y' or 'tie', got 'w'"):
        Judgments.from_frame(pd.DataFrame({"qid": ["q"], "a": ["x"], "b": ["y"], "winner": ["w"]}))


# -- LightGBM's group files --------------------------------------------------------------------------------
def test_group_files_give_the_queries(tmp_path: Path) -> None:
    path = write(tmp_path, "1 1:0.5 3:2\n0 2:1\n# comment\n2 1:7\n", "rank.train")
    write(tmp_path, "2\n1\n", "rank.train.query")
    data = tk.read_lightgbm(path)
    assert data.qids == ("1", "2")
    assert data.ptr.tolist() == [0, 2, 3]
    np.testing.assert_array_equal(data.X, [[0.5, 0, 2], [0, 1, 0], [7, 0, 0]])
    assert read_dataset(path) == data
    (tmp_path / "rank.train.query").rename(tmp_path / "sizes")
    assert tk.read_lightgbm(path, tmp_path / "sizes") == data
    with pytest.raises(InputError, match=r"expected .*rank\.train\.query beside it"):
        tk.read_lightgbm(path)


def test_features_that_count_from_0_are_shifted(tmp_path: Path) -> None:
    path = write(tmp_path, "1 1:0.5\n0 0:4 1:1\n", "data")
    data = tk.read_lightgbm(path, write(tmp_path, "2\n", "sizes"))
    np.testing.assert_array_equal(data.X, [[0, 0.5], [4, 1]])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("1,0.5,2\n0,1,\n2,3,4\n", None),
        ("1\t0.5\t2\n0\t1\t\n2\t3\t4\n", None),
        ("y,bm25,len\n1,0.5,2\n0,1,\n2,3,4\n", ("bm25", "len")),
    ],
)
def test_tables_have_the_label_first(tmp_path: Path, text: str, names: tuple[str, ...] | None) -> None:
    data = tk.read_lightgbm(write(tmp_path, text), write(tmp_path, "1\n2\n", "sizes"))
    assert data.feature_names == names
    assert data.y.tolist() == [1, 0, 2]
    assert data.ptr.tolist() == [0, 1, 3]
    np.testing.assert_array_equal(data.X, np.array([[0.5, 2], [1, np.nan], [3, 4]], np.float32))


def test_files_that_do_not_belong_together_are_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, "1 1:0.5\n0 1:1\n")
    with pytest.raises(InputError, match="the file has 2 documents, the group file 3"):
        tk.read_lightgbm(path, write(tmp_path, "1\n2\n", "sizes"))
    with pytest.raises(InputError, match=r"sizes:2: invalid number of documents '1\.5'"):
        tk.read_lightgbm(path, write(tmp_path, "1\n1.5\n", "sizes"))


def test_lightgbm_reads_what_is_written(tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    data = Dataset.build(
        [[0.5, 0.0], [2.0, 1.0], [3.0, 4.0]], [1, 0, 2], ["a", "a", "b"], doc_ids=["x", "y", "z"]
    )
    tk.write_lightgbm(data, tmp_path / "train.svm")
    read = lightgbm.Dataset(str(tmp_path / "train.svm"), params={"verbose": -1}).construct()
    assert read.get_label().tolist() == [1, 0, 2]
    assert read.get_group().tolist() == [2, 1]
    again = tk.read_lightgbm(tmp_path / "train.svm")
    np.testing.assert_array_equal(again.X, data.X)
    np.testing.assert_array_equal(again.ptr, data.ptr)


# -- values print briefly ------------------------------------------------------------------------------------
def test_values_print_on_one_line() -> None:
    judged = Judgments.of({f"q{i}": {f"d{j}": 1.0 for j in range(100)} for i in range(117)})
    assert repr(judged) == "Judgments(117 queries, 11,700 grades)"
    assert repr(judged.grades) == "GradeTable(117 queries, 11,700 grades)"
    assert (
        repr(Judgments(preferences=(tk.Preference("q", "a", "b", "tie"),)))
        == "Judgments(1 query, 1 preference)"
    )
    assert repr(Judgments()) == "Judgments(0 queries)"
    assert repr(tk.Run.of({"q": {"d": 1.0}})) == "Run('run', 1 query, 1 document)"
