"""The commands as a user types them: in a process of their own, with their output read."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import topkit as tk
from tests.support.cli import said, topkit, topkit_here

LETOR = """2 qid:1 1:3 2:1 #docid = a
0 qid:1 1:1 2:2 #docid = b
1 qid:1 1:2 2:9 #docid = c
1 qid:2 1:1 2:4 #docid = d
0 qid:2 1:5 2:3 #docid = e
0 qid:3 1:0 2:7 #docid = f
2 qid:3 1:4 2:8 #docid = g
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.txt"
    path.write_text(LETOR)
    return path


@pytest.fixture
def scores(tmp_path: Path) -> tuple[Path, Path]:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text("3\n1\n2\n5\n4\n0.5\n1\n")
    bad.write_text("1\n2\n3\n4\n5\n6\n7\n")
    return good, bad


def test_means_side_by_side(data: Path, scores: tuple[Path, Path]) -> None:
    out = said("eval", data, *scores, "--metrics", "ndcg@1,rr", "--convention", "trec")
    # bad ranks c, b, a (gain 1 of 2), then e, d (0 of 1), then g, f (2 of 2):
    # ndcg@1 = (1/2 + 0 + 1)/3 and rr = (1 + 1/2 + 1)/3
    lines = out.splitlines()
    assert lines[0].split() == ["ndcg@1", "rr"]
    assert lines[1].split() == ["good", "1.0000", "1.0000"]
    assert lines[2].split() == ["bad", "0.5000", "0.8333"]
    assert lines[3].startswith("3 queries; convention trec: gain y")


def test_every_format(data: Path, scores: tuple[Path, Path]) -> None:
    call = ("eval", data, *scores, "--metrics", "rr", "--convention", "trec", "--format")
    rows = list(csv.reader(io.StringIO(said(*call, "csv"))))
    assert rows[0] == ["system", "rr"]
    assert float(rows[2][1]) == pytest.approx(5 / 6)
    found = json.loads(said(*call, "json"))
    assert found["results"]["bad"]["rr"] == pytest.approx(5 / 6)
    assert "convention trec" in found["notes"][0]
    assert "| good | **1.0000** |" in said(*call, "markdown")
    latex = said(*call, "latex")
    assert r"good & \textbf{1.0000} \\" in latex
    assert "% 3 queries; convention trec" in latex


def test_one_row_a_query(data: Path, scores: tuple[Path, Path]) -> None:
    out = said("eval", data, scores[1], "--metrics", "rr", "--per-query", "--format", "csv")
    assert out.splitlines() == ["system,query,rr", "bad,1,1.0", "bad,2,0.5", "bad,3,1.0"]


def test_significance_marks_and_intervals(tmp_path: Path) -> None:
    data, first, second = tmp_path / "data", tmp_path / "first", tmp_path / "second"
    data.write_text("".join(f"1 qid:{q} 1:1\n0 qid:{q} 1:0\n" for q in range(12)))
    first.write_text("1\n2\n" * 12)
    second.write_text("2\n1\n" * 11 + "1\n2\n")
    call = ("eval", data, first, second, "--metrics", "rr", "--test", "randomisation", "--interval")
    lines = said(*call).splitlines()
    # 11 of 12 queries rise by 1/2, one stays: 2·1/2^11 of the sign flips are as large
    assert lines[2].endswith("▲")
    assert "0.9583 [" in lines[2]
    assert "better or worse than first, p < 0.05, Fisher's randomisation test, Holm correction" in lines[-1]
    assert "▼" in said("eval", data, second, first, "--metrics", "rr", "--test", "t")


