"""topkit in a shell: pipes, one document per format, topkit.toml, exit codes, help and completion."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import topkit as tk
from tests.support.cli import run_here
from topkit.compute.first_use import MESSAGE, announce_compiling
from topkit.rankers.checks import easy_data

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shell")
    data = easy_data(8)
    data.to_letor(folder / "data.txt")
    fitted = tk.ranker("listnet").fit(data)
    fitted.save(folder / "model")
    for column, name in enumerate(("good", "bad")):
        tk.write_scores(data.X[:, column], folder / f"{name}.scores")
        tk.write_run(tk.Run.from_scores(data, data.X[:, column].astype(float)), folder / f"{name}.run")
    answers = ["q,a,b,a,ann,4", "q,a,b,b,bob,5", "q,b,c,a,ann,3", "q,b,c,a,bob,6", "q,a,c,tie,ann,2"]
    (folder / "preferences.csv").write_text("\n".join(["query,a,b,answer,assessor,seconds", *answers, ""]))
    (folder / "text.txt").write_text("Top k ranking is fast. Nothing else matters. Ranking the top.\n")
    return folder


@pytest.fixture(autouse=True)
def _in_the_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def piped(*words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "topkit", *words]
    return subprocess.run(command, input=given, capture_output=True, check=False)


def test_a_pipe_of_data_model_and_scores() -> None:
    """train → score → eval with the model and the scores in pipes; nothing is written to disk."""
    data = Path("data.txt").read_bytes()
    model = piped("train", "listnet", "--train", "-", "--out", "-", "--set", "max_steps=3", given=data)
    assert model.returncode == 0, model.stderr
    scores = piped("score", "-", "data.txt", "--out", "-", given=model.stdout)
    assert scores.returncode == 0, scores.stderr
    assert len(scores.stdout.splitlines()) == len(tk.read_letor("data.txt"))
    result = piped("eval", "data.txt", "-", "--format", "json", given=scores.stdout)
    assert json.loads(result.stdout)["results"]["-"]["ndcg@10"] > 0.8


def test_standard_input_that_is_empty_is_named() -> None:
    result = piped("eval", "data.txt", "-")
    assert result.returncode == 1
    assert result.stderr == (
        b"topkit: -: the file has no scores; write one number per line, one line per document of the data "
        b"set\n"
    )


PRINTING = {
    "eval": ("eval", "data.txt", "good.scores", "bad.scores", "--test", "t", "--interval"),
    "eval-queries": ("eval", "data.txt", "good.scores", "bad.scores", "--per-query"),
    "info": ("data", "info", "data.txt", "data.txt"),
    "audit": ("data", "audit", "data.txt"),
    "fuse": ("fuse", "good.run", "bad.run", "--method", "agreement", "--explain", "--out", "fused.run"),
    "train": ("train", "listnet", "--train", "data.txt", "--set", "max_steps=2", "--out", "new.model"),
    "diagnose": ("diagnose", "data.txt", "good.scores", "bad.scores"),
    "rankers": ("rankers",),
    "ranker": ("rankers", "listnet"),
    "measure": ("measures", "rbp"),
    "strategies": ("strategies",),
    "aggregators": ("aggregators",),
    "losses": ("losses",),
    "simulate": ("label", "simulate", "--sizes", "8:2", "--orders", "3", "--strategies", "heap,adaptive"),
    "agreement": ("label", "agreement", "preferences.csv", "--assessors"),
    "kinds": ("study", "new", "--list"),
    "consistency": ("study", "consistency", "--lists", "5"),
    "sentences": ("features", "sentences", "text.txt", "--query", "top ranking"),
}


@pytest.mark.parametrize("name", PRINTING)
def test_every_command_that_prints_results_prints_one_document(name: str, capsys: Captured) -> None:
    code, output, _ = run_here(capsys, *PRINTING[name], "--format", "json")
    assert code in (0, 1)
    assert json.loads(output, parse_constant=pytest.fail)
    _, output, _ = run_here(capsys, *PRINTING[name], "--format", "csv")
    rows = list(csv.reader(io.StringIO(output)))
    assert len(rows) > 1
    assert {len(row) for row in rows} == {len(rows[0])}
    code, output, _ = run_here(capsys, *PRINTING[name])
    assert code in (0, 1)
    assert output.strip()


def test_json_of_an_evaluation_has_systems_and_p_values(capsys: Captured) -> None:
    _, output, _ = run_here(capsys, *PRINTING["eval"], "--format", "json")
    document = json.loads(output)
    assert list(document["results"]) == ["good.scores", "bad.scores"]
    data = tk.read_letor("data.txt")
    evaluations = {
        name: tk.evaluate(data, tk.read_scores(f"{name}.scores"), "ndcg@10") for name in ("good", "bad")
    }
    pair = tk.compare(evaluations, "ndcg@10")["good", "bad"]
    assert document["p_values"]["bad.scores"]["ndcg@10"]["p"] == pytest.approx(pair.p)
    _, output, _ = run_here(capsys, *PRINTING["eval"], "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(output)))
    assert float(rows[1]["ndcg@10_p"]) == pytest.approx(pair.p)
    assert rows[0]["ndcg@10_p"] == "", "the baseline"


def test_json_of_training_has_the_validation_metric_and_all_trials(capsys: Captured) -> None:
    words = ("train", "listnet", "--train", "data.txt", "--valid", "data.txt", "--out", "tuned.model")
    _, output, _ = run_here(capsys, *words, "--tune", "grid", "--trials", "2", "--format", "json")
    document = json.loads(output)
    (model,) = document["model"]
    assert (model["model"], model["ranker"], model["metric"]) == ("tuned.model", "listnet", "ndcg@10")
    assert len(document["trials"]) == 2
    assert model["value"] == max(trial["value"] for trial in document["trials"])
    data, fitted = tk.read_letor("data.txt"), tk.load_ranker("tuned.model")
    evaluation = tk.evaluate(data, fitted.score(data), model["metric"], convention=model["convention"])
    assert model["value"] == pytest.approx(evaluation.mean["ndcg@10"])


def test_json_of_data_info(capsys: Captured) -> None:
    _, output, _ = run_here(capsys, "data", "info", "data.txt", "--format", "json")
    (facts,) = json.loads(output)
    data = tk.read_letor("data.txt")
    assert (facts["file"], facts["queries"], facts["documents"]) == ("data.txt", data.n_queries, len(data))
    assert facts["labels"]["0"] == int((data.y == 0).sum())


def test_json_of_agreement(capsys: Captured) -> None:
    _, output, _ = run_here(capsys, "label", "agreement", "preferences.csv", "--format", "json")
    figures = {(row["part"], row["figure"]): row["value"] for row in json.loads(output)}
    assert figures["preferences", "seconds"] == 4.0, "the mean of 4, 5, 3, 6 and 2"
    assert figures["preferences", "judgments"] == 5
    assert figures["preferences", "agreement"] == 0.5, "two assessors agree on one of two pairs"


@pytest.mark.parametrize("words", [("-h",), ("eval", "-h"), ("data", "info", "-h"), ("label", "-h")])
def test_short_help(words: tuple[str, ...], capsys: Captured) -> None:
    code, output, _ = run_here(capsys, *words)
    assert code == 0
    assert "Usage: " in output
    assert "-h" in output


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("evl",), 2, "Did you mean 'eval'"),
        (("eval", "--metrix", "map"), 2, "Possible options: --metrics"),
        (("eval",), 2, ""),
        (("label", "simulate", "--orders", "many"), 2, "'many' is not a valid int"),
        (("study", "new", "--out", "x"), 2, "--list lists them"),
        (("rankers", "lisnet"), 1, "unknown ranker 'lisnet'; did you mean 'listnet'?"),
        (("measures", "ndgc"), 1, "unknown measure 'ndgc'; did you mean 'ndcg'?"),
        (("eval", "data.txt", "good.scores", "--metrics", "ndgc@5"), 1, "did you mean ndcg"),
        (("eval", "data.txt", "good.scores", "--format", "jsn"), 1, "did you mean 'json'?"),
        (("data", "info", "data.txt", "--format", "cvs"), 1, "did you mean 'csv'?"),
        (
            ("train", "listnet", "--train", "data.txt", "--set", "max_step=1", "--out", "x"),
            1,
            "the ranker 'listnet' has no setting 'max_step'; did you mean 'max_steps'?",
        ),
        (("data", "info", "nothing.txt"), 1, "nothing.txt: no such file; check the path"),
        (("data", "convert", "data.txt", "/dev/full"), 1, "the disk is full"),
    ],
)
def test_exit_codes_and_suggestions(
    words: tuple[str, ...], code: int, message: str, capsys: Captured
) -> None:
    """0 success, 1 wrong input or a problem with files, 2 wrong usage; 130 is tested with the files."""
    found, output, errors = run_here(capsys, *words)
    assert found == code
    assert message in " ".join((output + errors).split())
    assert "Traceback" not in errors


def with_defaults(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, below: str = "") -> None:
    """A topkit.toml in a new folder that has the data; the current folder is ``below`` it."""
    (folder / below).mkdir(parents=True, exist_ok=True)
    (folder / "topkit.toml").write_text(text)
    for name in ("data.txt", "good.scores", "bad.scores"):
        (folder / below / name).write_bytes(Path(name).read_bytes())
    monkeypatch.chdir(folder / below)


DEFAULTS = """
[eval]
metrics = "rr"
format = "json"
per-query = false

