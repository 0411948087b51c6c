"""A short run of the fuzzer on every reader, and the inputs that once failed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from bench.fuzz import self_test
from bench.fuzz.__main__ import shares
from bench.fuzz.models import KINDS
from bench.fuzz.runner import fuzz, replay_files
from bench.fuzz.smaller import make_smaller
from bench.fuzz.target import Prepared
from bench.fuzz.targets import SELF_TESTS, TARGETS

from topkit.rankers import MODELS

CORPUS = Path(__file__).parent.parent / "fuzz_corpus"
INPUTS = 20_000
"""Inputs of the short run, which takes about two minutes on two cores that do nothing else."""
KNOWN: dict[str, str] = {}
"""Targets with a known failure, and its reason."""


def _known(names: Iterable[str], *, strict: bool) -> list[Any]:
    return [
        pytest.param(name, marks=pytest.mark.xfail(reason=KNOWN[name], strict=strict))
        if name in KNOWN
        else name
        for name in names
    ]


@pytest.mark.slow
@pytest.mark.skipif(
    os.environ.get("TOPKIT_FUZZ") != "all",
    reason="takes minutes; set TOPKIT_FUZZ=all",
)
@pytest.mark.parametrize("name", _known(TARGETS, strict=False))
def test_damaged_input_is_refused_with_a_message(name: str, tmp_path: Path) -> None:
    seed = os.environ.get("TOPKIT_FUZZ_SEED", "1")
    tally = fuzz(name, shares(list(TARGETS), INPUTS)[name], seed, tmp_path / "failures")
    assert not tally.failed, f"seed {seed}: {tally.problem or list(tally.failures.values())}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", _known(sorted(folder.name for folder in CORPUS.iterdir() if folder.is_dir()), strict=True)
)
def test_inputs_that_once_failed_no_longer_do(name: str, tmp_path: Path) -> None:
    """A file whose name ends in .valid must be read; the others may be read or refused."""
    results = replay_files(name, sorted((CORPUS / name).iterdir()), tmp_path)
    assert [result for result in results if result[1] not in ("accepted", "refused")] == []


@pytest.mark.slow
def test_topics_that_never_end_are_read_in_linear_time(tmp_path: Path) -> None:
    """36,000 lines of topics without an end once took longer than the time limit."""
    path = tmp_path / "topics-without-end"
    path.write_text("<top>\n<num> 1\n<title> x\n" * 12_000)
    results = replay_files("topics", [path], tmp_path)
    assert [result[1] for result in results] in (["accepted"], ["refused"])


def test_every_kind_of_model_is_a_target() -> None:
    assert set(KINDS) == set(MODELS)


def test_the_same_seed_gives_the_same_inputs(tmp_path: Path) -> None:
    prepared = TARGETS["qrels"].prepare(tmp_path)
    inputs = [[prepared.input_of(Random(f"a/{i}")) for i in range(50)] for _ in range(2)]
    assert inputs[0] == inputs[1]
    assert len({content for content, _ in inputs[0]}) > 40


def test_a_failing_input_is_made_smaller(tmp_path: Path) -> None:
    def check(content: bytes, valid: bool) -> None:
        if b"x" in content:
            raise KeyError("x")

    path = tmp_path / "input"
    path.write_bytes(b"a" * 100 + b"x" + b"b" * 55)
    make_smaller(Prepared(check, lambda rng: b""), path, seconds=60)
    assert path.read_bytes() == b"x"


def test_shares_add_up_to_all_inputs() -> None:
    given = shares(list(TARGETS), 10_000)
    assert abs(sum(given.values()) - 10_000) < len(TARGETS)
    assert min(given.values()) >= 1


def test_crashes_are_attributed_to_their_input_and_the_rest_still_runs(tmp_path: Path) -> None:
    """The expected counts come from the inputs themselves."""
    prepared = SELF_TESTS["self-test"].prepare(tmp_path)
    inputs = [prepared.input_of(Random(f"v/self-test/{i}"))[0] for i in range(40)]
    tally = fuzz("self-test", 40, "v", tmp_path / "failures")
    assert tally.tried == 40
    assert tally.counts["crash"] == inputs.count(self_test.CRASH) > 0
    assert tally.counts["raw"] == inputs.count(self_test.RAW) > 0
    assert tally.counts["refused"] == inputs.count(self_test.REFUSED) > 0
    assert tally.counts["difference"] == inputs.count(self_test.DIFFERENT) > 0
    assert {path.read_bytes() for path in (tmp_path / "failures").iterdir()} == {
        b"crash",
        b"raw",
        b"different",
    }
