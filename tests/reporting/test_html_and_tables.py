"""Tables and pages: all text is escaped, a page is self-contained, a failed write leaves nothing."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from topkit.data import InputError
from topkit.reporting.html import Page
from topkit.reporting.plots import new_figure, save_figure
from topkit.reporting.tables import FORMATS, ScoreTable, Table


class Tags(HTMLParser):
    """Checks that tags close in the order they open, and collects them."""

    VOID = ("meta", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        assert not any(key in ("src", "href") and value and value[:4] == "http" for key, value in attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


SCORES = ScoreTable(
    ("ndcg@10", "loss"),
    (("a<b", (0.5, 3.0)), ("c_d", (0.75, 2.0))),
    ("2 queries & more",),
    greater_is_better=(True, False),
    marks={("c_d", "ndcg@10"): "▲"},
    intervals={("a<b", "loss"): (2.5, 3.5)},
)


def test_a_page_is_whole_and_escaped(tmp_path: Path) -> None:
    page = Page("<script>alert(1)</script>")
    page.heading("A & B")
    page.paragraph("run `topkit <x>`")
    page.figures({"queries": "29 <"})
    page.table(SCORES.table())
    figure = new_figure()
    figure.subplots().plot([1, 2, 4])
    page.plot(figure, 'a "curve"')
    page.write(tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text()
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    assert "script" not in tags.seen
    assert {"table", "svg", "figure", "code"} <= set(tags.seen)
    assert "<code>topkit &lt;x&gt;</code>" in html
    assert 'aria-label="a &quot;curve&quot;"' in html
    assert "<b>0.7500▲</b>" in html


def test_the_best_of_each_column() -> None:
    assert SCORES.best() == {(1, 0), (1, 1)}  # the second column is better if smaller
    assert ScoreTable(("x",), (("only", (1.0,)),)).best() == frozenset()
    nan = float("nan")
    assert ScoreTable(("x",), (("a", (nan,)), ("b", (1.0,)))).best() == {(1, 0)}


def test_text_markdown_and_latex() -> None:
    lines = FORMATS["table"](SCORES).splitlines()
    assert lines[1].split() == ["a<b", "0.5000", "3.0000", "[2.5000,", "3.5000]"]
    assert lines[2].split() == ["c_d", "0.7500▲", "2.0000"]
    assert "| c_d | **0.7500▲** | **2.0000** |" in FORMATS["markdown"](SCORES)
    assert r"c\_d & \textbf{0.7500$^{\blacktriangle}$} & \textbf{2.0000} \\" in FORMATS["latex"](SCORES)


def test_nothing_is_left_of_a_report_that_failed(tmp_path: Path) -> None:
    from topkit.data.files import text_writer

    (tmp_path / "r.html").write_text("before")

    def fail() -> None:
        with text_writer(tmp_path / "r.html") as stream:
            stream.write("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert (tmp_path / "r.html").read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


def test_columns_align_and_values_without_number_show_a_dash() -> None:
    table = Table(("name", "n", "share"), [("long name", 3, None), ("b", 12, -0.00001)], align="lrr")
    assert table.text().splitlines() == [
        "name        n   share",
        "long name   3       –",
        "b          12  0.0000",
    ]
    assert table.text(lambda cell: f"*{cell}*") == table.text()  # nothing is emphasised here
    emphasised = Table(("a", "b"), [("x", 1)], bold={(0, 1)}).text(lambda cell: f"*{cell}*")
    assert emphasised.splitlines()[1] == "x  *1*"


def test_special_characters_in_markdown_and_csv() -> None:
    table = Table(("a", "b"), [("x|y", 'say "hi", twice')])
    assert r"x\|y" in table.markdown()
    assert table.csv().splitlines()[1] == 'x|y,"say ""hi"", twice"'


def test_figures_are_reproducible_and_unknown_formats_refused(tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        figure = new_figure()
        figure.subplots().plot([1, 2, 4])
        save_figure(figure, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    with pytest.raises(InputError, match="unknown figure format"):
        save_figure(new_figure(), tmp_path / "figure.gif")
