"""Running: a finished cell is never computed again, whatever happens; and it is the same wherever it runs."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from topkit.compute.cluster import ClusterError
from topkit.data import InputError
from topkit.studies import run as running
from topkit.studies.cell import Cell
from topkit.studies.kinds import KINDS
from topkit.studies.kinds.labelling import Simulated
from topkit.studies.publish import publish
from topkit.studies.run import compute_text, read_finished, run_study
from topkit.studies.study_file import parse_study, read_study
from topkit.studies.template import template

STUDY = """
kind = "compare"
title = "Small"
rankers = ["bestfeature", "perceptron", "ranksvm", { ranker = "rankboost", set = { rounds = 60 } }]
metrics = ["ndcg@5", "map"]
[[data]]
name = "demo"
files = "demo"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an uninterrupted run in one process."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "small.toml").write_text(STUDY)
    run_study(folder / "small.toml", folder / "out")
    return folder / "out"


def test_the_table_and_what_it_shows(whole: Path) -> None:
    table = pq.read_table(whole / "results.parquet")
    assert table.column_names == ["data", "ranker", "fold", "seed", "query", "metric", "value"]
    assert table.num_rows == 4 * 120 * 2  # rankers × queries (each tested in one fold) × measures
    text = publish(read_finished(whole))
    assert "bestfeature" in text
    assert "convention yahoo" in text
    assert "120 test queries" in text
    page = (whole / "report.html").read_text()
    for part in ("What was run", "hardest queries", 'kind = "compare"', "<svg"):
        assert part in page
    assert "http://" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    )
    assert (whole / "table-demo.tex").read_text().startswith(r"\begin{tabular}")


def test_the_means_are_those_of_the_rankers_used_by_hand(whole: Path) -> None:
    import numpy as np

    import topkit as tk
    from topkit.studies.demo_data import demo_data

    values = []
    for fold in tk.query_folds(demo_data(), 5, seed=0):
        model = tk.ranker("ranksvm", metric="ndcg@5").fit(fold.train, fold.valid)
        values += tk.evaluate(fold.test, model.score(fold.test), "map").per_query["map"].tolist()
    results = read_finished(whole).results
    assert results.mean("map", "ranker")[("ranksvm",)] == pytest.approx(np.mean(values), abs=1e-12)


def test_finished_cells_are_kept_and_only_new_ones_computed(
    whole: Path, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    run_study(file, out)
    computed: list[str] = []

    def count(description: str) -> str:
        computed.append(json.loads(description)["factors"]["ranker"])
        return compute_text(description)

    monkeypatch.setattr(running, "compute_text", count)
    reports: list[tuple[str, int, int]] = []

    def report(what: str, step: int, steps: int, value: float) -> None:
        reports.append((what, step, steps))

    run_study(file, out, report=report)
    assert computed == []
    assert [(step, steps) for _, step, steps in reports] == [(20, 20)]
    file.write_text(STUDY.replace('"perceptron"', '"perceptron", "listnet"'))
    run_study(file, out, report=report)
    assert computed == ["listnet"] * 5
    assert [(step, steps) for _, step, steps in reports[1:]] == [(done, 25) for done in range(20, 26)]
    assert re.fullmatch(r"demo listnet 5 0 ndcg@5 0\.\d{4}\nbest so far: demo \S+ 0\.\d{4}", reports[-1][0])
    broken = next((out / "cells").glob("*.json"))
    broken.write_text(broken.read_text()[:40])
    run_study(file, out)
    assert len(computed) == 6


def test_settings_seeds_and_data_make_other_cells_and_places_of_files_do_not() -> None:
    work = Simulated("heap", n=20, k=10, error=0.1, orders=5, seed=0)
    cell = Cell("labelling", {"n": 20}, work, {"a": "/x"})
    assert cell.key == replace(cell, files={"a": "/y"}).key
    assert cell.key != replace(cell, work=replace(work, k=2)).key
    assert cell.key != replace(cell, factors={"n": 21}).key
    assert cell.key != replace(cell, kind="budget").key


@pytest.mark.parametrize("name", ["compare", "beta", "k", "learning-curve", "grades", "sigma", "calibration"])
def test_a_cell_read_from_its_description_is_the_same_cell(name: str) -> None:
    cell = next(iter(KINDS[name].code.cells(parse_study(template(name)))))
    again = Cell.of_record(json.loads(cell.to_json()), KINDS[name].code.work)
    assert again == cell
    assert again.key == cell.key


def start(file: Path, out: Path, jobs: int) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "topkit",
        "study",
        "run",
        str(file),
        "--out",
        str(out),
        "--jobs",
        str(jobs),
    ]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_for_cells(out: Path, more: int) -> None:
    """Until so many more cells are done, or a minute has passed."""
    before = len(list(out.glob("cells/*.json")))
    end = time.monotonic() + 60
    while len(list(out.glob("cells/*.json"))) < min(before + more, 20) and time.monotonic() < end:
        time.sleep(0.01)


