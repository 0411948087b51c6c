"""What a target of the fuzzer is: how to make an input, and what to do with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from bench.fuzz.mutate import mutate

Check = Callable[[bytes, bool], None]
"""Read an input. The second argument says whether the input is valid, so that an oracle must agree.

Raises an expected error for invalid input, :class:`DifferenceError` if an oracle disagrees; anything else is
a failure.
"""


class DifferenceError(Exception):
    """The input was read, but to something else than the oracle says."""


@dataclass(frozen=True)
class Prepared:
    """A target that is ready to run: its files are written and its models are trained."""

    check: Check
    generate: Callable[[Random], bytes]
    """A valid input."""
    words: Sequence[bytes] = ()
    """Words of the format that mutations insert."""
    damage: Callable[[Random, bytes], bytes] | None = None
    """A mutation that knows the format; used for half of the mutated inputs."""
    valid_share: float = 0.25
    """Share of inputs that are not mutated."""

    def input_of(self, rng: Random) -> tuple[bytes, bool]:
        """An input, and whether it is valid."""
        content = self.generate(rng)
        if rng.random() < self.valid_share:
            return content, True
        if self.damage is not None and rng.random() < 0.6:
            return self.damage(rng, content), False
        return mutate(rng, content, self.words), False


@dataclass(frozen=True)
class Target:
    """A reader, and its share of all inputs."""

    prepare: Callable[[Path], Prepared]
    """Gets a folder for its files; what it finds there it may use again, so that a restart is fast."""
    weight: float = 1.0


def expected_errors() -> tuple[type[Exception], ...]:
    """The exceptions that say what is wrong with an input."""
    from topkit.data import InputError
    from topkit.serving.refusal import RefusedError

    return InputError, RefusedError
