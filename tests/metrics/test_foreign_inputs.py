"""evaluate_run takes what other tools have: frames, dictionaries, ir_measures, ranx."""

from __future__ import annotations

from typing import Any

import pytest

import topkit as tk
from topkit import InputError

QRELS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 1, "d": 1}}
RUN = {"q1": {"b": 3.0, "a": 2.0, "c": 1.0}, "q2": {"a": 1.5, "x": 1.0}}
NAMES = ["ndcg@2", "map", "rr"]
# q1: b, a, c; q2: a, x, and d is missed. AP: (1/2 + 2/3)/2 and 1/2; RR: 1/2 and 1
MAP = ((1 / 2 + 2 / 3) / 2 + 1 / 2) / 2


class Ranx:
    """The part of ranx.Qrels and ranx.Run that is used: a dictionary, and the name of a run."""

    def __init__(self, table: Any, name: str | None = None) -> None:
        self.table, self.name = table, name

    def to_dict(self) -> Any:
        return self.table


def _columns(table: Any, number: str) -> dict[str, list[Any]]:
    rows = [(q, d, value) for q, docs in table.items() for d, value in docs.items()]
    return dict(zip(("qid", "docno", number), map(list, zip(*rows, strict=True)), strict=True))


def _inputs() -> dict[str, tuple[Any, Any]]:
    ir = pytest.importorskip("ir_measures")
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    qrels, run = _columns(QRELS, "label"), _columns(RUN, "score")
    return {
        "dictionaries": (QRELS, RUN),
        "lists of pairs": (QRELS, {q: list(docs.items()) for q, docs in RUN.items()}),
        "pandas": (pd.DataFrame(qrels), pd.DataFrame(run)),
        "polars": (pl.DataFrame(qrels), pl.DataFrame(run)),
        "ranx": (Ranx(QRELS), Ranx(RUN, "bm25")),
        "ir_measures": (
            (ir.Qrel(q, d, g) for q, docs in QRELS.items() for d, g in docs.items()),
            [ir.ScoredDoc(q, d, s) for q, docs in RUN.items() for d, s in docs.items()],
        ),
    }


@pytest.mark.parametrize(
    "kind", ["dictionaries", "lists of pairs", "pandas", "polars", "ranx", "ir_measures"]
)
def test_the_inputs_of_other_tools_give_the_same_values(kind: str) -> None:
    result = tk.evaluate_run(*_inputs()[kind], NAMES)
    assert result.qids == ("q1", "q2")
    assert result.mean["map"] == pytest.approx(MAP)
    assert result.mean["rr"] == pytest.approx(0.75)
    assert result.name == ("bm25" if kind == "ranx" else "run")


def test_measure_objects_give_the_values_of_ir_measures() -> None:
    ir = pytest.importorskip("ir_measures")
    chosen = [ir.nDCG @ 2, ir.AP, ir.RR(rel=2) @ 3, ir.P @ 2]
    result = tk.evaluate_run(QRELS, RUN, chosen)
    expected = ir.calc_aggregate(chosen, QRELS, RUN)
    for measure in chosen:
        assert result.mean[str(tk.metric(measure))] == pytest.approx(expected[measure]), measure
    assert list(tk.evaluate_run(QRELS, RUN, ir.nDCG @ 2).per_query) == ["ndcg@2"]


@pytest.mark.parametrize(
    ("qrels", "run", "message"),
    [
        (3, RUN, "expected Judgments, got int"),
        (QRELS, "run.txt", "expected Run, got str"),
        (QRELS, {"q1": 3}, "query 'q1': expected a dictionary from document to number, got int"),
        (QRELS, {"q1": {"a": "high"}}, "document 'a' of query 'q1' has 'high'"),
        (QRELS, {"q1": [("a", 1), ("a", 2)]}, "document 'a' is given twice"),
        ([("q1", "a", 1)], RUN, "expected records with query_id, doc_id and relevance, got tuple"),
        (QRELS, {}, "expected Run of at least one query"),
    ],
)
def test_other_inputs_are_errors_that_say_what_is_expected(qrels: Any, run: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tk.evaluate_run(qrels, run, NAMES)
