"""Targets for text files of data sets, judgments and runs."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from bench.fuzz.target import DifferenceError, Prepared

MEASURES = {
    "map": "map",
    "recip_rank": "rr",
    "ndcg": "ndcg",
    "ndcg_cut_5": "ndcg@5",
    "P_5": "p@5",
    "recall_10": "recall@10",
    "Rprec": "rprec",
    "bpref": "bpref",
}
"""Measure of trec_eval → the same measure here, as far as it is known."""
SEPARATOR = b"=====\n"


def of_file(folder: Path, name: str, read: Callable[[Path], Any]) -> Callable[[bytes, bool], None]:
    """A check that writes the input to a file and reads it."""
    path = folder / name

    def check(content: bytes, valid: bool) -> None:
        path.write_bytes(content)
        read(path)

    return check


def name(rng: Random, stem: str, most: int = 30) -> str:
    """An id."""
    return f"{stem}{rng.randrange(most)}"


def value(rng: Random) -> str:
    """A valid number."""
    shape = rng.randrange(5)
    if shape == 0:
        return str(rng.randrange(5))
    if shape == 1:
        return f"{rng.uniform(-1, 1):.6f}"
    return f"{rng.gauss(0, 10):{rng.choice(('.3g', '.9g', '.3e', '.2f'))}}"


# -- LETOR -------------------------------------------------------------------------------------------------
def letor_text(rng: Random) -> bytes:
    """LETOR text whose queries are contiguous and whose feature indices rise within a line."""
    lines = []
    width = rng.randrange(1, 6)
    for qid in rng.sample(range(1, 50), rng.randrange(1, 4)):
        for _ in range(rng.randrange(1, 4)):
            indices = sorted(rng.sample(range(1, width + 1), rng.randrange(0, width + 1)))
            fields = [str(rng.randrange(5)), f"qid:{qid}", *(f"{i}:{value(rng)}" for i in indices)]
            comment = rng.choice(("", "", f" # docid = D{rng.randrange(99)} note", f" #D{rng.randrange(99)}"))
            lines.append(" ".join(fields) + comment)
    return ("\n".join(lines) + rng.choice(("\n", "", "\n\n"))).encode()


LETOR_WORDS = (
    b"qid:",
    b"1:",
    b"0:1",
    b"3:NULL",
    b"2:nan",
    b"1000000000:1",
    b"99999999:1",
    b"#docid = ",
    b"-1:1",
)


def letor(folder: Path) -> Prepared:
    """read_letor, with and without features, against scikit-learn."""
    from sklearn.datasets import load_svmlight_file

    from topkit.data import InputError, read_letor

    path = folder / "data.txt"

    def check(content: bytes, valid: bool) -> None:
        path.write_bytes(content)
        labels = None
        try:
            labels = read_letor(path, features=False)
        except InputError:
            if valid:
                raise
        data = read_letor(path)
        if labels is None or labels.qids != data.qids or not np.array_equal(labels.y, data.y):
            raise DifferenceError("labels read without features differ")
        if valid:
            X, y, qid = load_svmlight_file(io.BytesIO(content), query_id=True, zero_based=False)
            dense = X.toarray().astype(np.float32)
            same = dense.shape[0] == len(data.y) and dense.shape[1] <= max(1, data.n_features)
            same = same and np.array_equal(dense[:, : data.n_features], data.X[:, : dense.shape[1]])
            queries = [int(data.qids[i]) for i in data.query_index]
            if not same or not np.array_equal(y, data.y) or queries != qid.tolist():
                raise DifferenceError("scikit-learn reads other values")

    return Prepared(check, letor_text, LETOR_WORDS)


def letor_stream(folder: Path) -> Prepared:
    """The same text in pieces, as scoring reads it; the pieces together are the whole."""
    from topkit.data import InputError, read_letor
    from topkit.data.streaming import stream_dataset

    path = folder / "data.txt"

    def check(content: bytes, valid: bool) -> None:
        path.write_bytes(content)
        pieces = list(stream_dataset(path))
        try:
            whole = read_letor(path)
        except InputError as error:
            raise DifferenceError(f"only the stream accepts it: {error.problem}") from None
        if not np.array_equal(np.concatenate([piece.y for piece in pieces]), whole.y):
            raise DifferenceError("the labels of the pieces differ from those of the whole")

    return Prepared(check, letor_text, LETOR_WORDS)


def scores(folder: Path) -> Prepared:
    """read_scores against Python's float."""
    from topkit.data import read_scores

    path = folder / "scores.txt"

    def check(content: bytes, valid: bool) -> None:
        path.write_bytes(content)
        read = read_scores(path)
        if valid and read.tolist() != [float(line) for line in content.split()]:
            raise DifferenceError("float() gives other values")

    def generate(rng: Random) -> bytes:
        return "".join(value(rng) + "\n" for _ in range(rng.randrange(1, 9))).encode()

    return Prepared(check, generate)