def test_runs_by_judgments(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "bm25"
    qrels.write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 1\n")
    run.write_text("q1 Q0 d2 1 9 x\nq1 Q0 d1 2 8 x\n")
    assert "bm25  0.5000" in said("eval", "--qrels", qrels, run, "--metrics", "rr")
    assert "bm25  0.2500" in said("eval", "--qrels", qrels, run, "--metrics", "rr", "--missing", "zero")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["eval", "data.txt"], "no score files"),
        (
            ["eval", "data.txt", "short"],
            "short: expected 7 scores, one per document, got 2; the score file does not match the data set",
        ),
        (["eval", "data.txt", "wrong"], "wrong:2: 'high' is not a finite number"),
        (["eval", "data.txt", "good", "--metrics", "ndgc@5"], "ndgc"),
        (["eval", "data.txt", "good", "--convention", "letor5"], "letor5"),
        (["eval", "data.txt", "good", "--format", "pdf"], "unknown format 'pdf'"),
        (["eval", "data.txt", "good", "--test", "t"], "expected at least two systems to compare, got one"),
        (["eval", "--qrels", "qrels", "run"], "run: the judgments and the run have no query in common"),
        (["eval", "--qrels", "nothing", "run"], "nothing: no such file"),
        (["data", "info", "bad.txt"], "bad.txt:1: expected 'qid:ID'"),
        (["data", "convert", "data.txt", "out.txt", "--to", "graded"], "cannot be converted to grades"),
        (["data", "normalise", "data.txt", "out.txt", "--method", "max"], "unknown normalisation 'max'"),
        (["data", "split", "data.txt", "out", "--folds", "9"], "9 folds of 3 queries"),
        (["data", "split", "data.txt", "out", "--shares", "a,b"], "invalid shares 'a,b'"),
        (["data", "convert", "data.txt", "no/such/out.txt"], "does not exist"),
    ],
)
def test_bad_input_is_one_clear_message(data: Path, words: list[str], expected: str) -> None:
    folder = data.parent
    (folder / "short").write_text("1\n2\n")
    (folder / "wrong").write_text("1\nhigh\n")
    (folder / "good").write_text("3\n1\n2\n5\n4\n0.5\n1\n")
    (folder / "bad.txt").write_text("1 1:2\n")
    (folder / "qrels").write_text("q1 0 d1 1\n")
    (folder / "run").write_text("q9 Q0 d1 1 1 x\n")
    result = (topkit if words[:2] == ["data", "info"] else topkit_here)(
        *words, cwd=folder
    )  # one is a process
    assert result.returncode == 1
    assert expected in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    assert not (folder / "out.txt").exists()


def test_convert_and_back(data: Path, tmp_path: Path) -> None:
    assert "3 queries, 7 documents, 2 features, graded" in said(
        "data", "convert", data, tmp_path / "x.parquet"
    )
    said("data", "convert", tmp_path / "x.parquet", tmp_path / "again.txt.gz")
    assert tk.read_letor(tmp_path / "again.txt.gz") == tk.read_letor(data)
    said("data", "convert", data, tmp_path / "top.parquet", "--to", "top-2", "--seed", 3)
    assert tk.read_parquet(tmp_path / "top.parquet") == tk.read_letor(data).top_k(2, seed=3)


def test_normalise_and_info(data: Path, tmp_path: Path) -> None:
    said("data", "normalise", data, tmp_path / "n.txt", "--method", "z-score", "--mode", "append")
    assert tk.read_letor(tmp_path / "n.txt").n_features == 4
    out = said("data", "info", data)
    assert "queries    3, 0 with one label only" in out
    assert "labels     0 (3), 1 (2), 2 (2)" in out


def test_split_into_folds_and_parts(data: Path, tmp_path: Path) -> None:
    said("data", "split", data, tmp_path / "folds", "--folds", 3)
    tests = [tk.read_letor(tmp_path / "folds" / f"Fold{i}" / "test.txt").qids for i in (1, 2, 3)]
    assert sorted(qid for qids in tests for qid in qids) == ["1", "2", "3"]
    said("data", "split", data, tmp_path / "parts", "--shares", "1,1,1", "--ending", "parquet")
    assert tk.read_parquet(tmp_path / "parts" / "vali.parquet").n_queries == 1


def test_start_up_stays_light(data: Path, scores: tuple[Path, Path], tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("q1 0 d1 1\n")
    run.write_text("q1 Q0 d1 1 1 x\n")
    heavy = ["numba", "scipy", "pyarrow", "matplotlib", "lightgbm", "sklearn", "pandas", "pydantic"]
    heavy += ["rich.progress", "distributed", "fastapi", "sqlalchemy"]
    script = (
        "import atexit, sys; from topkit.cli import main\n"
        f"atexit.register(lambda: print('HEAVY', [m for m in {heavy!r} if m in sys.modules]))\n"
        "main()"
    )
    for words in (
        ["--help"],
        ["eval", data, *scores, "--metrics", "ndcg@1..10,err,map"],
        ["eval", "--qrels", qrels, run],
    ):
        command = [sys.executable, "-c", script, *map(str, words)]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert out.splitlines()[-1] == "HEAVY []"


def test_version() -> None:
    assert topkit("--version").stdout.strip() == f"topkit {tk.__version__}"


def test_every_public_name_is_there_and_documented() -> None:
    for name in vars(tk)["__all__"]:
        thing = getattr(tk, name)
        assert name == "__version__" or isinstance(thing, dict) or thing.__doc__, name
    with pytest.raises(AttributeError, match="read_leter"):
        tk.read_leter  # type: ignore[attr-defined]  # noqa: B018
