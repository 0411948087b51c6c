"""The study of sentence selection: its parts by hand, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import topkit as tk
from topkit.data import Dataset, InputError
from topkit.features import best_depth, keep_depth, kept_quality, read_sentence_pairs
from topkit.studies.kinds.sentences import filtering, sentence_sets
from topkit.studies.publish import publish
from topkit.studies.run import run_study

WORDS = ["red", "wing", "plane", "sea", "north", "king", "snow", "glass", "river", "stone"]


def write_part(folder: Path, questions: int, seed: int) -> None:
    """Questions of two words; the relevant sentence has both of them, the others at most one."""
    rng = np.random.default_rng(seed)
    lines: dict[str, list[str]] = {"id.txt": [], "a.toks": [], "b.toks": [], "sim.txt": []}
    for q in range(questions):
        a, b, c, d, e = rng.choice(WORDS, 5, replace=False)
        sentences = [f"the {a} {c}", f"a {b} and {a}", f"{d} {e}"]
        for i in rng.permutation(3):
            lines["id.txt"].append(str(q))
            lines["a.toks"].append(f"where is the {a} {b} ?")
            lines["b.toks"].append(sentences[i])
            lines["sim.txt"].append("1" if i == 1 and q else "0")  # question 0 has no relevant sentence
    folder.mkdir()
    for name, column in lines.items():
        (folder / name).write_text("\n".join(column) + "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for seed, (part, questions) in enumerate((("train", 20), ("dev", 8), ("test", 8))):
        write_part(tmp_path / part, questions, seed)
    return tmp_path


def test_a_study_of_sentences(folder: Path) -> None:
    file = folder / "study.toml"
    rankers = '[{ ranker = "svr", name = "SVR", set = { gamma = 0.2 } }, "ranksvm-rbf"]'
    file.write_text(f'kind = "sentences"\nrankers = {rankers}\n[settings]\nfolder = "."\n')
    finished = run_study(file, folder / "out")
    means = finished.results.mean("rprec", "ranker")
    assert {name for (name,) in means} == {"language model", "SVR", "ranksvm-rbf"}
    paths = tuple(str(folder / part / name) for part in ("train", "dev", "test")
                  for name in ("id.txt", "a.toks", "b.toks", "sim.txt"))  # fmt: skip
    train, dev, test = sentence_sets(paths, "")
    assert [part.n_queries for part in (train, dev, test)] == [19, 7, 7]
    fitted = tk.ranker("svr", gamma=0.2, metric="rprec").fit(train, dev)
    expected = tk.evaluate(test, fitted.score(test), "rprec").mean["rprec"]
    assert means[("SVR",)] == pytest.approx(expected)
    shown = publish(finished)
    assert "F1 by threshold" in shown
    assert "p < 0.05, paired t-test" in shown


def test_filtering_by_hand() -> None:
    """Chosen on dev, depth 2 keeps a relevant and an irrelevant sentence of the test question: F1 2/3."""
    dev = Dataset.build([[0.0]] * 3, [1, 1, 0], ["q"] * 3)
    test = Dataset.build([[0.0]] * 3, [1, 0, 0], ["q"] * 3)
    scores = np.array([3.0, 2.0, 1.0])
    found = filtering(dev, scores, test, scores)
    assert found["dev"]["depth"] == best_depth(dev, scores) == 2
    assert found["dev"]["by depth"] == pytest.approx(2 / 3)
    assert found["test"]["depth"] == 1
    assert found["test"]["by depth"] == kept_quality(test, keep_depth(test, scores, 1)).f1 == 1.0
    assert found["curve"][-1] == pytest.approx(0.5)  # everything kept: precision 1/3, recall 1


def test_reading_judged_sentences(folder: Path) -> None:
    judged = read_sentence_pairs(folder / "dev")
    assert len(judged) == 8
    assert judged[1].query.startswith("where is the")
    assert sorted(judged[1].labels) == [0.0, 0.0, 1.0]
    (folder / "dev" / "sim.txt").write_text("1\n2\n")
    with pytest.raises(InputError, match=r"as many lines in each file: .*sim.txt has 2"):
        read_sentence_pairs(folder / "dev")
    lines = (folder / "train" / "sim.txt").read_text().splitlines()
    (folder / "train" / "sim.txt").write_text("\n".join([*lines[:4], "yes", *lines[5:]]))
    with pytest.raises(InputError, match=r"sim\.txt:5: expected a label of at least 0, got 'yes'"):
        read_sentence_pairs(folder / "train")
    (folder / "test" / "id.txt").unlink()
    with pytest.raises(InputError, match=r"id\.txt: the file does not exist"):
        read_sentence_pairs(folder / "test")
