"""The measures, one file a family; METRICS is the list of them all."""

from __future__ import annotations

from topkit.metrics.measure import Measure
from topkit.metrics.measures.dcg import dcg, kappa_ndcg, ndcg
from topkit.metrics.measures.err import err, err_tm, kappa_err
from topkit.metrics.measures.precision import average_precision, precision, r_precision, recall, success
from topkit.metrics.measures.reciprocal import reciprocal_page_rank, reciprocal_rank

METRICS: dict[str, Measure] = {
    "ndcg": Measure("normalised discounted cumulative gain", ndcg),
    "dcg": Measure("discounted cumulative gain", dcg),
    "err": Measure("expected reciprocal rank", err, settings={"top": None}),
    "err_tm": Measure("expected reciprocal rank over 2^max−1", err_tm, settings={"top": None}),
    "kndcg": Measure("κ-NDCG: NDCG on top-k labels", kappa_ndcg, needs="top-k"),
    "kerr": Measure("κ-ERR: ERR on top-k labels, y_max = k", kappa_err, needs="top-k"),
    "p": Measure("precision", precision, settings={"rel": None}),
    "recall": Measure("recall", recall, settings={"rel": None}),
    "success": Measure("1 if anything relevant is found", success, settings={"rel": None}),
    "map": Measure("average precision", average_precision, settings={"rel": None}),
    "rprec": Measure("precision at mult·R", r_precision, "never", settings={"mult": 1, "rel": None}),
    "rr": Measure("reciprocal rank of the first relevant document", reciprocal_rank, settings={"rel": None}),
    "rpr": Measure(
        "reciprocal of the first page with a relevant document",
        reciprocal_page_rank,
        settings={"page": 10, "rel": None},
    ),
}
"""Every measure by name."""

ALIASES: dict[str, str] = {
    "ap": "map",
    "map_cut": "map",
    "mrpr": "rpr",
    "mrr": "rr",
    "ndcg_cut": "ndcg",
    "p_cut": "p",
    "precision": "p",
    "recip_rank": "rr",
    "rprec_mult": "rprec",
    "set_p": "p",
    "set_recall": "recall",
}
"""Other names in use, each for a name of METRICS."""
