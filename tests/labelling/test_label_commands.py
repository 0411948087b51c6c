"""``topkit label`` as a user types it."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from tests.support.cli import topkit_here


def test_simulate_prints_a_table_and_draws(tmp_path: Path) -> None:
    table, plot = tmp_path / "out.csv", tmp_path / "plot.png"
    words = ["label", "simulate", "--strategies", "adaptive,heap", "--sizes", "8:2,6:6", "--noise", "0,0.1"]
    result = topkit_here(*words, "--prior", "none,0.5", "--orders", "5", "--out", table, "--plot", plot)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].split()[:7] == ["strategy", "n", "k", "bad", "wrong", "prior", "judgments"]
    assert len(lines) == 1 + 2 * 2 * 2 * 2 + 1
    assert "5 random orders" in lines[-1]
    rows = list(csv.DictReader(table.open()))
    assert len(rows) == 16
    without_errors = [row for row in rows if row["error"] == "0.0"]
    assert all(row["found"] == "1.0" and row["exact"] == "1.0" for row in without_errors)
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_simulate_counts_judgments_with_bad_documents(tmp_path: Path) -> None:
    table = tmp_path / "out.csv"
    words = ["label", "simulate", "--strategies", "heap", "--bad", "0,25,50", "--orders", "10"]
    result = topkit_here(*words, "--out", table)
    assert result.returncode == 0, result.stderr
    rows = list(csv.DictReader(table.open()))
    assert [row["bad"] for row in rows] == ["0", "25", "50"]
    judgments = [float(row["judgments"]) for row in rows]
    assert judgments[0] > judgments[1] > judgments[2] >= 49  # each bad document but the last must be seen
    assert all(row["exact"] == "1.0" for row in rows)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--strategies", "best"], "unknown strategy 'best'"),
        (["--strategies", "graded"], "unknown strategy 'graded'"),
        (["--sizes", "50"], "invalid size '50'; write n:k"),
        (["--noise", "2"], "invalid --noise '2'"),
        (["--prior", "much"], "invalid --prior 'much'"),
        (["--prior-kind", "odd"], "unknown kind of prior 'odd'"),
        (["--bad", "-1"], "invalid --bad '-1'"),
        (["--bad", "51"], "expected at most 50 bad documents, got 51"),
    ],
)
def test_simulate_names_what_is_wrong(words: list[str], message: str) -> None:
    result = topkit_here("label", "simulate", *words)
    assert result.returncode == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_agreement_prints_the_tables(tmp_path: Path) -> None:
    prefs, grades = tmp_path / "prefs.csv", tmp_path / "grades.csv"
    rows = ["q,x,y,a,ann,4", "q,x,y,a,bob,6", "q,x,z,a,ann,2", "q,x,z,b,bob,4", "q,y,z,,ann,1"]
    prefs.write_text("\n".join(["query,a,b,answer,assessor,seconds", *rows]) + "\n")
    rows = ["q,x,3,ann,10", "q,y,1,ann,20", "q,x,2,bob,10", "q,y,2,bob,20", "q,z,0,ann,30", "q,z,1,bob,30"]
    grades.write_text("\n".join(["query,doc,grade,assessor,seconds", *rows]) + "\n")
    result = topkit_here("label", "agreement", prefs, "--grades", grades, "--assessors")
    assert result.returncode == 0, result.stderr
    text = result.stdout
    # one pair agreed, one opposed; grades: (x,y) ≻ ∼, (x,z) ≻ ≻, (y,z) ≻ ≻
    assert "agreement 0.5000 of 2; without ties 0.5000 of 2" in text
    assert "agreement 0.6667 of 3; without ties 1.0000 of 2" in text
    assert "ignored 1 row without an answer" in text
    times = {
        line.split()[0]: line.split()[1:] for line in text.splitlines() if line[:5] in ("prefe", "grade")
    }
    assert times["preferences"] == ["4.00", "4.00", "0.13", "2.00", "4"]
    assert times["grades"] == ["20.00", "20.00", "1.00", "3.00", "6"]
    # χ² of [[1, 1], [2, 1]]: 5·(1·1 − 1·2)²/(2·3·3·2) = 0.139
    assert "χ² of the two methods, all: 0.1, p = 0.709" in text
    assert [line.split()[0] for line in text.splitlines() if line.startswith(("ann", "bob"))] == [
        "ann",
        "bob",
    ]


@pytest.mark.real_data
def test_agreement_of_music_preferences(real_data: Path) -> None:
    columns = "query=Input.query,a=Input.docA,b=Input.docB,answer=Answer.radio,assessor=WorkerId"
    path = real_data / "music-prefs" / "judgments.csv"
    words = ["--columns", f"{columns},seconds=WorkTimeInSeconds", "--answers", "s=tie"]
    result = topkit_here("label", "agreement", path, *words)
    assert result.returncode == 0, result.stderr
    assert re.search(r"agreement 0\.\d+ of 12600", result.stdout)  # 276·45 + 5·36 pairs of workers
    wrong = topkit_here("label", "agreement", path, "--columns", "query")
    assert wrong.returncode == 1
    assert "invalid --columns 'query'" in wrong.stderr
