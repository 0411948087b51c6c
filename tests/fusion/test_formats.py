"""Files of rankings: CSV with and without header, LETOR text, TREC; what is wrong is said with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkit.data import InputError, Run
from topkit.fusion.formats import read_ranking_table, read_rankings, write_ranking_table

LETOR_AGG = """10002,1,GX008,32
10002,2,GX008,1
10002,1,GX037,40
10003,2,GX001,7
10002,2,GX037,0.5
"""


def test_letor_aggregation_file(tmp_path: Path) -> None:
    path = tmp_path / "rank.csv"
    path.write_text(LETOR_AGG)
    one, two = read_rankings(path)
    assert (one.name, two.name) == ("1", "2")
    assert one["10002"] == [("GX037", 40.0), ("GX008", 32.0)]
    assert two["10002"] == [("GX008", 1.0), ("GX037", 0.5)]
    assert two["10003"] == [("GX001", 7.0)]
    assert "10003" not in one


def test_header_names_the_columns_and_ranks_are_turned(tmp_path: Path) -> None:
    path = tmp_path / "rank.csv.gz"
    path.write_bytes(gzip.compress(b"Rank,doc,run,topic\n2,b,s,t\n1,a,s,t\n1,b,u,t\nNULL,a,u,t\n"))
    s, u = read_rankings(path)
    assert s["t"] == [("a", -1.0), ("b", -2.0)]
    assert u["t"] == [("b", -1.0)]


def test_quotes_spaces_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "rank.csv"
    path.write_text('# rankings\n\n"q 1", s ,"a, b",3\r\n"q 1",s,c,2\r\n')
    (run,) = read_rankings(path)
    assert run["q 1"] == [("a, b", 3.0), ("c", 2.0)]


def test_letor_text_has_a_system_a_feature(tmp_path: Path) -> None:
    path = tmp_path / "agg.txt"
    path.write_text("0 qid:7 1:3 2:NULL #docid = a\n1 qid:7 1:5 2:1 #docid = b\n")
    one, two = read_rankings(path)
    assert one["7"] == [("b", 5.0), ("a", 3.0)]
    assert two["7"] == [("b", 1.0)]


def test_trec_runs_are_told_from_tables(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    path.write_text("1 Q0 doc,with,commas 1 2.5 tag\n")
    (run,) = read_rankings(path)
    assert run["1"] == [("doc,with,commas", 2.5)]
    assert run.name == "x.run"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("q,s,d,1\nq,s,d,2\n", 2, "ranked twice"),
        ("q,s,d\n", 1, "got 3"),
        ("q,s,d,1\n\nq,s,e,high\n", 3, "expected a finite number"),
        ("q,s,d,inf\n", 1, "expected a finite number"),
        ("q,s,d,1_0\n", 1, "expected a finite number"),
        ("q,,d,1\n", 1, "is empty"),
        ('q,s,"d,1\n', 1, "invalid CSV"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, text: str, line: int, problem: str) -> None:
    path = tmp_path / "rank.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=problem) as caught:
        read_ranking_table(path)
    assert caught.value.file == str(path)
    assert caught.value.line == line


def test_files_without_rankings(tmp_path: Path) -> None:
    path = tmp_path / "rank.csv"
    path.write_text("query,system,document,value\n")
    with pytest.raises(InputError, match="no rankings"):
        read_ranking_table(path)
    path.write_text("query,document,value\n")
    with pytest.raises(InputError, match="header"):
        read_ranking_table(path)
    with pytest.raises(InputError, match="no such file"):
        read_rankings(tmp_path / "nowhere.csv")


names = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=6
).filter(lambda text: text == text.strip() and not text.startswith("#"))


@given(
    st.dictionaries(
        names,
        st.dictionaries(names, st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5),
        min_size=1,
        max_size=3,
    ),
    names,
)
def test_tables_read_back(
    tmp_path_factory: pytest.TempPathFactory, lists: dict[str, dict[str, float]], name: str
) -> None:
    ranked = {q: sorted(own.items(), key=lambda pair: -pair[1]) for q, own in lists.items()}
    if name.lower() in ("system", "run", "ranker", "assessor"):
        return
    run = Run.of(ranked, name)
    path = tmp_path_factory.mktemp("tables") / "run.csv"
    write_ranking_table([run], path)
    (back,) = read_ranking_table(path)
    assert back == run
    assert back.name == name
