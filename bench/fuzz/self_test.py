"""A target that fails in known ways, so that the tests can see that the harness notices."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from random import Random

from bench.fuzz.target import DifferenceError, Prepared

CRASH, RAW, REFUSED, DIFFERENT = b"crash", b"raw", b"refused", b"different"
INPUTS = (CRASH, RAW, RAW, REFUSED, REFUSED, DIFFERENT, DIFFERENT, b"good")


def prepare(folder: Path) -> Prepared:
    """Each input says how it fails."""
    from topkit.data import InputError

    def check(content: bytes, valid: bool) -> None:
        if content == CRASH:
            if (folder / "warm").exists():
                os.kill(os.getpid(), signal.SIGSEGV)
        elif content == RAW:
            raise KeyError(content)
        elif content == REFUSED:
            raise InputError("refused")
        elif content == DIFFERENT:
            raise DifferenceError("different")

    def damage(rng: Random, content: bytes) -> bytes:
        (folder / "warm").touch()  # inputs before this one warm the target up
        return rng.choice(INPUTS)

    return Prepared(check, lambda rng: b"good", damage=damage, valid_share=0.4)
