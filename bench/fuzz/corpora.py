"""Targets for collections: documents, queries, topics, links, synonyms, the index, projects of the app."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from bench.fuzz.arrays import damaged_array
from bench.fuzz.judged import of_file
from bench.fuzz.mutate import mutate
from bench.fuzz.structure import damaged_json
from bench.fuzz.target import DifferenceError, Prepared

TERMS = [
    "wing",
    "flow",
    "heat",
    "jet",
    "noise",
    "boom",
    "shock",
    "layer,",
    "cooling;",
    "pressure.",
    "ratio",
    "12",
    "naïve",
    "“quoted”",
]


def text(rng: Random, most: int = 8) -> str:
    """A few words."""
    return " ".join(rng.choices(TERMS, k=rng.randrange(1, most)))


def _documents(
    folder: Path, file: str, form: str, generate: Callable[[Random], bytes], words: tuple[bytes, ...] = ()
) -> Prepared:
    from topkit.features import read_documents
    from topkit.web.imports import read_material

    path = folder / file

    def check(content: bytes, valid: bool) -> None:
        path.write_bytes(content)
        documents = list(read_documents(path, form))
        if valid and len(documents) != content.count(b"unique-"):
            raise DifferenceError(f"{len(documents)} documents of {content.count(b'unique-')}")
        read_material(path, form)

    return Prepared(check, generate, words)


def documents_jsonl(folder: Path) -> Prepared:
    """Documents in JSON Lines."""

    def generate(rng: Random) -> bytes:
        lines = []
        for i in range(rng.randrange(1, 6)):
            record: dict[str, Any] = {"id": f"unique-{i}", "title": text(rng), "text": text(rng)}
            if rng.random() < 0.3:
                record["extra"] = rng.choice(([text(rng), 3, None], 4, None, {"a": [1]}, True))
            lines.append(json.dumps(record, ensure_ascii=rng.random() < 0.5))
        return ("\n".join(lines) + "\n").encode()

    words = (
        b'"id": 1,',
        b'{"id": "x"}\n',
        b'"\\ud800"',
        b"[[[[",
        b"null",
        b"NaN",
        b'"url": "http://["',
        b'{"id":"u","url":"http://[x"}\n',
    )
    return _documents(folder, "docs.jsonl", "jsonl", generate, words)


def _documents_table(folder: Path, file: str, form: str, separator: str) -> Prepared:
    def generate(rng: Random) -> bytes:
        lines = [separator.join(("id", "title", "text"))]
        for i in range(rng.randrange(1, 6)):
            words = text(rng).replace(",", ""), f'"{text(rng)}"'
            lines.append(separator.join((f"unique-{i}", *words)))
        end = rng.choice(("\n", "\r\n"))
        return (end.join(lines) + end).encode()

    return _documents(folder, file, form, generate, (b'"', b'""', b";", b"\t", b",,", b"\r", b'"\n', b"id,"))


def documents_csv(folder: Path) -> Prepared:
    """Documents in CSV."""
    return _documents_table(folder, "docs.csv", "csv", ",")


def documents_tsv(folder: Path) -> Prepared:
    """Documents in TSV."""
    return _documents_table(folder, "docs.tsv", "tsv", "\t")


def documents_trec(folder: Path) -> Prepared:
    """TREC documents."""

    def generate(rng: Random) -> bytes:
        parts = []
        for i in range(rng.randrange(1, 5)):
            head = f"<DOC>\n<DOCNO> unique-{i} </DOCNO>\n<TITLE>{text(rng)}</TITLE>\n"
            tags = f"{head}<TEXT>\n{text(rng)}\n</TEXT>\n</DOC>\n"
            parts.append(tags.replace("\n", " ") + "\n" if rng.random() < 0.1 else tags)
        return "".join(parts).encode()

    words = (b"<DOC>", b"</DOC>", b"<DOCNO>", b"</DOCNO>", b"<TEXT>", b"</TEXT>", b"<", b">", b"<a>" * 500)
    return _documents(folder, "docs.trec", "trec", generate, words)


def documents_smart(folder: Path) -> Prepared:
    """Documents of SMART and Cranfield."""

    def generate(rng: Random) -> bytes:
        parts = [
            f".I {i + 1}\n.T\n{text(rng)}\n.A\nsomebody\n.B\n.W\nunique- {text(rng)}\n"
            for i in range(rng.randrange(1, 6))
        ]
        return "".join(parts).encode()

    return _documents(folder, "docs.all", "cranfield", generate, (b".I\n", b".I 1\n", b".W\n", b".X\n", b"."))


def _smart_topics(rng: Random) -> str:
    return "".join(f".I {i + 3:03}\n.W\n{text(rng)}\n" for i in range(rng.randrange(1, 5)))


def _tab_topics(rng: Random) -> str:
    return "".join(f"q{i}\t{text(rng)}\n" for i in range(rng.randrange(1, 5)))


def _json_topics(rng: Random) -> str:
    return "".join(json.dumps({"id": f"q{i}", "text": text(rng)}) + "\n" for i in range(rng.randrange(1, 5)))


def _csv_topics(rng: Random) -> str:
    rows = "".join(f'q{i},"{text(rng)}",about\n' for i in range(rng.randrange(1, 5)))
    return "id,query,description\n" + rows


def _trec_topics(rng: Random) -> str:
    topic = "<top>\n<num> Number: {}\n<title> {}\n<desc> Description:\n{}\n<narr> Narrative:\nx\n</top>\n\n"
    return "".join(topic.format(i, text(rng), text(rng)) for i in range(rng.randrange(1, 5)))


def _web_topics(rng: Random) -> str:
    topic = '<topic number="{}" type="x">\n<query>{}</query>\n<description>{}</description>\n</topic>\n'
    return "".join(topic.format(i, text(rng), text(rng)) for i in range(rng.randrange(1, 5)))


TOPIC_WORDS = (
    b"<top>",
    b"</top>",
    b"<num>",
    b"<title>",
    b"<top>\n" * 300,
    b"<num> 1",
    b".I 1\n.W\n",
    b"q1\tx\n",
)


def queries(folder: Path) -> Prepared:
    """read_queries."""
    from topkit.features import read_queries

    def generate(rng: Random) -> bytes:
        kinds = (_smart_topics, _tab_topics, _json_topics, _trec_topics, _web_topics)
        return rng.choice(kinds)(rng).encode()

    return Prepared(of_file(folder, "queries.txt", read_queries), generate, TOPIC_WORDS)


def topics(folder: Path) -> Prepared:
    """The topics of the web app."""
    from topkit.web.imports import read_topics

    def generate(rng: Random) -> bytes:
        kinds = (_smart_topics, _tab_topics, _json_topics, _csv_topics, _trec_topics, _trec_topics)
        return rng.choice(kinds)(rng).encode()

    return Prepared(of_file(folder, "topics.txt", read_topics), generate, TOPIC_WORDS)


def cranfield_qrels(folder: Path) -> Prepared:
    """Judgments of the Cranfield collection."""
    from topkit.features import read_cranfield_qrels

    def generate(rng: Random) -> bytes:
        rows = (f"{rng.randrange(1, 4)} {doc} {rng.choice((-1, 1, 2, 3, 4, 5))}\n" for doc in range(1, 9))
        return "".join(rows).encode()

    return Prepared(of_file(folder, "cran.rel", read_cranfield_qrels), generate, ("1 1 ²\n".encode(), b"--1"))


def synonyms(folder: Path) -> Prepared:
    """A word list, or the files of WordNet."""
    from topkit.features import read_synonyms

    wordnet = folder / "wordnet"
    wordnet.mkdir(exist_ok=True)
    list_file = folder / "synonyms.txt"

    def check(content: bytes, valid: bool) -> None:
        if content.startswith(b"0"):
            (wordnet / "data.noun").write_bytes(content)
            read_synonyms(wordnet)
        else:
            list_file.write_bytes(content)
            read_synonyms(list_file)

    def generate(rng: Random) -> bytes:
        if rng.random() < 0.5:
            return "".join(text(rng, 5) + "\n" for _ in range(rng.randrange(1, 5))).encode()
        words = [word.strip(",;.") for word in rng.choices(TERMS[:10], k=3)]
        line = "00001740 03 n 03 " + " ".join(f"{word} 0" for word in words) + " 000 | that which is\n"
        return line.encode() * rng.randrange(1, 4)

    return Prepared(check, generate, (b"ffffffff", b" 7fffffff ", b"00001740 03 n -1 a 0\n"))


# -- the index ---------------------------------------------------------------------------------------------
def _built_index(folder: Path) -> Path:
    from topkit.features import Document, build_index

    place = folder / "index"
    if not place.exists():
        rng = Random(5)
        fields = [
            {"title": text(rng), "body": text(rng, 30), "url": f"http://a.org/{i}/x.html"} for i in range(12)
        ]
        documents = [Document(f"d{i}", values) for i, values in enumerate(fields)]
        build_index(documents, folder / "unfinished")
        (folder / "unfinished").replace(place)
    return place


def links(folder: Path) -> Prepared:
    """Links between the documents of an index."""
    from topkit.features import open_index, read_links

    opened = open_index(_built_index(folder))

    def generate(rng: Random) -> bytes:
        return "".join(f"d{rng.randrange(14)} d{rng.randrange(14)}\n" for _ in range(9)).encode()

    return Prepared(
        of_file(folder, "links.txt", lambda path: read_links(path, opened)), generate, (b"d1 d1\n",)
    )


def index(folder: Path) -> Prepared:
    """open_index and the features of a query, with one damaged file in the folder."""
    from topkit.features import build_dataset, open_index

    whole = _built_index(folder)
    contents = {
        str(path.relative_to(whole)): path.read_bytes() for path in sorted(whole.rglob("*")) if path.is_file()
    }
    damaged = folder / "damaged"
    grades = {"q": {"d1": 1.0, "d2": 0.0, "d3": 2.0}}

    def check(content: bytes, valid: bool) -> None:
        file, _, rest = content.partition(b"\n")
        file_name = file.decode("utf-8", "replace")
        shutil.rmtree(damaged, ignore_errors=True)
        shutil.copytree(whole, damaged)
        if file_name in contents:
            (damaged / file_name).unlink()
            (damaged / file_name).write_bytes(rest)
        opened = open_index(damaged)
        build_dataset(opened, {"q": "wing flow heat"}, grades, features="trec", sampling="p+top", depth=5)

    def generate(rng: Random) -> bytes:
        file = rng.choice(list(contents))
        return file.encode() + b"\n" + contents[file]

    def damage(rng: Random, content: bytes) -> bytes:
        file, _, rest = content.partition(b"\n")
        if file.endswith(b".npy"):
            rest = damaged_array(rng, rest)
        else:
            rest = damaged_json(rng, rest) if rng.random() < 0.7 else mutate(rng, rest)
        return file + b"\n" + rest

    return Prepared(check, generate, damage=damage, valid_share=0.02)


# -- projects of the labelling app -------------------------------------------------------------------------
PROJECT = [
    {"project": {"name": "p", "k": 2, "strategy": "adaptive", "tools": "both", "seed": 0, "instructions": ""},
     "version": 1},
    {"topic": "q1", "query": "wings", "description": "about"},
    {"document": "d1", "kind": "text", "title": "One", "body": "first"},
    {"document": "d2", "kind": "html", "title": "Two", "body": "<p>second"},
    {"document": "d3", "kind": "text", "title": "Three", "body": "third"},
    {"candidates": "q1", "documents": ["d1", "d2", "d3"], "prior": ["d2", "d1"]},
]  # fmt: skip


def project(folder: Path) -> Prepared:
    """The import of a whole project into a database; then the project is deleted."""
    from topkit.web.bundle import import_project, write_project
    from topkit.web.project_file import read_project
    from topkit.web.settings import Settings
    from topkit.web.store import open_store
    from topkit.web.store.lifecycle import delete_project
    from topkit.web.store.projects import all_projects

    database = folder / "labels.db"
    store = open_store(Settings(str(database)))
    path, written = folder / "project.jsonl", folder / "again.jsonl"
    records = [*PROJECT, *_labellings()]

    def check(content: bytes, valid: bool) -> None:
        path.write_bytes(content)
        number = import_project(store, read_project(path))
        with store.write() as connection:
            write_project(connection, number, written)
            delete_project(connection, number, all_projects(connection)[0]["name"])

    def generate(rng: Random) -> bytes:
        return ("\n".join(json.dumps(record) for record in records) + "\n").encode()

    def damage(rng: Random, content: bytes) -> bytes:
        lines = content.splitlines()
        i = rng.randrange(len(lines))
        lines[i] = damaged_json(rng, lines[i])
        return b"\n".join(lines) + b"\n"

    return Prepared(check, generate, (b'"kind"', b"\\ud800", b'"topic": 1'), damage, valid_share=0.02)


def _labellings() -> list[dict[str, Any]]:
    """A labelling without judgments; mutations fill in wrong ones."""
    common = {"labelling": "q1", "strategy": "adaptive", "k": 2, "seed": 0, "created": 1.0}
    return [
        {**common, "assessor": "ann", "tool": "pairs", "judgments": []},
        {**common, "assessor": "bob", "tool": "grades", "judgments": []},
    ]
