"""From a corpus to a data set: index, features, candidates, audit, sentence selection."""

from topkit.features.analyser import STOP_WORDS, Analyser
from topkit.features.assemble import NoCandidatesError, build_dataset
from topkit.features.audit import audit_dataset
from topkit.features.audit_report import Audit
from topkit.features.build import build_index
from topkit.features.candidates import SAMPLING, Sample, sample
from topkit.features.card import Card, write_card
from topkit.features.collection import Collection, Documents
from topkit.features.corpus import (
    FORMATS,
    Document,
    read_cranfield_qrels,
    read_documents,
)
from topkit.features.extraction import extract
from topkit.features.filtering import (
    Kept,
    best_depth,
    best_threshold,
    keep_depth,
    keep_threshold,
    kept_quality,
)
from topkit.features.index import Index, Stream
from topkit.features.index_files import open_index
from topkit.features.links import LinkGraph, hits, host_rank, pagerank, read_links
from topkit.features.matches import Candidates, Matches, Queries, analyse_queries
from topkit.features.meta import Meta, bm25_from_meta, meta_features, write_meta
from topkit.features.propagation import link_features
from topkit.features.queries import read_queries
from topkit.features.sentence_files import read_sentence_pairs
from topkit.features.sentences import (
    SENTENCE_FEATURES,
    Background,
    Judged,
    Language,
    Selected,
    best_sentences,
    highlight,
    sentence_dataset,
    sentence_features,
    split_sentences,
)
from topkit.features.synonyms import read_synonyms
from topkit.features.tables import FEATURES, LINK_FEATURES, SETS, feature_names

__all__ = [
    "FEATURES",
    "FORMATS",
    "LINK_FEATURES",
    "SAMPLING",
    "SENTENCE_FEATURES",
    "SETS",
    "STOP_WORDS",
    "Analyser",
    "Audit",
    "Background",
    "Candidates",
    "Card",
    "Collection",
    "Document",
    "Documents",
    "Index",
    "Judged",
    "Kept",
    "Language",
    "LinkGraph",
    "Matches",
    "Meta",
    "NoCandidatesError",
    "Queries",
    "Sample",
    "Selected",
    "Stream",
    "analyse_queries",
    "audit_dataset",
    "best_depth",
    "best_sentences",
    "best_threshold",
    "bm25_from_meta",
    "build_dataset",
    "build_index",
    "extract",
    "feature_names",
    "highlight",
    "hits",
    "host_rank",
    "keep_depth",
    "keep_threshold",
    "kept_quality",
    "link_features",
    "meta_features",
    "open_index",
    "pagerank",
    "read_cranfield_qrels",
    "read_documents",
    "read_links",
    "read_queries",
    "read_sentence_pairs",
    "read_synonyms",
    "sample",
    "sentence_dataset",
    "sentence_features",
    "split_sentences",
    "write_card",
    "write_meta",
]