@pytest.mark.slow
def test_killed_five_times_at_random_moments_the_table_is_that_of_an_uninterrupted_run(
    whole: Path, file: Path, tmp_path: Path
) -> None:
    import psutil

    out = tmp_path / "out"
    chance = random.Random(7)
    done = []
    for _ in range(5):
        process = start(file, out, jobs=1 + chance.randrange(2))
        wait_for_cells(out, chance.randrange(1, 4))
        time.sleep(chance.random() * 0.1)
        workers = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.wait()
        assert psutil.wait_procs(workers, timeout=120)[1] == [], "workers end with the one who sent them"
        done.append(len(list(out.glob("cells/*.json"))))
    assert done == sorted(done)
    assert done[0] > 0
    run_study(file, out)
    assert (out / "results.parquet").read_bytes() == (whole / "results.parquet").read_bytes()
    assert not list(out.glob("cells/.*")), "nothing half-written is left"


@pytest.mark.slow
def test_interrupted_by_ctrl_c_it_ends_at_once_and_so_do_its_workers(file: Path, tmp_path: Path) -> None:
    import psutil

    out = tmp_path / "out"
    process = start(file, out, jobs=2)
    wait_for_cells(out, 2)
    workers = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=120) == 130
    _, alive = psutil.wait_procs(workers, timeout=120)
    assert alive == []
    assert len(list(out.glob("cells/*.json"))) > 0


@pytest.mark.slow
def test_two_processes_and_two_dask_workers_give_the_same_table_bit_for_bit(
    whole: Path, file: Path, tmp_path: Path
) -> None:
    from distributed import LocalCluster

    run_study(file, tmp_path / "two", jobs=2)
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        run_study(file, tmp_path / "dask", dask=cluster.scheduler_address)
    expected = (whole / "results.parquet").read_bytes()
    assert (tmp_path / "two" / "results.parquet").read_bytes() == expected
    assert (tmp_path / "dask" / "results.parquet").read_bytes() == expected


def test_no_scheduler_there(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="no Dask scheduler"):
        run_study(file, tmp_path / "out", dask="nonsense://127.0.0.1:1")


def test_a_cell_that_fails_is_named_and_the_others_are_kept(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(description: str) -> str:
        if '"perceptron"' in description:
            raise InputError("no good")
        return compute_text(description)

    monkeypatch.setattr(running, "compute_text", fail)
    with pytest.raises(InputError, match="5 of 20 cells failed; demo perceptron 1 0: no good"):
        run_study(file, tmp_path / "out")
    assert len(list((tmp_path / "out" / "cells").glob("*.json"))) == 15
    with pytest.raises(InputError, match="5 of 20 cells are not done"):
        read_finished(tmp_path / "out")


def test_a_file_that_changed_under_way_is_not_taken_for_the_other(tmp_path: Path) -> None:
    from topkit.studies.demo_data import demo_path

    data = tmp_path / "data.txt"
    data.write_text(demo_path().read_text())
    (tmp_path / "s.toml").write_text(
        STUDY.replace('"demo"', '"mine"', 1).replace('files = "demo"', 'files = "data.txt"')
    )
    cell = next(iter(KINDS["compare"].code.cells(read_study(tmp_path / "s.toml"))))
    record = json.loads(cell.to_json())
    (print_,) = record["files"]
    other = tmp_path / "other.txt"
    other.write_text(data.read_text().replace(" 1:", " 1:2", 1))
    record["files"][print_] = str(other)
    with pytest.raises(InputError, match="has changed since the study began"):
        compute_text(json.dumps(record))


def test_a_folder_that_is_not_a_study(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a study folder"):
        read_finished(tmp_path)


@pytest.mark.parametrize(
    "cells",
    [
        '[{"kind": "compare", "what": {"ranker": "ranksvm"}, "factors": {}, "files": {}}]',
        '[{"kind": "compare", "work": {"ranker": "ranksvm", "unknown": 1}, "factors": {}, "files": {}}]',
        '{"compare": 1}',
        "not JSON",
    ],
)
def test_a_folder_of_an_older_version_is_named_as_such(tmp_path: Path, cells: str) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "cells.json").write_text(cells)
    with pytest.raises(
        InputError, match=r"cells\.json: .* older version wrote the folder; run the study again"
    ) as error:
        read_finished(tmp_path)
    assert error.value.file == str(tmp_path / "cells.json")


@pytest.mark.skipif(not hasattr(os, "kill"), reason="signals")
def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from topkit.cli import command_line

    monkeypatch.chdir(tmp_path)
    runner, app = CliRunner(), command_line()
    assert "budget" in runner.invoke(app, ["study", "new", "--list"]).output
    made = runner.invoke(app, ["study", "new", "labelling"])
    assert made.exit_code == 0
    assert Path("labelling.toml").exists()
    again = runner.invoke(app, ["study", "new", "labelling"])
    assert isinstance(again.exception, InputError)
    Path("labelling.toml").write_text(Path("labelling.toml").read_text().replace("orders = 50", "orders = 4"))
    done = runner.invoke(app, ["study", "run", "labelling.toml", "--jobs", "1"])
    assert done.exit_code == 0, done.output
    assert "lower bound" in done.output
    assert Path("labelling.study/report.html").exists()
    assert runner.invoke(app, ["study", "report", "labelling.study"]).exit_code == 0
