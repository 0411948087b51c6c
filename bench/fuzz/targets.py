"""The targets by name; a new reader is one line here."""

from __future__ import annotations

from bench.fuzz import bodies, click_logs, corpora, judged, models, names, self_test, tables
from bench.fuzz.target import Target

TARGETS: dict[str, Target] = {
    "letor": Target(judged.letor, 3),
    "letor-stream": Target(judged.letor_stream),
    "scores": Target(judged.scores),
    "qrels": Target(judged.qrels, 2),
    "run": Target(judged.run, 2),
    "run-ties": Target(judged.run_ties, 2),
    "preferences": Target(judged.preferences),
    "lightgbm": Target(judged.lightgbm),
    "pages": Target(judged.pages),
    "preferences-csv": Target(judged.preferences_csv),
    "grades-csv": Target(judged.grades_csv),
    "rankings": Target(judged.rankings),
    "documents-jsonl": Target(corpora.documents_jsonl, 2),
    "documents-csv": Target(corpora.documents_csv),
    "documents-tsv": Target(corpora.documents_tsv),
    "documents-trec": Target(corpora.documents_trec),
    "documents-smart": Target(corpora.documents_smart),
    "queries": Target(corpora.queries),
    "cranfield-qrels": Target(corpora.cranfield_qrels),
    "topics": Target(corpora.topics, 2),
    "links": Target(corpora.links),
    "synonyms": Target(corpora.synonyms),
    "index": Target(corpora.index, 0.3),
    "parquet": Target(tables.parquet),
    "clicks-csv": Target(click_logs.clicks_csv, 2),
    "clicks-tsv": Target(click_logs.clicks_tsv),
    "clicks-parquet": Target(click_logs.clicks_parquet),
    "propensities": Target(click_logs.propensities_csv),
    "interleaved": Target(click_logs.interleaved_csv),
    **{f"model-{kind}": Target(models.target(kind), 0.3) for kind in models.KINDS},
    "study": Target(names.study),
    "settings": Target(names.settings, 3),
    "metrics": Target(names.metrics, 3),
    "json-one": Target(bodies.json_one, 2),
    "json-many": Target(bodies.json_many, 2),
    "arrow-one": Target(bodies.arrow_one, 2),
    "arrow-many": Target(bodies.arrow_many, 2),
    "project": Target(corpora.project, 0.5),
}

SELF_TESTS: dict[str, Target] = {"self-test": Target(self_test.prepare)}
"""A target with known failures, for the tests of the harness."""
