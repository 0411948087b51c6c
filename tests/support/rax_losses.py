"""The losses of rax (JAX) as judges of ours: ``python -m tests.support.rax_losses`` prints the differences.

rax 0.4.0 cannot run ``approx_t12n`` and ``gumbel_t12n`` on JAX 0.10, which has no ``jax.util``; what they do
is written out here with rax's metrics and ``rax.utils.approx_ranks``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import topkit as tk
from topkit.losses.approx import noisy_gains

LISTS, LENGTH = 20, 12

Peer = Callable[[Any, Any, Any], Any]
"""(rax, scores, labels) → one loss per list; the last axis is the list."""


def softmax(rax: Any, scores: Any, labels: Any, **arguments: Any) -> Any:
    return rax.softmax_loss(scores, labels, reduce_fn=None, **arguments)


def poly_softmax(rax: Any, scores: Any, labels: Any) -> Any:
    return rax.poly1_softmax_loss(scores, labels, epsilon=3.0, reduce_fn=None)


def calibrated_softmax(rax: Any, scores: Any, labels: Any, anchor: float) -> Any:
    """The softmax loss of the list and one document with score 0 and the label of the anchor."""
    import jax.numpy as jnp

    wide = [(0, 0)] * (scores.ndim - 1) + [(0, 1)]
    return softmax(rax, jnp.pad(scores, wide), jnp.pad(labels, wide, constant_values=anchor))


def pairs(rax: Any, scores: Any, labels: Any, by: str, **arguments: Any) -> Any:
    import jax.numpy as jnp

    function = partial(getattr(rax, by), **arguments)
    losses = rax.pairwise_logistic_loss(scores, labels, lambdaweight_fn=function, reduce_fn=None)
    return jnp.sum(losses, axis=-1) / (LENGTH if "dcg" in by else 1)


def approximate(rax: Any, scores: Any, labels: Any, name: str, temperature: float = 1.0, **more: Any) -> Any:
    import jax

    ranks = partial(rax.utils.approx_ranks, step_fn=lambda x: jax.nn.sigmoid(x / temperature))
    return 1 - getattr(rax, name)(scores, labels, rank_fn=ranks, reduce_fn=None, **more)


def gumbel(rax: Any, scores: Any, labels: Any, beta: float) -> Any:
    """The mean over our noise: rax draws other noise from its key."""
    import jax.numpy as jnp

    ptr = np.arange(0, labels.size + 1, LENGTH)
    noise = noisy_gains(np.asarray(labels).ravel(), ptr).noise
    perturbed = scores + beta * noise.reshape(-1, *labels.shape)
    return approximate(rax, perturbed, jnp.broadcast_to(labels, perturbed.shape), "ndcg_metric").mean(axis=0)


def pointwise(rax: Any, scores: Any, labels: Any, name: str, highest: float = 1.0) -> Any:
    import jax.numpy as jnp

    return jnp.sum(getattr(rax, name)(scores, labels / highest, reduce_fn=None), axis=-1)


PEERS: list[tuple[str, dict[str, Any], Peer]] = [
    ("softmax", {}, softmax),
    ("poly-softmax", {"epsilon": 3.0}, poly_softmax),
    ("uni-softmax", {}, lambda rax, s, y: rax.unique_softmax_loss(s, y, reduce_fn=None)),
    ("calibrated-softmax", {"anchor": 0.7}, partial(calibrated_softmax, anchor=0.7)),
    ("approxndcg", {}, partial(approximate, name="ndcg_metric")),
    ("approxndcg", {"temperature": 0.3}, partial(approximate, name="ndcg_metric", temperature=0.3)),
    ("approxmrr", {}, partial(approximate, name="mrr_metric")),
    ("gumbel-approxndcg", {"beta": 0.5}, partial(gumbel, beta=0.5)),
    ("lambdaloss", {"scheme": "ndcg-loss2"}, partial(pairs, by="dcg2_lambdaweight", normalize=True)),
    ("lambdaloss", {"scheme": "ndcg-loss2", "k": 4},
     partial(pairs, by="dcg2_lambdaweight", normalize=True, topn=4)),
    ("lambdaloss", {"scheme": "arp-loss2"}, partial(pairs, by="labeldiff_lambdaweight")),
    ("lambdarank", {"k": 4}, partial(pairs, by="dcg_lambdaweight", normalize=True, topn=4)),
    ("regression-compatible", {"alpha": 0.0, "highest": 3.0},
     partial(pointwise, name="pointwise_sigmoid_loss", highest=3.0)),
    ("squared-error", {}, partial(pointwise, name="pointwise_mse_loss")),
]  # fmt: skip
"""Loss, settings, and the same in rax."""

WEIGHTED: list[tuple[str, Callable[..., Any]]] = [
    ("softmax", lambda rax, s, y, w: rax.softmax_loss(s, y, weights=w, reduce_fn=None)),
    ("poly-softmax", lambda rax, s, y, w: rax.poly1_softmax_loss(s, y, weights=w, reduce_fn=None)),
    ("uni-softmax", lambda rax, s, y, w: rax.unique_softmax_loss(s, y, weights=w, reduce_fn=None)),
    ("approxndcg", lambda rax, s, y, w: approximate(rax, s, y, "ndcg_metric", weights=w)),
    ("squared-error", lambda rax, s, y, w: rax.pointwise_mse_loss(s, y, weights=w, reduce_fn=None).sum(-1)),
    ("logistic", lambda rax, s, y, w: rax.pairwise_logistic_loss(s, y, weights=w, reduce_fn=None).sum(-1)),
]
"""The same with document weights."""


def lists() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Scores, grades with at least one above 0, document weights, and bounds of lists of equal length."""
    rng = np.random.default_rng(5)
    scores, weights = rng.normal(size=(LISTS, LENGTH)), rng.uniform(0.1, 3, (LISTS, LENGTH))
    labels = rng.integers(0, 4, (LISTS, LENGTH)).astype(float)
    labels[:, 0] = 2.0
    return scores, labels, weights, np.arange(0, LISTS * LENGTH + 1, LENGTH)


