"""Softmax losses with the labels as weights of the documents: plain, PolyLoss, scale-calibrated, by grade."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from topkit.compute import Floats, Ints
from topkit.data.settings import Setting
from topkit.losses.base import Block, Column, weighted
from topkit.losses.listwise import Choices, all_choices
from topkit.losses.pointwise import gains


def softmax(scores: Floats, masses: Floats, ptr: Ints, *, curved: bool) -> Block:
    """Softmax: cross entropy with the labels as masses, −Σ_i y_i · log softmax(s)_i.

    ListNet has the softmax of the labels in place of the labels, so irrelevant documents (y = 0) attract
    there and not here. The loss of a query without a relevant document is 0. Linear in the length of the
    list. Equal to ``rax.softmax_loss``. Bruch et al., ICTIR 2019.

    Use it for clicks and binary relevance, and as the fastest listwise loss on grades. Not for labels below
    0, and not for full orders, where `listmle` uses every place.
    """
    return poly_softmax(scores, masses, ptr, curved=curved, epsilon=0.0)


def poly_softmax(
    scores: Floats,
    masses: Floats,
    ptr: Ints,
    *,
    curved: bool,
    epsilon: Annotated[float, Setting("ε, the weight of the term that PolyLoss adds.", low=0.0)] = 1.0,
) -> Block:
    """PolyLoss softmax (poly-1): the softmax loss plus ε·(1 − Σ_i y_i/Σy · softmax(s)_i).

    ε = 0 gives ``softmax``. The added term is not convex; its share of the curvature is a positive
    substitute. A query without a relevant document has a loss of 0 (rax adds ε·(1 − 1/n), a constant). Linear
    in the length of the list. Otherwise equal to ``rax.poly1_softmax_loss``. Leng et al., ICLR 2022.

    Use it if `softmax` already works, to tune how much confident documents count. Not without validation
    data for ε.
    """
    from topkit.losses.softmax import kernels

    block: Block = kernels.cross_entropy(scores, masses, ptr, epsilon, 0.0, curved)
    return block


def calibrated_softmax(
    scores: Floats,
    masses: Floats,
    ptr: Ints,
    *,
    curved: bool,
    anchor: Annotated[float, Setting("Label of the virtual document with score 0.", above=0.0)] = 1.0,
) -> Block:
    """Scale-calibrated softmax: the softmax loss of the list and one more document with score 0.

    −Σ_i y_i · log(e^s_i / (1 + Σ_j e^s_j)) + y₀ · log(1 + Σ_j e^s_j), with y₀ the label of the added
    document (``anchor``). The minimum is at e^s_i = y_i/y₀, so y₀·e^s estimates the label, and scores of
    different queries can be compared. Linear in the length of the list. Yan et al., KDD 2022.

    Use it if scores should mean the same in every query, for thresholds and for mixing with other systems.
    Not if only the order within a query counts: `softmax` has one constraint less.
    """
    from topkit.losses.softmax import kernels

    block: Block = kernels.cross_entropy(scores, masses, ptr, 0.0, anchor, curved)
    return block


class GradedChoices(NamedTuple):
    """The documents above the lowest label of their query, best first, and the gain of each."""

    choices: Choices
    gains: Floats


def uni_softmax(scores: Floats, graded: GradedChoices, ptr: Ints, *, curved: bool) -> Block:
    """Uni-softmax: each document against all documents with a lower label.

    −Σ_i (2^y_i − 1) · log(e^s_i / (e^s_i + Σ_{j: y_j<y_i} e^s_j)). Documents with equal labels do not
    compete. Linear in the length of the list after the labels are sorted once. Equal to
    ``rax.unique_softmax_loss``. Zhu & Klabjan, WSDM 2020.

    Use it for grades with many ties, where `softmax` makes relevant documents compete with each other. Not
    for labels above 1,000, whose gains overflow.
    """
    from topkit.losses.softmax import kernels

    block: Block = kernels.against_lower_labels(scores, graded.choices, graded.gains, ptr, curved)
    return block


def label_masses(labels: Floats, ptr: Ints, *, document_weights: Column = None) -> Floats:
    """The labels times the weights of their documents."""
    return weighted(labels, document_weights)


def graded_choices(labels: Floats, ptr: Ints, *, document_weights: Column = None) -> GradedChoices:
    """The documents above the lowest label; the gain of a document is multiplied by its weight."""
    return GradedChoices(all_choices(labels, ptr), weighted(gains(labels), document_weights))
