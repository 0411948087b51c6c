"""The measures, one file a family; METRICS is the list of them all."""

from __future__ import annotations

from topkit.metrics.measure import Measure
from topkit.metrics.measures.binary_preference import bpref, inferred_ap
from topkit.metrics.measures.cascade import err, err_tm, kappa_err
from topkit.metrics.measures.clicks import s_clicks
from topkit.metrics.measures.counts import relevant, relevant_returned, returned, unjudged
from topkit.metrics.measures.discounted_gain import dcg, kappa_ndcg, mean_ndcg, ndcg
from topkit.metrics.measures.exact import top_k_loss
from topkit.metrics.measures.f_measure import f1
from topkit.metrics.measures.pairs import auc, kendall_tau, weighted_kendall_tau
from topkit.metrics.measures.preference import nwppref, ppref, rpref
from topkit.metrics.measures.rank_biased import compatibility, rank_biased_precision
from topkit.metrics.measures.recall_curve import eleven_point_average, interpolated_precision
from topkit.metrics.measures.reciprocal import reciprocal_page_rank, reciprocal_rank
from topkit.metrics.measures.relevant_found import average_precision, precision, r_precision, recall, success

_REL = {"rel": None}
"""Binary measures take the smallest relevant label as a setting; by default it is the convention's."""

METRICS: dict[str, Measure] = {
    "ndcg": Measure("normalised discounted cumulative gain", ndcg),
    "dcg": Measure("discounted cumulative gain", dcg),
    "mean_ndcg": Measure("mean of NDCG@1..n", mean_ndcg, "never"),
    "kndcg": Measure("κ-NDCG: NDCG on top-k labels", kappa_ndcg, needs="top-k"),
    "err": Measure("expected reciprocal rank", err, settings={"top": None}),
    "err_tm": Measure("expected reciprocal rank over 2^top−1", err_tm, settings={"top": None}),
    "kerr": Measure("κ-ERR: ERR on top-k labels", kappa_err, needs="top-k"),
    "p": Measure("precision", precision, settings=_REL),
    "recall": Measure("recall", recall, settings=_REL),
    "f1": Measure("F1 at a depth or threshold", f1, settings={"threshold": None, **_REL}),
    "success": Measure("1 if anything relevant is found", success, settings=_REL),
    "map": Measure("average precision", average_precision, settings=_REL),
    "gm_map": Measure(
        "average precision, geometric mean", average_precision, settings=_REL, average="geometric"
    ),
    "rprec": Measure("precision at mult·R", r_precision, "never", settings={"mult": 1, **_REL}),
    "rr": Measure("reciprocal rank", reciprocal_rank, settings=_REL),
    "rpr": Measure("reciprocal page rank", reciprocal_page_rank, settings={"page": 10, **_REL}),
    "rbp": Measure("rank-biased precision", rank_biased_precision, settings={"p": 0.8, **_REL}),
    "iprec": Measure(
        "interpolated precision", interpolated_precision, "never", settings={"recall": 0, **_REL}
    ),
    "iprec_avg": Measure(
        "11-point mean of interpolated precision", eleven_point_average, "never", settings=_REL
    ),
    "bpref": Measure("binary preference", bpref, "never", settings=_REL),
    "gm_bpref": Measure(
        "binary preference, geometric mean", bpref, "never", settings=_REL, average="geometric"
    ),
    "infap": Measure("inferred average precision", inferred_ap, "never", settings=_REL),
    "compat": Measure(
        "Compatibility: rank-biased overlap with the ideal", compatibility, settings={"p": 0.95}
    ),
    "auc": Measure("area under the ROC curve", auc, "never", settings=_REL),
    "tau": Measure("Kendall's τ_b of labels and scores", kendall_tau, "never"),
    "wkt": Measure(
        "weighted Kendall's τ, a loss", weighted_kendall_tau, greater_is_better=False, needs="order"
    ),
    "loss01": Measure("top-k 0-1 loss", top_k_loss, greater_is_better=False),
    "ppref": Measure("precision of preferences", ppref, needs="preferences"),
    "rpref": Measure("recall of preferences", rpref, needs="preferences"),
    "nwppref": Measure("weighted precision of preferences", nwppref, needs="preferences"),
    "sclicks": Measure("discounted clicks over examinations", s_clicks, "never", needs="clicks"),
    "unjudged": Measure("share of documents nobody judged", unjudged, greater_is_better=False),
    "num_ret": Measure("documents returned", returned, "never", average="sum"),
    "num_rel": Measure("relevant documents known", relevant, "never", settings=_REL, average="sum"),
    "num_rel_ret": Measure(
        "relevant documents returned", relevant_returned, "never", settings=_REL, average="sum"
    ),
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
"""Other names in use, each for a name of METRICS."""