def largest_differences(
    name: str, settings: dict[str, Any], peer: Callable[..., Any], weighted: bool = False
) -> tuple[float, float]:
    """The largest difference of a value and of a slope, each over the size of the largest."""
    import jax
    import rax

    scores, labels, weights, ptr = lists()
    documents = {"document_weights": weights.ravel()} if weighted else {}
    objective = tk.loss(name, **settings).on(labels.ravel(), ptr, **documents)
    with jax.enable_x64(True):
        truth = [jax.numpy.asarray(labels), *([jax.numpy.asarray(weights)] if weighted else [])]
        values, vjp = jax.vjp(lambda s: peer(rax, s, *truth), jax.numpy.asarray(scores))
        slopes = np.asarray(vjp(jax.numpy.ones(LISTS))[0]).ravel()
        expected = np.asarray(values)
    gaps = (
        np.abs(objective.per_query(scores.ravel()) - expected),
        np.abs(objective(scores.ravel())[1] - slopes),
    )
    return float(gaps[0].max() / np.abs(expected).max()), float(gaps[1].max() / np.abs(slopes).max())


def main() -> None:
    print(f"{'loss':24}{'settings':36}{'value':>9}{'gradient':>10}")
    for name, settings, peer in PEERS:
        value, gradient = largest_differences(name, settings, peer)
        print(f"{name:24}{settings or ''!s:36}{value:9.0e}{gradient:10.0e}")
    for name, weighted_peer in WEIGHTED:
        value, gradient = largest_differences(name, {}, weighted_peer, weighted=True)
        print(f"{name:24}{'document weights':36}{value:9.0e}{gradient:10.0e}")


if __name__ == "__main__":
    main()
