"""The measures, one file per family; METRICS lists them all."""

from __future__ import annotations

from topkit.metrics.measure import Measure
from topkit.metrics.measures.binary_preference import bpref, inferred_ap
from topkit.metrics.measures.calibration import expected_calibration_error
from topkit.metrics.measures.cascade import compiled_err, compiled_kappa_err, err, err_tm, kappa_err
from topkit.metrics.measures.clicks import s_clicks
from topkit.metrics.measures.counts import relevant, relevant_returned, returned, unjudged
from topkit.metrics.measures.discounted_gain import (
    compiled_kappa_ndcg,
    compiled_ndcg,
    dcg,
    kappa_ndcg,
    mean_ndcg,
    ndcg,
)
from topkit.metrics.measures.exact import top_k_loss
from topkit.metrics.measures.f_measure import f1
from topkit.metrics.measures.pairs import (
    auc,
    kendall_tau,
    normalised_weighted_kendall_tau,
    weighted_kendall_tau,
)
from topkit.metrics.measures.preference import nwppref, ppref, rpref
from topkit.metrics.measures.rank_biased import compatibility, rank_biased_precision
from topkit.metrics.measures.recall_curve import eleven_point_average, interpolated_precision
from topkit.metrics.measures.reciprocal import compiled_reciprocal_rank, reciprocal_page_rank, reciprocal_rank
from topkit.metrics.measures.relevant_found import (
    average_precision,
    compiled_average_precision,
    compiled_precision,
    precision,
    r_precision,
    recall,
    success,
)

METRICS: dict[str, Measure] = {
    "ndcg": Measure("normalised discounted cumulative gain", ndcg, compiled=compiled_ndcg),
    "dcg": Measure("discounted cumulative gain", dcg),
    "mean_ndcg": Measure("mean of NDCG@1..n", mean_ndcg, "never"),
    "kndcg": Measure("κ-NDCG: NDCG on top-k labels", kappa_ndcg, needs="top-k", compiled=compiled_kappa_ndcg),
    "err": Measure("expected reciprocal rank", err, compiled=compiled_err),
    "err_tm": Measure("expected reciprocal rank over 2^top−1", err_tm),
    "kerr": Measure("κ-ERR: ERR on top-k labels", kappa_err, needs="top-k", compiled=compiled_kappa_err),
    "p": Measure("precision", precision, compiled=compiled_precision),
    "recall": Measure("recall", recall),
    "f1": Measure("F1 at a depth or threshold", f1),
    "success": Measure("1 if any relevant document is returned", success),
    "map": Measure("average precision", average_precision, compiled=compiled_average_precision),
    "gm_map": Measure("average precision, geometric mean", average_precision, average="geometric"),
    "rprec": Measure("precision at mult·R", r_precision, "never"),
    "rr": Measure("reciprocal rank", reciprocal_rank, compiled=compiled_reciprocal_rank),
    "rpr": Measure("reciprocal page rank", reciprocal_page_rank),
    "rbp": Measure("rank-biased precision", rank_biased_precision),
    "iprec": Measure("interpolated precision", interpolated_precision, "never"),
    "iprec_avg": Measure("11-point mean of interpolated precision", eleven_point_average, "never"),
    "bpref": Measure("binary preference", bpref, "never"),
    "gm_bpref": Measure("binary preference, geometric mean", bpref, "never", average="geometric"),
    "infap": Measure("inferred average precision", inferred_ap, "never"),
    "compat": Measure("Compatibility: rank-biased overlap with the ideal", compatibility),
    "auc": Measure("area under the ROC curve", auc, "never"),
    "tau": Measure("Kendall's τ_b of labels and scores", kendall_tau, "never"),
    "wkt": Measure(
        "weighted Kendall's τ, a loss", weighted_kendall_tau, greater_is_better=False, needs="order"
    ),
    "nwkt": Measure(
        "weighted Kendall's τ over the ideal DCG, a loss",
        normalised_weighted_kendall_tau,
        greater_is_better=False,
        needs="order",
    ),
    "loss01": Measure("top-k 0-1 loss", top_k_loss, greater_is_better=False),
    "ece": Measure(
        "expected calibration error of the scores, a loss",
        expected_calibration_error,
        "never",
        greater_is_better=False,
    ),
    "ppref": Measure("precision of preferences", ppref, needs="preferences"),
    "rpref": Measure("recall of preferences", rpref, needs="preferences"),
    "nwppref": Measure("weighted precision of preferences", nwppref, needs="preferences"),
    "sclicks": Measure("discounted clicks over examinations", s_clicks, "never", needs="clicks"),
    "unjudged": Measure("share of unjudged documents", unjudged, greater_is_better=False),
    "num_ret": Measure("documents returned", returned, "never", average="sum"),
    "num_rel": Measure("relevant documents known", relevant, "never", average="sum"),
    "num_rel_ret": Measure("relevant documents returned", relevant_returned, "never", average="sum"),
}
"""Every measure by name."""

ALIASES: dict[str, str] = {
    "11pt_avg": "iprec_avg",
    "ap": "map",
    "iprec_at_recall": "iprec",
    "map_cut": "map",
    "mrpr": "rpr",
    "mrr": "rr",
    "ndcg_cut": "ndcg",
    "precision": "p",
    "recip_rank": "rr",
    "rprec_mult": "rprec",
    "set_f": "f1",
    "set_p": "p",
    "set_recall": "recall",
    "unj": "unjudged",
}
"""Other names in use → the name in METRICS."""
