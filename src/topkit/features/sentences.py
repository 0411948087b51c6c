"""Sentence selection: six features of a query and a sentence, and the best sentences of a document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset, InputError
from topkit.features.analyser import Analyser

SENTENCE_FEATURES = ("exact", "overlap", "overlap_syn", "lm", "length", "location")
"""The features of :func:`sentence_features`, in the order of its columns."""
MU = 10.0
"""Smoothing of the language model: small, because sentences are short."""

Synonyms = Mapping[str, frozenset[str]]
"""Term → terms with the same meaning; see :func:`topkit.features.read_synonyms`."""
Score = Callable[[Dataset], NDArray[np.float64]]
"""A data set with the sentence features → one score per sentence."""

_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|e\.g|i\.e|No|Fig|cf|al|inc|Inc)|\b[A-Z])\.$"
)
_BREAK = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9])|\n\s*\n")


def split_sentences(text: str) -> list[str]:
    """The sentences of a text: they end with . ! or ? before a capital or a digit, or at a blank line.

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


@dataclass(frozen=True)
class Language:
    """How query and sentences become terms, and which terms have the same meaning."""

    analyser: Analyser = field(default_factory=Analyser)
    synonyms: Synonyms = field(default_factory=dict)

    def meanings(self, term: str) -> frozenset[str]:
        """The term and its synonyms."""
        return frozenset({term}) | self.synonyms.get(term, frozenset())


@dataclass(frozen=True, eq=False)
class Background:
    """How often each term occurs in a collection: p(w|C), which smooths the model of a sentence."""

    counts: Mapping[str, int]
    total: int

    @classmethod
    def of(cls, texts: Iterable[str], analyser: Analyser) -> Background:
        """The term counts of texts."""
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(analyser.terms(text))
        return cls(counts, counts.total())

    def probability(self, term: str) -> float:
        """p(w|C); a term that does not occur in the collection counts as half an occurrence."""
        return max(self.counts.get(term, 0), 0.5) / max(self.total, 1)


def sentence_features(
    query: str, sentences: Sequence[str], background: Background, language: Language | None = None
) -> NDArray[np.float32]:
    """The six features of each sentence of a document, columns as :data:`SENTENCE_FEATURES`.

    exact: 1 if the sentence contains the query as a string (ignoring case and spacing). overlap: share of the
    query terms that occur in the sentence, after stopping and stemming; a term that the query repeats counts
    each time. overlap_syn: the same, where synonyms count too. lm: Σ_w tf(w,Q) log((tf(w,S) + μ p(w|C)) /
    (|S| + μ)). length: |S|, terms without stop words. location: number of the sentence divided by their
    count. For a query of stop words, the overlaps and lm are 0. Metzler and Kanungo, Machine Learned Sentence
    Selection Strategies for Query-Biased Summarization, LR4IR 2008.

    >>> lm = Background({"wing": 3, "red": 1}, 4)
    >>> sentence_features("red wing", ["A red wing.", "Wings are blue."], lm)[:, [0, 1, 4, 5]].tolist()
    [[1.0, 1.0, 2.0, 0.5], [0.0, 0.5, 2.0, 1.0]]
    """
    language = language or Language()
    query_terms = Counter(language.analyser.terms(query))
    literal = " ".join(query.lower().split())
    meanings = {term: language.meanings(term) for term in query_terms}
    X = np.zeros((len(sentences), len(SENTENCE_FEATURES)), np.float32)
    for i, sentence in enumerate(sentences):
        terms = Counter(language.analyser.terms(sentence))
        n = terms.total()
        matched = sum(times for term, times in query_terms.items() if term in terms)
        matched_synonyms = sum(
            times for term, times in query_terms.items() if not meanings[term].isdisjoint(terms)
        )
        likelihood = sum(
            times * np.log((terms[term] + MU * background.probability(term)) / (n + MU))
            for term, times in query_terms.items()
        )
        size = max(query_terms.total(), 1)
        exact = bool(literal) and literal in " ".join(sentence.lower().split())
        X[i] = exact, matched / size, matched_synonyms / size, likelihood, n, (i + 1) / len(sentences)
    return X


class Judged(NamedTuple):
    """A query with the sentences of a document and their labels."""

    qid: str
    query: str
    sentences: Sequence[str]
    labels: Sequence[float]


def sentence_dataset(
    judged: Sequence[Judged], background: Background, language: Language | None = None
) -> Dataset:
    """A data set whose documents are sentences (``qid:number``), for any ranker."""
    if not judged:
        raise InputError("no judged sentences", "give at least one query with sentences")
    language = language or Language()
    parts = [sentence_features(item.query, item.sentences, background, language) for item in judged]
    qids = [item.qid for item in judged for _ in item.sentences]
    labels = [label for item in judged for label in item.labels]
    return Dataset.build(np.concatenate(parts), labels, qids, feature_names=SENTENCE_FEATURES)


class Selected(NamedTuple):
    """A sentence of a document that was selected for a query."""

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
    language: Language | None = None,
) -> list[Selected]:
    """The sentences of a document that answer a query best, best first; ties in the order of the text.

    depth: largest number of sentences. threshold: smallest score. score: scores a data set with
    :data:`SENTENCE_FEATURES`, such as ``ranker.score``; by default the language model. background: term
    counts of the collection; by default those of the document.

    >>> [s.text for s in best_sentences("red wing", "It is late. The wing is red. Go home.", depth=1)]
    ['The wing is red.']
    """
    language = language or Language()
    sentences = split_sentences(document)
    if not sentences:
        return []
    background = background or Background.of(sentences, language.analyser)
    X = sentence_features(query, sentences, background, language)
    data = Dataset.build(X, np.zeros(len(X)), ["q"] * len(X), feature_names=SENTENCE_FEATURES)
    values = X[:, SENTENCE_FEATURES.index("lm")] if score is None else score(data)
    order = np.argsort(-np.asarray(values, np.float64), kind="stable")[:depth]
    kept = [int(i) for i in order if threshold is None or values[i] >= threshold]
    return [Selected(i + 1, float(values[i]), sentences[i]) for i in kept]


def highlight(
    sentence: str, query: str, before: str = "**", after: str = "**", analyser: Analyser | None = None
) -> str:
    """The sentence with the words marked that match a query term (by their stems).

    >>> highlight("Wings, and a red one", "the wing")
    '**Wings**, and a red one'
    """
    analyser = analyser or Analyser()
    query_terms = set(analyser.terms(query))

    def mark(token: re.Match[str]) -> str:
        matches = query_terms.intersection(analyser.terms(token[0]))
        return f"{before}{token[0]}{after}" if matches else token[0]

    return re.sub(analyser.pattern, mark, sentence, flags=re.IGNORECASE)