# -- qrels and runs ----------------------------------------------------------------------------------------
def qrels_text(rng: Random, queries: Iterable[str] = ("q1", "q2", "q3")) -> bytes:
    lines = []
    for query in queries:
        for doc in rng.sample(range(12), rng.randrange(1, 8)):
            grade = rng.choice((0, 0, 1, 1, 2, 3, -1))
            lines.append(f"{query} 0 d{doc} {grade}\n")
    return "".join(lines).encode()


def run_text(rng: Random, queries: Iterable[str] = ("q1", "q2", "q3")) -> bytes:
    """A run with many ties; some scores differ only beyond 32 bits."""
    levels = [rng.choice((0.5, 1.0, 1e-3, 1e6, 1.00000001, -2.0, 3.25)) for _ in range(4)]
    lines = []
    for query in queries:
        for rank, doc in enumerate(rng.sample(range(12), rng.randrange(1, 10))):
            score = rng.choice(levels) if rng.random() < 0.7 else rng.gauss(0, 1)
            lines.append(f"{query} Q0 d{doc} {rank} {score!r} tag\n")
    if rng.random() < 0.3:
        rng.shuffle(lines)
    return "".join(lines).encode()


def qrels(folder: Path) -> Prepared:
    """read_qrels against pytrec_eval's parser."""
    import pytrec_eval

    from topkit.data import read_qrels

    path = folder / "qrels.txt"

    def check(content: bytes, valid: bool) -> None:
        path.write_bytes(content)
        grades = read_qrels(path).grades_by_query()
        if valid and grades != pytrec_eval.parse_qrel(io.StringIO(content.decode())):
            raise DifferenceError("pytrec_eval reads other grades")

    return Prepared(check, qrels_text, (b"q1 0 d1 1\n", b" 0 ", b"q1 d2 1\n", b"1 28 0 0.0\n"))


def run(folder: Path) -> Prepared:
    """read_run, compiled and plain, which must agree, against pytrec_eval's parser."""
    import pytrec_eval

    from topkit.data import InputError, read_run

    path = folder / "run.txt"

    def check(content: bytes, valid: bool) -> None:
        path.write_bytes(content)
        try:
            plain = read_run(path, compiled=False)
        except InputError:
            plain = None
        try:
            compiled = read_run(path)
        except InputError:
            if plain is not None:
                raise DifferenceError("only the plain scanner accepts it") from None
            raise
        if plain is None or plain != compiled:
            raise DifferenceError("the plain scanner reads another run")
        if valid:
            known = pytrec_eval.parse_run(io.StringIO(content.decode()))
            if {query: dict(compiled[query]) for query in compiled} != known:
                raise DifferenceError("pytrec_eval reads another run")

    return Prepared(check, run_text, (b"q1 Q0 d1 1 0.5 tag\n", b" Q0 ", b"1e300", b"0x1p3"))


def run_ties(folder: Path) -> Prepared:
    """evaluate_run by the convention of trec_eval against pytrec_eval: ties, missing queries, few judged."""
    import pytrec_eval

    from topkit.data import read_qrels, read_run
    from topkit.metrics import METRICS, evaluate_run, metric

    judged, returned = folder / "qrels.txt", folder / "run.txt"
    known = {foreign: own for foreign, own in MEASURES.items() if own.split("@")[0] in METRICS}
    names = {foreign: str(metric(own)) for foreign, own in known.items()}

    def check(content: bytes, valid: bool) -> None:
        first, _, second = content.partition(SEPARATOR)
        judged.write_bytes(first)
        returned.write_bytes(second)
        evaluation = evaluate_run(read_qrels(judged), read_run(returned), list(names.values()), "trec")
        if not valid:
            return
        grades = pytrec_eval.parse_qrel(io.StringIO(first.decode()))
        # pytrec_eval does not return for a query that has negative grades only
        truth = {query: docs for query, docs in grades.items() if max(docs.values()) >= 0}
        found = pytrec_eval.RelevanceEvaluator(truth, set(names)).evaluate(
            pytrec_eval.parse_run(io.StringIO(second.decode()))
        )
        for foreign, own in names.items():
            values = dict(zip(evaluation.qids, evaluation.per_query[own].tolist(), strict=True))
            for query, theirs in found.items():
                if not abs(values[query] - theirs[foreign]) <= 1e-9:
                    raise DifferenceError(f"{own}: {values[query]} of {query}, pytrec_eval {theirs[foreign]}")

    def generate(rng: Random) -> bytes:
        queries = ["q1", *(f"q{i}" for i in range(2, 5) if rng.random() < 0.7)]
        return qrels_text(rng, ["q1", "q2", "q3"]) + SEPARATOR + run_text(rng, queries)

    return Prepared(check, generate, valid_share=0.9)