[label.simulate]
orders = 2
"""


def test_the_command_line_wins_over_the_file_and_the_file_over_what_is_built_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    with_defaults(DEFAULTS, tmp_path, monkeypatch)
    _, output, _ = run_here(capsys, "eval", "data.txt", "good.scores")
    assert list(json.loads(output)["results"]["good.scores"]) == ["rr"]
    _, output, _ = run_here(capsys, "eval", "data.txt", "good.scores", "--metrics", "map")
    assert list(json.loads(output)["results"]["good.scores"]) == ["map"]
    _, output, _ = run_here(capsys, "label", "simulate", "--sizes", "6:2", "--strategies", "heap")
    assert "means over 2 random orders" in output


def test_the_nearest_file_above_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    with_defaults('[eval]\nmetrics = "err"\n', tmp_path, monkeypatch, below="a/b")
    assert "err" in run_here(capsys, "eval", "data.txt", "good.scores")[1].splitlines()[0]
    Path("topkit.toml").write_text('[eval]\nmetrics = "rr"\n')
    assert "rr" in run_here(capsys, "eval", "data.txt", "good.scores")[1].splitlines()[0].split()


def test_options_that_are_repeated_are_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    with_defaults('[train]\nset = ["max_steps=1"]\nquiet = true\nout = "m"\n', tmp_path, monkeypatch)
    code, output, errors = run_here(capsys, "train", "listnet", "--train", "data.txt")
    assert (code, output, errors) == (0, "", "")
    assert tk.load_ranker("m").settings["max_steps"] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[evl]\n", "unknown command: 'evl'; did you mean 'eval'?"),
        ('[eval]\nmetric = "rr"\n', "unknown option in [eval]: 'metric'; did you mean 'metrics'?"),
        ("[label.serv]\n", None),
        ("[eval]\nseed = true\n", "eval.seed must be int, got True"),
        ('[eval]\nseed = "x"\n', "eval.seed: 'x' is not a valid int"),
        ('[eval]\nper-query = "no"\n', "eval.per-query must be true or false, got 'no'"),
        ("eval = 3\n", "'eval' must be a table, such as [eval]"),
        ("[eval\n", "invalid TOML"),
    ],
)
def test_mistakes_in_the_file(
    text: str, message: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    with_defaults(text, tmp_path, monkeypatch)
    code, _, errors = run_here(capsys, "eval", "data.txt", "good.scores")
    if message is None:  # a command that is not called is checked when it is called
        assert code == 0
        code, _, errors = run_here(capsys, "label", "simulate")
        message = "unknown command of label: 'serv'; did you mean 'serve'?"
    assert code == 1
    assert f"topkit: {tmp_path / 'topkit.toml'}: {message}" in errors


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("topkit ev", ["eval"]),
        ("topkit eval --met", ["--metrics"]),
        ("topkit train lambdam", ["lambdamart"]),
        ("topkit eval data.txt --metrics ndcg@10,bpr", ["ndcg@10,bpref"]),
        ("topkit eval data.txt --convention tr", ["trec"]),
        ("topkit losses squared-h", ["squared-hinge"]),
        ("topkit fuse a.run --method mal", ["mallows"]),
        ("topkit label judge a.run --strategy setwise-1", ["setwise-10"]),
    ],
)
def test_shell_completion(words: str, expected: list[str]) -> None:
    """What bash asks for when Tab is pressed after these words."""
    request = {
        "_TOPKIT_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    script = (
        "import sys, atexit; sys.argv = ['topkit']\n"
        "atexit.register(lambda: print('numba' in sys.modules, file=sys.stderr))\n"
        "from topkit.__main__ import run; run()"
    )
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, env=os.environ | request, check=False)
    assert result.stdout.split() == expected, result.stderr
    assert result.stderr.split() == ["False"], "names only: nothing is compiled"


def test_the_completion_script_can_be_shown(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    code, output, _ = run_here(capsys, "--show-completion", "bash")
    assert code == 0
    assert "_TOPKIT_COMPLETE=complete_bash" in output


def test_compiling_is_announced_once() -> None:
    script = (
        "from topkit.compute.first_use import announce_compiling\n"
        "announce_compiling(print)\n"
        "import sys; assert 'numba' not in sys.modules\n"
        "from numba import njit\n"
        "first, second = njit(lambda x: x + 1), njit(lambda x: x + 2)\n"
        "print(first(1), second(1))\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines() == [MESSAGE, "2 3"]


def test_compiling_is_announced_if_numba_is_loaded_already() -> None:
    import numba

    said: list[str] = []
    announce_compiling(said.append)
    assert numba.njit(lambda x: x * 2)(4) == 8
    assert said == [MESSAGE]


@pytest.mark.slow
@pytest.mark.skipif(
    os.environ.get("TOPKIT_WARM_UP") != "all",
    reason="compiles everything, two minutes; set TOPKIT_WARM_UP=all",
)
def test_after_a_warm_up_nothing_is_compiled(tmp_path: Path) -> None:
    """All kernels are in the cache, so a fit in a new process compiles none."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "topkit", "warm-up"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("compiled the kernels in ")
    assert "compiling: " in done.stderr, "a line per tenth of the work"
    script = (
        "from topkit.compute.first_use import announce_compiling\n"
        "announce_compiling(print)\n"
        "import topkit as tk\n"
        "from topkit.rankers.checks import easy_data\n"
        "data = tk.read_letor('data.txt')\n"
        "for name in ('focusednet', 'ranksvm', 'lambdamart', 'coordinate-ascent', 'sortnet'):\n"
        "    tk.ranker(name).fit(data).rank(data)\n"
        "run = tk.read_run('good.run')\n"
        "tk.aggregate([run, run, tk.read_run('bad.run')], 'mallows')\n"
    )
    used = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert used.stdout == ""
