"""From a corpus to a data set: index, features, candidates, audit, sentence selection."""

from topkit.features.analyser import STOP_WORDS, Analyser
from topkit.features.assemble import Card, build_dataset, write_card, write_meta
from topkit.features.audit import Audit, audit
from topkit.features.build import build_index
from topkit.features.candidates import SAMPLING, Sample, sample
from topkit.features.corpus import (
    FORMATS,
    Document,
    read_cranfield_qrels,
    read_documents,
    read_queries,
)
from topkit.features.extraction import Meta, bm25_from_meta, extract, meta_features
from topkit.features.index import Index, Stream, open_index
from topkit.features.matches import Candidates, Matches, Queries, analyse_queries
from topkit.features.tables import FEATURES, LINK_FEATURES, SETS, feature_names

__all__ = [
    "FEATURES",
    "FORMATS",
    "LINK_FEATURES",
    "SAMPLING",
    "SETS",
    "STOP_WORDS",
    "Analyser",
    "Audit",
    "Candidates",
    "Card",
    "Document",
    "Index",
    "Matches",
    "Meta",
    "Queries",
    "Sample",
    "Stream",
    "analyse_queries",
    "audit",
    "bm25_from_meta",
    "build_dataset",
    "build_index",
    "extract",
    "feature_names",
    "meta_features",
    "open_index",
    "read_cranfield_qrels",
    "read_documents",
    "read_queries",
    "sample",
    "write_card",
    "write_meta",
]
