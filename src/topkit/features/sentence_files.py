"""Judged sentences in files: four files with one line per pair of question and sentence."""

from __future__ import annotations

from pathlib import Path

from topkit.data import InputError
from topkit.data.files import FilePath
from topkit.features.sentences import Judged

PAIR_FILES = ("id.txt", "a.toks", "b.toks", "sim.txt")
"""Question number, question, sentence, and its label: line i of each file describes pair i."""


def read_sentence_pairs(folder: FilePath) -> list[Judged]:
    """The questions of a folder in the form of WikiQA's distribution, with their sentences and labels.

    The folder has the files ``id.txt`` (question number), ``a.toks`` (question), ``b.toks`` (sentence) and
    ``sim.txt`` (label), one line per pair. Sentences of a question keep their order.
    """
    columns = {name: _lines(Path(folder, name)) for name in PAIR_FILES}
    counts = {name: len(lines) for name, lines in columns.items()}
    if len(set(counts.values())) != 1:
        listed = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise InputError(f"expected as many lines in each file: {listed}", file=folder)
    groups: dict[str, tuple[str, list[str], list[float]]] = {}
    for number, (qid, question, sentence, label) in enumerate(zip(*columns.values(), strict=True), 1):
        _, sentences, labels = groups.setdefault(qid, (question, [], []))
        sentences.append(sentence)
        labels.append(_label(label, Path(folder, "sim.txt"), number))
    return [Judged(qid, *group) for qid, group in groups.items()]


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise InputError(
            "the file does not exist", f"a folder of judged sentences has {', '.join(PAIR_FILES)}", file=path
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the file cannot be read ({error})", file=path) from None


def _label(text: str, path: Path, line: int) -> float:
    try:
        label = float(text)
    except ValueError:
        label = -1.0
    if not 0 <= label < float("inf"):
        raise InputError(f"expected a label of at least 0, got {text[:40]!r}", file=path, line=line)
    return label
