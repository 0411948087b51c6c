"""Checks of a model before it is written for a search engine, with the reason if it is not supported."""

from __future__ import annotations

from topkit.data import InputError
from topkit.export.forms import Portable, TreesForm


def refuse_normalisation(what: Portable, engine: str) -> None:
    """Raise if features are normalised within a query: an engine scores each document separately."""
    if what.normalisation != "none":
        raise InputError(
            f"the ranker {what.ranker!r} normalises features within each query ({what.normalisation}), but "
            f"{engine} scores each document separately",
            "train it with normalise=none (--set normalise=none), or export to onnx, which scores all "
            "candidates of a query together",
        )


def refuse_learnt_missing(what: Portable, engine: str) -> None:
    """Raise if trees treat missing features differently from 0, which the engine cannot do."""
    if isinstance(what.form, TreesForm) and what.form.learnt_missing:
        raise InputError(
            f"the trees of {what.ranker!r} treat a missing feature differently from 0, but {engine} "
            "replaces missing features by 0",
            "train on data with 0 for missing features, or export to onnx or elasticsearch",
        )