# -- other judgments ---------------------------------------------------------------------------------------
def preferences(folder: Path) -> Prepared:
    """read_preferences."""
    from topkit.data import read_preferences

    def generate(rng: Random) -> bytes:
        form = rng.choice(("text", "table", "json"))
        header = ["query", "a", "b", "winner", "assessor", "seconds"]
        lines = ["\t".join(header) + "\n"] if form == "table" else []
        for _ in range(rng.randrange(1, 8)):
            a, b = (f"d{i}" for i in rng.sample(range(9), 2))
            fields = [name(rng, "q", 3), a, b, rng.choice((a, b, "tie")), "ann", f"{rng.uniform(0, 9):.1f}"]
            if form == "text":
                lines.append(" ".join(fields[: rng.choice((4, 5, 6))]) + "\n")
            elif form == "table":
                lines.append("\t".join(fields) + "\n")
            else:
                lines.append(json.dumps(dict(zip(header, fields, strict=True))) + "\n")
        return "".join(lines).encode()

    words = (b"tie", b"q d1 d1 d1\n", b"winner", b"\t", b'"', b"null", b"[]")
    return Prepared(of_file(folder, "preferences.txt", read_preferences), generate, words)


def lightgbm(folder: Path) -> Prepared:
    """read_lightgbm: the rows are the input, the group file says that they are one query."""
    from topkit.data import read_lightgbm

    path, sizes = folder / "rank.train", folder / "rank.train.query"

    def check(content: bytes, valid: bool) -> None:
        path.write_bytes(content)
        sizes.write_bytes(b"%d\n" % max(1, content.count(b"\n")))
        read_lightgbm(path)

    def generate(rng: Random) -> bytes:
        first = rng.randrange(2)
        rows = []
        for _ in range(rng.randrange(1, 6)):
            values = [f"{rng.uniform(-5, 5):.3f}" for _ in range(3)]
            pairs = [f"{j + first}:{value}" for j, value in enumerate(values)]
            rows.append([str(rng.randrange(3)), *pairs])
        return "".join(" ".join(row) + "\n" for row in rows).encode()

    return Prepared(check, generate, (b"0:1", b" 1:", b",", b"\t", b"1,2,3\n", b"nan", b"1:2:3"))


def pages(folder: Path) -> Prepared:
    """read_pages."""
    from topkit.data import read_pages

    def generate(rng: Random) -> bytes:
        lines = []
        for i in range(rng.randrange(1, 5)):
            n = rng.randrange(1, 6)
            lists: list[list[object]] = [
                [f"d{j}" for j in range(n)],
                [1] * n,
                [rng.randrange(2) for _ in range(n)],
            ]
            if rng.random() < 0.5:
                lists.append([rng.randrange(4) for _ in range(n)])
            texts = ("[" + ", ".join(map(str, items)) + "]" for items in lists)
            lines.append("\t".join((f"s{i}", name(rng, "q", 3), *texts)) + "\n")
        return "".join(lines).encode()

    def read(path: Path) -> object:
        return list(read_pages(path))

    return Prepared(of_file(folder, "pages.txt", read), generate, (b"[", b"]", b"[]", b"\t[1]"))


def _csv(header: str, row: Callable[[Random], list[str]]) -> Callable[[Random], bytes]:
    def generate(rng: Random) -> bytes:
        rows = [",".join(row(rng)) for _ in range(rng.randrange(1, 7))]
        return (header + "\n" + "\n".join(rows) + "\n").encode()

    return generate


CSV_WORDS = (b'"', b'""', b'"a,b"', b",", b";", b'\n"', b"query,")


def preferences_csv(folder: Path) -> Prepared:
    """Preferences in CSV."""
    from topkit.labelling.files import read_preferences_csv

    def row(rng: Random) -> list[str]:
        a, b = (f"d{i}" for i in rng.sample(range(9), 2))
        return ["q1", a, b, rng.choice(("a", "b", "tie", "bad-a", "bad-b")), "ann", f"{rng.random():.2f}"]

    check = of_file(folder, "preferences.csv", read_preferences_csv)
    return Prepared(check, _csv("query,a,b,answer,assessor,seconds", row), CSV_WORDS)


def grades_csv(folder: Path) -> Prepared:
    """Grades in CSV."""
    from topkit.labelling.files import read_grades_csv

    def row(rng: Random) -> list[str]:
        return ["q1", name(rng, "d"), str(rng.randrange(4)), "ann", f"{rng.random():.2f}"]

    check = of_file(folder, "grades.csv", read_grades_csv)
    return Prepared(check, _csv("query,doc,grade,assessor,seconds", row), CSV_WORDS)


def rankings(folder: Path) -> Prepared:
    """read_rankings: a run, a table or LETOR text."""
    from topkit.fusion.formats import read_rankings

    def table(rng: Random) -> bytes:
        documents = rng.sample(range(40), rng.randrange(1, 9))
        lines = [f"q{i % 2},s{i % 3},d{doc},{value(rng)}" for i, doc in enumerate(documents)]
        header = rng.choice(("", "query,system,document,value\n", "qid,run,docno,rank\n"))
        return (header + "\n".join(lines) + "\n").encode()

    def generate(rng: Random) -> bytes:
        return rng.choice((table, table, run_text, letor_text))(rng)

    return Prepared(of_file(folder, "rankings.csv", read_rankings), generate, CSV_WORDS)
