"""Reading documents, queries and judgments as they come: damaged, truncated, in other formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from topkit.cli import command_line
from topkit.data import InputError, read_judged, read_parquet
from topkit.features import Document, build_dataset, build_index, read_documents, read_queries
from topkit.labelling.files import read_grades_csv, read_preferences_csv


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


WINGS = [Document("d1", {"title": "wings", "text": "fly"}), Document("d2", {"title": "heat", "text": ""})]


# -- encodings ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_of_spreadsheets(tmp_path: Path, encoding: str, separator: str) -> None:
    text = "id,title,text\r\nd1,wings,fly\r\nd2,heat,\r\n".replace(",", separator)
    path = write(tmp_path, "docs.csv", text.encode(encoding))
    assert list(read_documents(path)) == WINGS
    text = "query,doc,grade\nq1,d1,2\n".replace(",", separator)
    (grade,) = read_grades_csv(write(tmp_path, "g.csv", text.encode(encoding))).grades
    assert grade[:3] == ("q1", "d1", 2)
    assert read_queries(write(tmp_path, "q.tsv", "q1\twings\n".encode(encoding))) == {"q1": "wings"}


def test_a_byte_that_is_not_utf_8_changes_only_itself(tmp_path: Path) -> None:
    content = "d1\tné\nd2\tcaf\n".encode().replace(b"caf", b"caf\xe9") + "d3\tWörter\n".encode()
    path = write(tmp_path, "q.tsv", content)
    with pytest.warns(UserWarning, match="1 byte is not UTF-8 and read as Windows-1252, the first in line 2"):
        assert read_queries(path) == {"d1": "né", "d2": "café", "d3": "Wörter"}


# -- TREC --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    [
        "<DOC><DOCNO>d1</DOCNO><TITLE>wings</TITLE><TEXT>fly</TEXT></DOC>",
        "<DOC><DOCNO>d1</DOCNO><TITLE>wings</TITLE>\n<TEXT>fly</TEXT></DOC>",
        "<DOC>\n<DOCNO>d1</DOCNO>\n<TITLE>wings</TITLE><TEXT>fly</TEXT>\n</DOC>",
    ],
)
def test_trec_documents_on_any_number_of_lines(tmp_path: Path, text: str) -> None:
    second = "<doc><docno>d2</docno><title>heat</title><text></text></doc>"
    for between in ("", "\n", "\n\n"):
        assert list(read_documents(write(tmp_path, "docs", text + between + second))) == WINGS


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (
            "<DOC>\n<DOCNO>a</DOCNO>\n</DOC>\n<DOC>\n<DOCNO>b</DOCNO>\n<TEXT>cut",
            4,
            "starts here has no </DOC>",
        ),
        ("<DOC>\n<DOCNO>a</DOCNO>\n<DOC>\n<DOCNO>b</DOCNO>\n</DOC>\n", 1, "starts here has no </DOC>"),
        ("<DOC><DOCNO>a</DOCNO></DOC>\n</DOC>\n", 2, "without a <DOC>"),
    ],
)
def test_a_document_that_does_not_end_is_named(tmp_path: Path, text: str, line: int, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        list(read_documents(write(tmp_path, "docs", text)))
    assert caught.value.line == line


def test_brackets_that_are_not_tags_are_read_in_linear_time(tmp_path: Path) -> None:
    """With a quadratic search this takes hours, so that any machine would notice."""
    body = "<a " * 300_000
    path = write(tmp_path, "docs", f"<DOC><DOCNO>d1</DOCNO>\n<TEXT>{body}</TEXT></DOC>")
    (document,) = read_documents(path)
    assert len(document.fields["text"]) == len(body.strip())


# -- queries -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "text"),
    [("q.tsv", "1\ta\n2\tb\n\n1\tc\n"), ("q.jsonl", '{"id": 1, "text": "a"}\n{"id": "1", "text": "b"}\n')],
)
def test_duplicate_query_ids_are_an_error(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(InputError, match="the query id '1' occurs twice") as caught:
        read_queries(write(tmp_path, name, text))
    assert caught.value.line == (4 if name == "q.tsv" else 2)


# -- CSV and JSON Lines ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('id,title\n1,"a\n2,b\n3,c\n', 2, "opened here and never closed"),
        ('id,title\n1,"a\nb"\n2,"c\n\nd', 4, "opened here and never closed"),
        ('id,title\n1,"a\nb","c\nd\n', 3, "opened here and never closed"),
        ('id,title\n1,"a"b\n', 2, "invalid CSV"),
        ("id,title\n1,a\rb\n", 2, "carriage return"),
        ("id,title\r1,a\r2,b\r", 1, "carriage return"),
        ('id,title\n1,"a\nb",c\n', 2, "expected 2 columns, got 3"),
    ],
)
def test_bad_csv_is_named_with_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        list(read_documents(write(tmp_path, "docs.csv", text)))
    assert caught.value.line == line


def test_an_unclosed_quote_in_judgments_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, "p.csv", 'query,a,b,answer\nq,d1,d2,a\nq,d1,"d3,a\nq,d2,d3,b\n')
    with pytest.raises(InputError, match="opened here") as caught:
        read_preferences_csv(path)
    assert caught.value.line == 3


@pytest.mark.parametrize("grade", ["inf", "nan", "1e999"])
def test_grades_in_csv_are_finite(tmp_path: Path, grade: str) -> None:
    with pytest.raises(InputError, match="finite number"):
        read_grades_csv(write(tmp_path, "g.csv", f"query,doc,grade\nq,d,{grade}\n"))


def test_long_fields_are_read(tmp_path: Path) -> None:
    long = "word " * 100_000
    (document,) = read_documents(write(tmp_path, "docs.csv", f"id,text\nd1,{long}\n"))
    assert document.fields["text"] == long


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"id": 1, "x": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        ('{"id": ' + "7" * 5000 + "}", "too many digits"),
        ('{"id": "a\\ud800"}', "half of a surrogate pair"),
        ('{"id": 1, "title": ["\\udc00"]}', "half of a surrogate pair"),
        ('{"id": [1]}', "expected text or a number as the id, got list"),
        ('{"id": null}', "expected text or a number as the id, got NoneType"),
    ],
)
def test_bad_json_lines_are_named(tmp_path: Path, line: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        list(read_documents(write(tmp_path, "docs.jsonl", '{"id": 0}\n' + line + "\n")))
    assert caught.value.line == 2


def test_whole_surrogate_pairs_are_characters(tmp_path: Path) -> None:
    (document,) = read_documents(write(tmp_path, "docs.jsonl", '{"id": "\\ud83d\\ude00"}'))
    assert document.id == "😀"


# -- judgments ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "named", "name", "grades"),
    [
        ("1 0 d1 2\n1 0 d2 0\n", None, "trec", {"1": {"d1": 2, "d2": 0}}),
        ("# header\n\n1 d1 2\n1 d2 1\n1 d3 0\n", None, "plain", {"1": {"d1": 2, "d2": 1, "d3": 0}}),
        ("1 d1 2\n1 d2 1\n1 d2 4\n1 d3 -1\n", "cranfield", "cranfield", {"1": {"d1": 3, "d2": 4, "d3": 0}}),
        (
            "     1     28\t0\t0.000000\n1 35 0 0.0\n2 28 0 0\n",
            None,
            "smart",
            {"1": {"28": 1, "35": 1}, "2": {"28": 1}},
        ),
        ("1 0 0 0\n2 Q0 0 0\n", None, "trec", {"1": {"0": 0}, "2": {"0": 0}}),
    ],
)
def test_formats_of_judgments(
    tmp_path: Path, text: str, named: str | None, name: str, grades: dict[str, Any]
) -> None:
    judged = read_judged(write(tmp_path, "qrels", text), named)
    assert judged.format == name
    assert judged.judgments.grades_by_query() == grades


@pytest.mark.parametrize(
    ("text", "named", "words"),
    [
        ("1 d1 2\n1 d1 1\n", None, "judged twice .*read as three columns.*name the format cranfield"),
        ("1 d1 7\n", "cranfield", "code from 1 to 5 or -1, got '7'"),
        ("1 d1 1\n1 d2\n", None, "expected 3 fields, got 2"),
        ("1 0 d1 1\n", "plain", "expected 3 fields, got 4"),
        ("", None, "the file has no judgments"),
        ("1 0 d1 1\n", "cran", "unknown format of judgments"),
    ],
)
def test_judgments_in_another_format_are_refused(
    tmp_path: Path, text: str, named: str | None, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        read_judged(write(tmp_path, "qrels", text), named)


@pytest.fixture
def collection(tmp_path: Path) -> list[str]:
    """Arguments of features build: three queries, of which the last has no judgments."""
    rows = [
        {"id": f"d{i}", "title": word, "text": "wings"} for i, word in enumerate(["red", "blue", "green"])
    ]
    write(tmp_path, "docs.jsonl", "\n".join(map(json.dumps, rows)))
    write(tmp_path, "q.tsv", "1\tred wings\n2\tblue wings\n3\tgreen\n")
    write(tmp_path, "qrels", "1 d0 2\n1 d1 1\n2 d1 0\n")
    files = ["--queries", str(tmp_path / "q.tsv"), "--qrels", str(tmp_path / "qrels")]
    return [
        "features",
        "build",
        str(tmp_path / "docs.jsonl"),
        *files,
        "--out",
        str(tmp_path / "data.parquet"),
    ]


def test_three_columns_are_grades_and_unjudged_queries_are_left_out(
    tmp_path: Path, collection: list[str]
) -> None:
    result = CliRunner().invoke(command_line(), collection, catch_exceptions=False)
    assert result.exit_code == 0
    assert "read as three columns: query, document, grade, where larger is better" in result.output
    assert "1 query of 3 without judgments left out (--keep-unjudged keeps them)" in result.output
    assert "1 left out without judgments" in result.output
    data = read_parquet(tmp_path / "data.parquet")
    assert data.qids == ("1", "2")
    assert data.doc_ids is not None
    assert dict(zip(data.doc_ids.tolist()[:3], data.y[:3].tolist(), strict=True)) == {
        "d0": 2,
        "d1": 1,
        "d2": 0,
    }


def test_unjudged_queries_are_kept_when_asked(tmp_path: Path, collection: list[str]) -> None:
    result = CliRunner().invoke(command_line(), [*collection, "--keep-unjudged"], catch_exceptions=False)
    assert "1 query of 3 without judgments kept" in result.output
    assert read_parquet(tmp_path / "data.parquet").qids == ("1", "2", "3")


def test_cranfield_codes_when_named(tmp_path: Path, collection: list[str]) -> None:
    write(tmp_path, "qrels", "1 d0 2\n1 d1 1\n2 d1 5\n")
    result = CliRunner().invoke(
        command_line(), [*collection, "--judgments-format", "cranfield"], catch_exceptions=False
    )
    assert "read as" not in result.output
    data = read_parquet(tmp_path / "data.parquet")
    assert sorted(data.y.tolist()) == [0, 0, 0, 0, 3, 4]


def test_queries_without_any_judgment_are_an_error(tmp_path: Path) -> None:
    index = build_index(WINGS, tmp_path / "index")
    with pytest.raises(InputError, match="no query has a judgment"):
        build_dataset(index, {"q": "wings"}, {"other": {"d1": 1}})


def test_a_topic_without_a_tag_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "topics"
    file.write_text("<top>\n<num> Number: 1\n<title> wing\n</top>\n<top>\nwing\n</top>\n")
    with pytest.raises(InputError, match="the topic has no number") as caught:
        read_queries(file)
    assert caught.value.line == 5
