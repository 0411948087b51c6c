"""Losses as PyTorch modules: ``RankingLoss("topk-listmle", k=10)(scores, labels, ptr)``. Needs ``torch``."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from topkit.compute import require
from topkit.losses import loss


def __getattr__(name: str) -> Any:
    """``RankingLoss`` is made on first use, because its base class is PyTorch's."""
    if name == "RankingLoss":
        return _ranking_loss()
    raise AttributeError(f"module 'topkit.torch' has no attribute {name!r}")


@cache
def _ranking_loss() -> type:
    torch = require("torch", "torch")

    class Slope(torch.autograd.Function):  # type: ignore[misc, name-defined]
        """The value of a loss, with the gradient that topkit computes."""

        @staticmethod
        def forward(ctx: Any, scores: Any, labels: Any, ptr: Any, chosen: Any) -> Any:
            value, gradient = chosen(scores.detach().cpu().double().numpy(), labels, ptr)
            ctx.save_for_backward(torch.from_numpy(gradient).to(scores))
            return scores.new_tensor(value)

        @staticmethod
        def backward(ctx: Any, upstream: Any) -> Any:
            (gradient,) = ctx.saved_tensors
            return upstream * gradient, None, None, None

    class RankingLoss(torch.nn.Module):  # type: ignore[misc, name-defined]
        """Any loss of ``tk.LOSSES``, summed over queries; query q is rows ``ptr[q]:ptr[q+1]``."""

        def __init__(self, name: str, **settings: Any) -> None:
            super().__init__()
            self.name, self.settings = name, settings
            self.loss = loss(name, **settings)

        def forward(self, scores: Any, labels: Any, ptr: Any) -> Any:
            """The loss of scores (one per document) as a scalar tensor."""
            return Slope.apply(scores, _numpy(labels), _numpy(ptr), self.loss)

        def extra_repr(self) -> str:
            return ", ".join([repr(self.name), *(f"{key}={value}" for key, value in self.settings.items())])

    return RankingLoss


def _numpy(values: Any) -> Any:
    return values.detach().cpu().numpy() if hasattr(values, "detach") else np.asarray(values)
