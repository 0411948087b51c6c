"""What cannot be trained in parts, and why."""

from __future__ import annotations

from topkit.data import InputError
from topkit.data.partitions import Plan
from topkit.metrics import convention
from topkit.rankers import Learner
from topkit.rankers.by_name import Gradient
from topkit.rankers.pieces import InPieces
from topkit.scale.gradient import LinearGradient
from topkit.scorers import LinearScorer, NeuralScorer, TreeScorer

REASONS = {
    "ranksvm-rbf": "its kernel compares every document with every other",
    "svr": "its kernel compares every document with every other",
    "sortnet": "it is a network, which is trained on batches in a random order",
    "perceptron": "it updates its weights pair by pair, in one order",
    "click-label": "it learns from a stream of pages, one after the other",
    "qbrank": "LightGBM grows each of its trees on all documents",
    "isorank": "LightGBM grows each of its trees on all documents",
    "tune-and-mix": "each of its members needs all documents; with --dask, the members are divided",
    "mcrank": "LightGBM grows each of its trees on all documents",
}
"""Why a ranker needs all documents in one process."""


def method_in_pieces(learner: Learner, *, spread: bool) -> InPieces | None:
    """The method of a ranker if it can be trained in pieces; None for trees, which LightGBM spreads itself.

    InputError with the reason if it cannot be trained in parts.
    """
    method = learner.method
    if isinstance(method, Gradient):
        if method.loss.pairs_given:
            raise _no_preferences()
        scorer = method.scorer
        if isinstance(scorer, LinearScorer) and scorer.optimiser == "lbfgs":
            return LinearGradient(method.loss.name, method.loss.settings, scorer, method.draws_order)
        if isinstance(scorer, TreeScorer) and spread:
            return None
        raise _other_scorer(scorer, spread=spread)
    if not isinstance(method, InPieces):
        reason = REASONS.get(learner.name, "its training is not a sum over queries")
        raise InputError(
            f"the ranker {learner.name!r} cannot be trained in parts: {reason}",
            "train it in memory, or use a ranker such as topk-listmle, ranksvm or rankboost",
        )
    if getattr(method, "pairs", None) == "given":
        raise _no_preferences()
    if method.measures_training and not spread and convention(learner.common.convention).ties == "document":
        raise InputError(
            f"the convention {learner.common.convention!r} sorts ties by document id, "
            "which the scratch file of --memory does not hold",
            "set another convention, or train with --dask",
        )
    return method


def _no_preferences() -> InputError:
    return InputError("training in parts does not support preferences", "learn from labels")


def _other_scorer(scorer: object, *, spread: bool) -> InputError:
    if isinstance(scorer, TreeScorer):
        problem = "trees cannot be trained out of core: LightGBM needs the bins of all documents in memory"
    elif isinstance(scorer, NeuralScorer | LinearScorer):
        problem = (
            "networks and Adam cannot be trained in parts: they take many small steps on batches in a random "
            "order, and each step would move all weights"
        )
    else:
        problem = "a scorer object cannot be trained in parts"
    return InputError(
        problem,
        "use scorer=linear with optimiser=lbfgs" + (" or trees" if spread else ", or trees with --dask"),
    )


def nothing_to_learn(plan: Plan) -> InputError:
    """The error for a file in which no query has an order."""
    return InputError(
        "no query has documents with different labels, so there is no order to learn",
        "check the column label",
        file=plan.path,
    )
