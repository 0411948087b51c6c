"""A ranking from human preferences: Bradley–Terry strengths of the judged documents."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats, one_blas_thread
from topkit.data import Judgments, Run
from topkit.fusion.luce.likelihood import bradley_terry_loss, fit_strengths


def aggregate_preferences(judgments: Judgments, *, penalty: float = 0.01, name: str = "bradley-terry") -> Run:
    """The documents of each query by their Bradley–Terry strength in the preferences of assessors.

    P(a beats b) = 1/(1 + e^{s_b − s_a}) with the log strengths s as scores; a tie is half a win for both. The
    penalty makes groups of documents comparable that were never compared with each other.

    >>> from topkit.data import Preference
    >>> answers = [Preference("q", "x", "y", "a")] * 3 + [Preference("q", "x", "y", "b")]
    >>> run = aggregate_preferences(Judgments(preferences=tuple(answers)), penalty=0.0)
    >>> [(doc, round(score, 3)) for doc, score in run["q"]]   # ±½·log 3
    [('x', 0.549), ('y', -0.549)]
    """
    results: dict[str, list[tuple[str, float]]] = {}
    for query, answers in judgments.preferences_by_query().items():
        documents = list(dict.fromkeys(doc for answer in answers for doc in (answer.a, answer.b)))
        number = {doc: i for i, doc in enumerate(documents)}
        wins = np.zeros((len(documents), len(documents)))
        for answer in answers:
            a, b = number[answer.a], number[answer.b]
            if answer.winner is None:
                wins[a, b] += 0.5
                wins[b, a] += 0.5
            elif answer.winner == answer.a:
                wins[a, b] += 1.0
            else:
                wins[b, a] += 1.0

        def loss(strength: Floats, wins: Floats = wins) -> tuple[float, Floats]:
            return bradley_terry_loss(wins, strength)

        with one_blas_thread():
            strength = fit_strengths(loss, len(documents), penalty=penalty)
        order = sorted(range(len(documents)), key=lambda i: (-strength[i], documents[i]))
        results[query] = [(documents[i], float(strength[i])) for i in order]
    return Run.of(results, name)
