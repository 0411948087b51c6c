"""Sentence selection: the six features of a query and a sentence, and the best sentences of a document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset, InputError
from topkit.features.analyser import Analyser

SENTENCE_FEATURES = ("exact", "overlap", "overlap_syn", "lm", "length", "location")
MU = 10.0
"""Smoothing of the language model: sentences are short, so a little goes a long way."""

Synonyms = Mapping[str, frozenset[str]]
Score = Callable[[Dataset], NDArray[np.float64]]

_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|e\.g|i\.e|No|Fig|cf|al|inc|Inc)|\b[A-Z])\.$"
)
_BREAK = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9])|\n\s*\n")


def split_sentences(text: str) -> list[str]:
    """The sentences of a text: they end with . ! or ? before a capital or a digit, or with a blank line.

    >>> split_sentences("Dr. A. Smith came. Did he? Yes, at 3.15 p.m. today.")
    ['Dr. A. Smith came.', 'Did he?', 'Yes, at 3.15 p.m. today.']
    """
    sentences: list[str] = []
    start = 0
    for gap in _BREAK.finditer(text):
        piece = text[start : gap.start()].strip()
        if _ABBREVIATION.search(piece) and "\n" not in gap[0]:
            continue
        if piece:
            sentences.append(" ".join(piece.split()))
        start = gap.end()
    last = text[start:].strip()
    return [*sentences, " ".join(last.split())] if last else sentences


@dataclass(frozen=True, eq=False)
class Background:
    """How often each term occurs in a collection: p(w|C), which smooths the model of a sentence."""

    counts: Mapping[str, int]
    total: int

    @classmethod
    def of(cls, texts: Iterable[str], analyser: Analyser) -> Background:
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(analyser.terms(text))
        return cls(counts, counts.total())

    def probability(self, term: str) -> float:
        """p(w|C); a term that the collection lacks counts as half an occurrence."""
        return max(self.counts.get(term, 0), 0.5) / max(self.total, 1)


def sentence_features(
    query: str,
    sentences: Sequence[str],
    background: Background,
    analyser: Analyser | None = None,
    synonyms: Synonyms | None = None,
) -> NDArray[np.float32]:
    """The six features of each sentence of a document, columns as :data:`SENTENCE_FEATURES`.

    exact: 1 if the query stands in the sentence, letter by letter (case and blanks aside). overlap: share of
    the query's terms that the sentence has, after stopping and stemming. overlap_syn: the same, where a
    synonym counts too (equal to overlap without ``synonyms``). lm: Σ_w tf(w,Q) log((tf(w,S) + μ p(w|C)) /
    (|S| + μ)). length: |S|, terms without stop words. location: number of the sentence over their count. A
    query of stop words only has overlaps and lm of 0. Metzler and Kanungo, Machine Learned Sentence Selection
    Strategies for Query-Biased Summarization, LR4IR 2008.

    >>> lm = Background({"wing": 3, "red": 1}, 4)
    >>> sentence_features("red wing", ["A red wing.", "Wings are blue."], lm)[:, [0, 1, 4, 5]].tolist()
    [[1.0, 1.0, 2.0, 0.5], [0.0, 0.5, 2.0, 1.0]]
    """
    chosen = analyser or Analyser()
    wanted = Counter(chosen.terms(query))
    literal = " ".join(query.lower().split())
    meanings = {term: _meanings(term, synonyms) for term in wanted}
    X = np.zeros((len(sentences), len(SENTENCE_FEATURES)), np.float32)
    for i, sentence in enumerate(sentences):
        own = Counter(chosen.terms(sentence))
        n = own.total()
        shared = sum(term in own for term in wanted)
        alike = sum(not meanings[term].isdisjoint(own) for term in wanted)
        likelihood = sum(
            times * np.log((own[term] + MU * background.probability(term)) / (n + MU))
            for term, times in wanted.items()
        )
        among = max(len(wanted), 1)
        exact = bool(literal) and literal in " ".join(sentence.lower().split())
        X[i] = exact, shared / among, alike / among, likelihood, n, (i + 1) / len(sentences)
    return X


def _meanings(term: str, synonyms: Synonyms | None) -> frozenset[str]:
    return frozenset({term}) | (synonyms or {}).get(term, frozenset())


class Judged(NamedTuple):
    """A query with the sentences of a document and which of them are relevant."""

    qid: str
    query: str
    sentences: Sequence[str]
    labels: Sequence[float]


def sentence_dataset(
    judged: Sequence[Judged],
    background: Background,
    analyser: Analyser | None = None,
    synonyms: Synonyms | None = None,
) -> Dataset:
    """A data set whose documents are sentences (``qid:number``), for any ranker."""
    if not judged:
        raise InputError("there are no judged sentences")
    parts = [sentence_features(one.query, one.sentences, background, analyser, synonyms) for one in judged]
    qids = [one.qid for one in judged for _ in one.sentences]
    labels = [label for one in judged for label in one.labels]
    return Dataset.build(np.concatenate(parts), labels, qids, feature_names=SENTENCE_FEATURES)


class Selected(NamedTuple):
    """A sentence of a document that was chosen for a query."""

    place: int
    """Its number in the document, from 1."""
    score: float
    text: str


def best_sentences(
    query: str,
    document: str,
    *,
    depth: int = 3,
    threshold: float | None = None,
    score: Score | None = None,
    background: Background | None = None,
    analyser: Analyser | None = None,
    synonyms: Synonyms | None = None,
) -> list[Selected]:
    """The sentences of a document that answer a query best, best first; equal ones in the order of the text.

    depth: at most so many. threshold: only those with at least this score. score: scores a data set with
    :data:`SENTENCE_FEATURES`, such as ``ranker.score``; by default the language model. background: counts of
    the collection; by default those of the document itself.

    >>> [s.text for s in best_sentences("red wing", "It is late. The wing is red. Go home.", depth=1)]
    ['The wing is red.']
    """
    chosen = analyser or Analyser()
    sentences = split_sentences(document)
    if not sentences:
        return []
    known = background or Background.of(sentences, chosen)
    X = sentence_features(query, sentences, known, chosen, synonyms)
    data = Dataset.build(X, np.zeros(len(X)), ["q"] * len(X), feature_names=SENTENCE_FEATURES)
    values = X[:, SENTENCE_FEATURES.index("lm")] if score is None else score(data)
    order = np.argsort(-np.asarray(values, np.float64), kind="stable")[:depth]
    kept = [int(i) for i in order if threshold is None or values[i] >= threshold]
    return [Selected(i + 1, float(values[i]), sentences[i]) for i in kept]


def highlight(
    sentence: str, query: str, before: str = "**", after: str = "**", analyser: Analyser | None = None
) -> str:
    """The sentence with the words that match the query (by their stems) marked.

    >>> highlight("Wings, and a red one", "the wing")
    '**Wings**, and a red one'
    """
    chosen = analyser or Analyser()
    wanted = set(chosen.terms(query))

    def mark(token: re.Match[str]) -> str:
        return f"{before}{token[0]}{after}" if wanted.intersection(chosen.terms(token[0])) else token[0]

    return re.sub(chosen.pattern, mark, sentence, flags=re.IGNORECASE)
