"""``topkit clicks`` and ``topkit train --propensity`` as a user types them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import topkit as tk
from topkit.cli import command_line
from topkit.data import InputError


def said(*words: object) -> str:
    """What a command prints; it runs in this process, because starting one takes longer than the work."""
    done = CliRunner().invoke(command_line([str(words[0])]), [str(word) for word in words])
    if done.exception is not None:
        raise done.exception
    return done.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents, a log of 3,000 pages as Parquet and as counts, and two runs."""
    path = tmp_path_factory.mktemp("clicks")
    data = tk.demo_data().select(np.arange(10))
    data.to_letor(path / "documents.txt")
    data = tk.read_letor(path / "documents.txt")
    log = tk.simulate_clicks(data, data.X[:, 0], 3000, length=5, seed=1)
    log.to_frame("pandas").to_parquet(path / "log.parquet")
    log.counts().to_frame("pandas").to_csv(path / "counts.csv", index=False)
    tk.write_run(tk.Run.from_scores(data, data.y.astype(float), "good"), path / "good.run")
    tk.write_run(tk.Run.from_scores(data, -data.y.astype(float), "bad"), path / "bad.run")
    return path


def test_train_on_a_click_log(folder: Path) -> None:
    common = ("--train", folder / "documents.txt", "--clicks", folder / "log.parquet", "--out")
    out = said("train", "listnet", *common, folder / "m", "--propensity", "pbm", "--set", "l2=0.001")
    assert "m: listnet" in out
    data = tk.read_letor(folder / "documents.txt")
    log = tk.read_clicks(folder / "log.parquet")
    expected = tk.ranker("listnet", l2=0.001).fit(data, clicks=tk.UnbiasedClicks(log, "pbm")).score(data)
    assert tk.load_ranker(folder / "m").score(data) == pytest.approx(expected)
    # a ranker without a loss learns from labels that are estimated from the clicks
    said("train", "ranksvm", *common, folder / "svm", "--estimator", "ips", "--propensity", "swap")
    labelled = tk.click_labels(data, tk.UnbiasedClicks(log, "swap", "ips"))
    expected = tk.ranker("ranksvm").fit(labelled).score(data)
    assert tk.load_ranker(folder / "svm").score(data) == pytest.approx(expected)


def test_fit_prints_one_row_per_model(folder: Path) -> None:
    found = json.loads(
        said("clicks", "fit", folder / "log.parquet", "--model", "pbm,cascade", "--format", "json")
    )
    rows = {row["name"]: row for row in found["rows"]}
    assert set(rows) == {"pbm", "cascade"}
    assert 1 < rows["pbm"]["perplexity"] < 2
    assert rows["pbm"]["log-likelihood"] > rows["cascade"]["log-likelihood"]


def test_propensities_are_printed_and_written_and_used(folder: Path) -> None:
    text = said("clicks", "propensities", folder / "counts.csv", "--out", folder / "p.csv")
    assert "method pbm" in text
    assert tk.read_propensities(folder / "p.csv").examination[1] == pytest.approx(0.5, rel=0.3)
    runs = (folder / "good.run", folder / "bad.run")
    out = said(
        "clicks",
        "evaluate",
        folder / "log.parquet",
        *runs,
        "--propensity",
        folder / "p.csv",
        "--format",
        "csv",
    )
    good, bad = list(csv.DictReader(out.splitlines()))
    assert float(good["low"]) > float(bad["high"])


def test_interleaved_pages_get_a_verdict(folder: Path) -> None:
    pages = folder / "pages.csv"
    said("clicks", "interleave", folder / "good.run", folder / "bad.run", "--pages", "5", "--out", pages)
    with pages.open() as stream:
        rows = list(csv.DictReader(stream))
    assert rows[0].keys() == {"page", "query", "position", "document", "credit"}
    assert len({row["page"] for row in rows}) == 50
    shown = folder / "shown.csv"
    with shown.open("w") as stream:  # users click what ranker A added
        writer = csv.writer(stream)
        writer.writerow(["page", "credit", "clicks"])
        writer.writerows([row["page"], row["credit"], int(row["credit"] == "1")] for row in rows)
    assert said("clicks", "verdict", shown).startswith("ranker A is better: A wins 50, B wins 0")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["clicks", "fit", "counts.csv"], "needs whole pages"),
        (["clicks", "fit", "log.parquet", "--model", "pbn"], "unknown click model 'pbn'"),
        (
            ["clicks", "propensities", "log.parquet", "--method", "pmb"],
            "unknown way to estimate propensities",
        ),
        (["clicks", "propensities", "one.csv"], "no clicked document was shown at two positions"),
        (["clicks", "verdict", "one.csv"], "one.csv: the file has no column 'credit'"),
        (["clicks", "evaluate", "nothing.csv", "good.run"], "nothing.csv"),
        (
            ["train", "listnet", "--clicks", "log.parquet", "--propensity", "pbm", "--out", "x"],
            "give the documents",
        ),
        (["train", "listnet", "--train", "documents.txt", "--propensity", "pbm", "--out", "x"], "--clicks"),
        (
            [
                "train",
                "click-label",
                "--train",
                "documents.txt",
                "--clicks",
                "log.parquet",
                "--estimator",
                "ips",
                "--out",
                "x",
            ],
            "learns its own position bias",
        ),
        (
            [
                "train",
                "listnet",
                "--train",
                "documents.txt",
                "--clicks",
                "log.parquet",
                "--propensity",
                "pm",
                "--out",
                "x",
            ],
            "unknown way to estimate propensities 'pm'; did you mean 'pbm'?",
        ),
    ],
)
def test_wrong_calls_are_one_clear_message(
    folder: Path, words: list[str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (folder / "one.csv").write_text("page,query,document,clicks\n1,q,a,1\n1,q,b,0\n")
    with pytest.raises((InputError, FileNotFoundError)) as caught:
        said(*words)
    assert expected in str(caught.value)
    assert not (folder / "x").exists()
