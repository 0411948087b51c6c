"""Why an engine cannot take a model: what is asked of every model before it is written for one."""

from __future__ import annotations

from topkit.data import InputError
from topkit.export.forms import Portable, TreesForm


def refuse_normalisation(what: Portable, engine: str) -> None:
    """Raise if features are normalised within a query: an engine scores each document by itself."""
    if what.normalisation != "none":
        raise InputError(
            f"the ranker {what.ranker!r} normalises features within each query ({what.normalisation}), and "
            f"{engine} scores one document at a time without knowing the others",
            "train it with normalise=none (--set normalise=none), or export to onnx, which takes a query's "
            "candidates together",
        )


def refuse_learnt_missing(what: Portable, engine: str) -> None:
    """Raise if trees send missing features another way than zeros: the engine knows zeros only."""
    if isinstance(what.form, TreesForm) and what.form.learnt_missing:
        raise InputError(
            f"the trees of {what.ranker!r} treat a missing feature differently from 0, and {engine} "
            "gives a missing feature as 0",
            "train on data with 0 for missing features, or export to onnx or elasticsearch",
        )
