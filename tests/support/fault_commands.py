"""Every command that writes, with small inputs, and a way to run it with a fault injected."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from topkit.data import Run, write_letor, write_run
from topkit.rankers.checks import easy_data

OUT = "{out}"


class Command(NamedTuple):
    """A command line; ``{out}`` is what it writes."""

    line: str
    file: str
    """The name of what it writes."""
    makes_folder: bool = False


COMMANDS = {
    "convert": Command("data convert train.txt {out}", "out.parquet"),
    "normalise": Command("data normalise train.txt {out}", "out.txt"),
    "split": Command("data split train.txt {out} --folds 3", "parts", makes_folder=True),
    "train": Command("train listnet --train train.txt --out {out}", "out.model"),
    "score": Command("score a.model train.txt --out {out}", "out.scores"),
    "fuse": Command("fuse a.run b.run --method borda --out {out}", "out.run"),
    "export": Command("export a.model --to json --out {out}", "out.json"),
    "features": Command(
        "features build docs.jsonl --queries q.tsv --qrels qrels.txt --sampling judged --language none"
        " --out {out}",
        "out.txt",
    ),
    "study new": Command("study new compare --out {out}", "out.toml"),
    "study run": Command("study run small.toml --jobs 1 --out {out}", "out.study", makes_folder=True),
    "label export": Command("label export p --database labels.db --out {out}", "out.jsonl"),
    "label backup": Command("label backup {out} --database labels.db", "backup.jsonl"),
}


def make_inputs(folder: Path) -> None:
    """The inputs of all commands."""
    write_letor(easy_data(8), folder / "train.txt")
    for name in ("a", "b"):
        write_run(Run.of({"q": [("d1", 2.0), ("d2", 1.0)]}, name), folder / f"{name}.run")
    texts = ("wings of heat", "jet noise", "shock layer")
    lines = [json.dumps({"id": f"d{i}", "title": text}) + "\n" for i, text in enumerate(texts)]
    (folder / "docs.jsonl").write_text("".join(lines))
    (folder / "q.tsv").write_text("1\theat of wings\n")
    (folder / "qrels.txt").write_text("1 0 d0 2\n1 0 d1 0\n")
    (folder / "small.toml").write_text(
        'kind = "compare"\nrankers = ["bestfeature", "linear-regression"]\n'
        '[[data]]\nname = "small"\nfiles = "train.txt"\nfolds = [1]\n'
    )
    topics = folder / "topics.csv"
    topics.write_text("id,query\nq1,wings\n")
    run("train listnet --train train.txt --out a.model", folder, check=True)
    run(
        "label import --name p --topics topics.csv --documents docs.jsonl --database labels.db",
        folder,
        check=True,
    )


FAULTY = """
import os, signal, sys
fault, sys.argv = sys.argv[1], ["topkit", *sys.argv[2:]]
real = {name: getattr(os, name) for name in ("replace", "rename")}

def faulty(name):
    def call(*arguments, **options):
        if fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise MemoryError
    return call

if fault in ("kill", "memory"):
    for name in real:
        setattr(os, name, faulty(name))
from topkit.cli import main
main()
"""
"""Runs a command line with a fault at the moment when a finished file takes its place."""


@dataclass(frozen=True)
class Finished:
    """The end of a command."""

    code: int
    output: str


def run(line: str, folder: Path, fault: str = "none", *, check: bool = False) -> Finished:
    """Run a command line in a folder."""
    process = start(line, folder, fault)
    output, _ = process.communicate(timeout=300)
    assert not check or process.returncode == 0, output
    return Finished(process.returncode, output)


def start(line: str, folder: Path, fault: str = "none") -> subprocess.Popen[str]:
    """Start a command line in a folder, on one thread."""
    threads = {f"{name}_THREADS": "1" for name in ("TOPKIT", "OMP_NUM", "OPENBLAS_NUM")}
    return subprocess.Popen(
        [sys.executable, "-c", FAULTY, fault, *line.split()],
        cwd=folder,
        env=os.environ | threads,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def files_in(folder: Path) -> set[str]:
    """All files and folders below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}
