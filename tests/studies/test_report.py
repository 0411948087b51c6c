"""Reports: everything from outside is escaped, the page stands alone, a failed write leaves nothing."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from topkit.studies.report import Report
from topkit.studies.tables import ResultTable, as_latex, as_markdown, as_text


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


TABLE = ResultTable(
    ("ndcg@10", "loss"),
    (("a<b", (0.5, 3.0)), ("c_d", (0.75, 2.0))),
    ("2 queries & more",),
    greater_is_better=(True, False),
    marks={("c_d", "ndcg@10"): "▲"},
    intervals={("a<b", "loss"): (2.5, 3.5)},
)


def test_a_page_is_whole_and_escaped(tmp_path: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib.figure import Figure

    report = Report("<script>alert(1)</script>")
    report.heading("A & B")
    report.words("run `topkit <x>`")
    report.facts({"queries": "29 <"})
    report.table(TABLE)
    figure = Figure()
    figure.subplots().plot([1, 2, 4])
    report.figure(figure, 'a "curve"')
    report.write(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert "script" not in tags.seen
    assert {"table", "svg", "figure", "code"} <= set(tags.seen)
    assert "<code>topkit &lt;x&gt;</code>" in page
    assert 'aria-label="a &quot;curve&quot;"' in page


def test_the_best_of_each_column() -> None:
    assert TABLE.best() == {("c_d", "ndcg@10"), ("c_d", "loss")}
    single = ResultTable(("x",), (("only", (1.0,)),))
    assert single.best() == set()


def test_text_markdown_and_latex() -> None:
    lines = as_text(TABLE).splitlines()
    assert lines[1].split() == ["a<b", "0.5000", "3.0000", "[2.5000,", "3.5000]"]
    assert lines[2].split() == ["c_d", "0.7500▲", "2.0000"]
    assert "| c_d | **0.7500▲** | **2.0000** |" in as_markdown(TABLE)
    assert r"c\_d & \textbf{0.7500$^{\blacktriangle}$} & \textbf{2.0000} \\" in as_latex(TABLE)


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
