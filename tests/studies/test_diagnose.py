"""diagnose: the change of every query, the documents that moved, and the features that moved them."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topkit as tk
from tests.support.cli import run_here
from topkit.data import InputError
from topkit.rankers import Learner
from topkit.rankers.checks import easy_data
from topkit.rankers.importance import centred
from topkit.rankers.preparation import Preparation
from topkit.scorers import Linear
from topkit.studies.diagnosis import Diagnosis
from topkit.studies.diagnosis.sides import help_by_margin

NAMES = ("bm25", "age")
DATA = tk.Dataset.build(
    [[1.0, 0.0], [0.0, 1.0], [0.5, 0.125], [0.125, 0.875], [0.75, 0.25]],
    [2, 0, 1, 0, 1],
    ["shoes", "shoes", "shoes", "<hats>", "<hats>"],
    doc_ids=["s1", "s2", "s3", "h&1", "h2"],
    feature_names=NAMES,
)


def linear(*weights: float) -> Learner:
    learner = tk.ranker("listnet", normalise="none")
    return learner.install(Preparation("none", NAMES, True), Linear(np.array(weights)), [], {})


OLD, NEW = linear(1.0, 0.0), linear(1.0, 3.0)


@pytest.fixture(scope="module")
def result() -> Diagnosis:
    return tk.diagnose(DATA, OLD, NEW, "ndcg@1", queries={"shoes": "red shoes", "<hats>": "hats"})


def test_changes_and_moves_by_hand(result: Diagnosis) -> None:
    # old scores 1, 0, .5 rank s1, s3, s2; new scores 1, 3, .875 rank s2, s1, s3
    shoes = result["shoes"]
    assert (shoes.old, shoes.new, shoes.change) == (1.0, 0.0, -1.0)
    assert [(move.document, move.old_rank, move.new_rank) for move in shoes.moves] == [
        ("s2", 3, 1),
        ("s1", 1, 2),
        ("s3", 2, 3),
    ]
    assert shoes.old_order == (("s1", 2.0, 2), ("s3", 1.0, 3), ("s2", 0.0, 1))
    # hats: old .125 < .75, new 2.75 > 1.5
    assert result["<hats>"].change == -1.0
    assert [query.qid for query in result.worse] == ["shoes", "<hats>"]
    assert result.better == ()
    with pytest.raises(KeyError, match="no query 'x'"):
        result["x"]


def test_the_features_that_moved_a_document_sum_to_its_change_of_score(result: Diagnosis) -> None:
    spreads, standard = [], []
    for ranker in (OLD, NEW):
        deviations = centred(ranker.score(DATA), DATA.ptr)
        spreads.append(np.sqrt((deviations**2).mean()))
        standard.append(deviations / spreads[-1])
    change = standard[1] - standard[0]
    for qid in DATA.qids:
        for move in result[qid].moves:
            row = DATA.names_of_documents().tolist().index(move.document)
            assert sum(share for _, share in move.features) == pytest.approx(change[row])
    # bm25 of s2 is .5 below the mean of its query in old and new; age adds 3·(1 − .375) in new only
    (s2,) = [move for move in result["shoes"].moves if move.document == "s2"]
    by_name = dict(s2.features)
    assert by_name["age"] == pytest.approx(3 * (1 - 0.375) / spreads[1])
    assert by_name["bm25"] == pytest.approx(-0.5 / spreads[1] + 0.5 / spreads[0])


def test_age_is_found_to_hurt(result: Diagnosis) -> None:
    assert result["shoes"].features[0][0] == "age"
    assert result["shoes"].features[0][1] < 0
    assert result.features.rows[0][0] == "age"
    assert "exactly" in result.explanation


@given(st.data())
def test_margins_against_all_pairs(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 6))
    grades = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    values = data.draw(st.lists(st.floats(-5, 5), min_size=n, max_size=n))
    parts = np.array(values)[:, None]
    pairs = [values[i] - values[j] for i, j in permutations(range(n), 2) if grades[i] > grades[j]]
    dataset = tk.Dataset.build(np.zeros((n, 1)), grades, ["q"] * n)
    expected = np.mean(pairs) if pairs else 0.0
    assert help_by_margin(dataset, parts)[0, 0] == pytest.approx(expected, abs=1e-9)


def test_groups_count_every_query_once_per_kind(result: Diagnosis) -> None:
    kinds = {str(row[0]) for row in result.groups.rows}
    assert kinds == {"words in the query", "documents in the list", "relevant documents", "best grade"}
    for kind in kinds:
        assert sum(int(row[2] or 0) for row in result.groups.rows if row[0] == kind) == 2
    large = tk.diagnose(easy_data(40), easy_data(40).y, -easy_data(40).y)
    for kind in ("documents in the list", "relevant documents", "best grade"):
        rows = [row for row in large.groups.rows if row[0] == kind]
        assert sum(int(row[2] or 0) for row in rows) == 40
        assert len(rows) <= 5


def test_scores_have_no_features_and_say_so(tmp_path: Path) -> None:
    tk.write_scores(OLD.score(DATA), tmp_path / "old.scores")
    NEW.save(tmp_path / "new.model")
    result = tk.diagnose(DATA, tmp_path / "old.scores", tmp_path / "new.model", "ndcg@1")
    assert result["shoes"].change == -1.0
    assert result["shoes"].features == ()
    assert "not explained: of old only scores are known" in result.explanation
    assert not result.features.rows
    with pytest.raises(InputError, match=r"old: expected 5 scores, .* got an array of shape \(2,\)"):
        tk.diagnose(DATA, [1.0, 2.0], NEW)
    with pytest.raises(InputError, match="nothing: cannot read the file"):
        tk.diagnose(DATA, "nothing", NEW)


def test_models_without_a_formula_are_explained_by_shuffling() -> None:
    data = easy_data(20)
    network = tk.ranker("listnet", scorer="mlp", hidden=(4,), epochs=15).fit(data)
    one_feature = tk.ranker("listnet", features=("2",)).fit(data)
    result = tk.diagnose(data, network, one_feature)
    assert "by shuffling: old has no formula" in result.explanation
    assert all(not move.features for query in result.queries for move in query.moves)
    assert result.features.rows[0][0] == "1", "the new ranker does not use the best feature"
    assert float(result.features.rows[0][3] or 0) < 0


def test_a_measure_whose_smaller_values_are_better() -> None:
    result = tk.diagnose(DATA.top_k(2, seed=0), OLD, NEW, "wkt")
    assert result.queries[0].change > 0, "the worst change is a rise"
    assert result.worse[0] == result.queries[0]


class Tags(HTMLParser):
    """Checks that tags close in the order they open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag not in ("meta", "br", "path", "use", "rect"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_report_shows_both_rankings_and_escapes_names(result: Diagnosis, tmp_path: Path) -> None:
    result.write_html(tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text()
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    assert {"details", "summary", "ol"} <= tags.seen
    assert "&lt;hats&gt;" in html
    assert "<hats>" not in html
    assert "h&amp;1" in html
    assert "▲ 2" in html, "s2 rose by two ranks"
    assert "significantly" in html


def test_frames_text_and_notebooks(result: Diagnosis) -> None:
    assert result.to_frame("pandas")["query"].tolist() == ["shoes", "<hats>"]
    assert "Queries, worst first" in str(result)
    assert "&lt;hats&gt;" in result._repr_html_()
    assert "| s2 | 0 | 3 | 1 |" in result.moves_table("shoes").markdown()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    DATA.to_parquet(tmp_path / "data.parquet")
    OLD.save(tmp_path / "old.model")
    NEW.save(tmp_path / "new.model")
    (tmp_path / "queries.tsv").write_text("shoes\tred shoes\n<hats>\thats\n")
    call = ("diagnose", tmp_path / "data.parquet", tmp_path / "old.model", tmp_path / "new.model")
    options = ("--metric", "ndcg@1", "--queries", tmp_path / "queries.tsv", "--out", tmp_path / "r.html")
    code, output, errors = run_here(capsys, *call, *options, "--format", "json")
    assert code == 0, errors
    document = json.loads(output)
    assert document["summary"]["change"] == -1.0
    assert document["systems"] == {"old": "old.model", "new": "new.model"}
    assert document["queries"][0]["moves"][0]["document"] == "s2"
    assert (tmp_path / "r.html").exists()
    assert f"report   {tmp_path / 'r.html'}" in errors
    code, output, _ = run_here(capsys, *call, "--metric", "ndcg@1", "--format", "csv")
    assert code == 0
    assert output.splitlines()[1].startswith('shoes,1.0,0.0,-1.0,s2 3→1,"age')
    code, output, _ = run_here(capsys, *call)
    assert "By kind of query" in output
