"""Damage to .npy files that stay .npy files: other values, shapes and types."""

from __future__ import annotations

import io
import tokenize
import warnings
from random import Random

import numpy as np

from bench.fuzz.mutate import mutate

VALUES = (0, 1, -1, 2, 3, 7, 100, 10_000, -(2**31), 2**31 - 1, 2**40, -(2**62), 0.5, 1e30, -1e30)
NOT_FINITE = (np.nan, np.inf, -np.inf)
TYPES = ("<f4", "<f8", "<f2", "<i4", "<i8", "<u1", "<u8", "|b1", "<c16", "<U3", "|S2", ">f8", "<M8[s]", "|V4")


def damaged_array(rng: Random, content: bytes) -> bytes:
    """An .npy file with another value, shape or type; sometimes its bytes are damaged instead."""
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False).copy()
    except (ValueError, OSError, EOFError, SyntaxError, MemoryError, tokenize.TokenError):
        return mutate(rng, content)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            changed = _changed(rng, array)
        except (ValueError, TypeError, OverflowError):
            return mutate(rng, content)
    stream = io.BytesIO()
    np.save(stream, changed, allow_pickle=False)
    return stream.getvalue()


def _changed(rng: Random, array: np.ndarray) -> np.ndarray:
    change = rng.randrange(8)
    flat = array.reshape(-1)
    if change <= 2 and flat.size:
        for _ in range(rng.choice((1, 1, 3))):
            place = rng.randrange(flat.size)
            wrong = rng.choice((*VALUES, *NOT_FINITE)) if array.dtype.kind == "f" else rng.choice(VALUES)
            flat[place : place + 1] = np.array([wrong]).astype(array.dtype)
        return array
    if change == 3:
        return array.astype(rng.choice(TYPES))
    if change == 4:
        return rng.choice(
            (flat[: flat.size // 2], flat[:0], np.concatenate([flat, flat]), flat[:1], flat[:-1])
        )
    if change == 5:
        return rng.choice((array[..., None], array.reshape(1, *array.shape), array.T, flat, np.array(3)))
    if change == 6 and flat.size:
        return np.sort(flat)[:: rng.choice((1, -1))].reshape(array.shape)
    return np.full(array.shape, rng.choice(VALUES)).astype(array.dtype)
