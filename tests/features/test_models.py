"""Features of a small corpus against plain double loops, and BM25 against bm25s with the same analysis."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.retrieval import WORDS, bm25, likelihood, table_2
from topkit.features import (
    FEATURES,
    Analyser,
    Candidates,
    Document,
    Index,
    analyse_queries,
    bm25_from_meta,
    build_index,
    extract,
    meta_features,
)
from topkit.features.candidates import bm25_scores
from topkit.features.tables import OHSUMED_FUNCTIONS, ohsumed_45, trec_64

QUERIES = {"1": "alpha beta beta", "2": "theta unknown gamma", "3": "unknown", "4": "Zeta eta alpha delta"}


def texts() -> list[tuple[list[str], list[str]]]:
    """Forty documents of two fields, some of them empty, with words of unequal frequency."""
    rng = np.random.default_rng(3)
    weights = np.array([12, 8, 6, 4, 3, 2, 1, 0.5])

    def words(most: int) -> list[str]:
        return [str(w) for w in rng.choice(WORDS, rng.integers(0, most), p=weights / weights.sum())]

    return [(words(5), words(30)) for _ in range(40)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Index:
    documents = [
        Document(f"d{i}", {"title": " ".join(title), "abstract": ", ".join(abstract)})
        for i, (title, abstract) in enumerate(texts())
    ]
    plain = Analyser(language=None, stop_words=frozenset())
    return build_index(documents, tmp_path_factory.mktemp("index"), analyser=plain)


def everything(index: Index, queries: int) -> Candidates:
    return Candidates.of(list(QUERIES)[:queries], [np.arange(len(index), dtype=np.int32)] * queries)


STREAMS = {
    "title": [title for title, _ in texts()],
    "abstract": [abstract for _, abstract in texts()],
    "whole": [title + abstract for title, abstract in texts()],
}


@pytest.mark.parametrize("stream", STREAMS)
def test_every_feature_of_the_ohsumed_table_by_a_double_loop(corpus: Index, stream: str) -> None:
    queries = analyse_queries(corpus, QUERIES)
    names = [f"{name}.{stream}" for name in OHSUMED_FUNCTIONS]
    functions = [FEATURES[name] for name in OHSUMED_FUNCTIONS]
    wide = {name: np.zeros(0) for name in names}
    X = extract(corpus, queries, everything(corpus, 4), names)
    # The same functions in double precision, as the float32 of a data set hides small errors.
    from topkit.features.matches import match

    m = match(corpus, corpus.stream(stream), queries, everything(corpus, 4), range(4))
    for name, function in zip(names, functions, strict=True):
        wide[name] = function(m)
    texts_of = STREAMS[stream]
    row = 0
    for text in QUERIES.values():
        query = text.lower().split()
        for d in range(len(texts_of)):
            expected = table_2(query, d, texts_of)
            score = bm25(query, d, texts_of)
            expected += [score, np.log(max(score, 1e-3))]
            expected += [likelihood(query, d, texts_of, how) for how in ("lm_dir", "lm_jm", "lm_abs")]
            np.testing.assert_allclose([wide[name][row] for name in names], expected, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(X[row], expected, rtol=1e-6, atol=1e-6)
            row += 1


def test_bm25_agrees_with_bm25s(corpus: Index) -> None:
    """bm25s 0.3, method "lucene": the same idf; its formula lacks the constant factor k1 + 1."""
    bm25s = pytest.importorskip("bm25s")
    tokens = STREAMS["whole"]
    peer = bm25s.BM25(method="lucene", k1=1.2, b=0.75, dtype="float64")
    peer.index(tokens, show_progress=False)
    queries = analyse_queries(corpus, QUERIES)
    X = extract(corpus, queries, everything(corpus, 4), ["bm25.whole"])[:, 0].reshape(4, -1)
    for q, text in enumerate(QUERIES.values()):
        known = [word for word in text.lower().split() if word in WORDS]
        if known:
            scores = 2.2 * peer.get_scores(known)
            exact = bm25_scores(corpus.stream("whole"), *queries.terms_of(q), len(corpus))
            np.testing.assert_allclose(exact, scores, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(X[q], scores, rtol=1e-6, atol=1e-6)


def test_bm25_is_recomputed_from_the_meta_features(corpus: Index) -> None:
    queries, candidates = analyse_queries(corpus, QUERIES), everything(corpus, 4)
    meta = meta_features(corpus, queries, candidates, ["title", "abstract", "whole"])
    for stream in meta.streams:
        again = bm25_from_meta(meta, stream, len(candidates.docs))
        feature = extract(corpus, queries, candidates, [f"bm25.{stream}"])[:, 0]
        np.testing.assert_allclose(again, feature, rtol=1e-6, atol=1e-7)
        loop = [
            bm25(text.lower().split(), d, STREAMS[stream]) for text in QUERIES.values() for d in range(40)
        ]
        np.testing.assert_allclose(again, loop, rtol=1e-9, atol=1e-9)


def test_the_sets_have_the_sizes_of_the_papers() -> None:
    assert len(ohsumed_45(["title", "abstract", "whole"])) == 45
    full = trec_64(["title", "body", "anchor", "url", "extracted", "whole"])
    assert len(full) == 64
    assert len(set(full)) == 64
    assert full[20] == "bm25.body"  # number 21 of the table
    assert full[50] == "pagerank"  # number 51


def test_own_feature_and_unknown_feature(corpus: Index) -> None:
    queries, candidates = analyse_queries(corpus, QUERIES), everything(corpus, 4)
    own = {"found": lambda m: m.sum(m.tf > 0)}
    X = extract(corpus, queries, candidates, ["found.whole"], extra=own)
    assert X[0, 0] == len({"alpha", "beta"} & set(STREAMS["whole"][0]))
    with pytest.raises(ValueError, match="unknown feature"):
        extract(corpus, queries, candidates, ["nothing.whole"])


def test_result_does_not_depend_on_threads_or_blocks(
    corpus: Index, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    queries, candidates = analyse_queries(corpus, QUERIES), everything(corpus, 4)
    names = ohsumed_45(["title", "abstract", "whole"])
    before = extract(corpus, queries, candidates, names)
    monkeypatch.setenv("TOPKIT_THREADS", "1")
    monkeypatch.setattr("topkit.features.extraction.BLOCK_PAIRS", 10)
    np.testing.assert_array_equal(before, extract(corpus, queries, candidates, names))
