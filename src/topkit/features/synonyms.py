"""Synonyms for sentence selection: from a word list, or from the files of WordNet."""

from __future__ import annotations

from pathlib import Path

from topkit.data import InputError
from topkit.data.files import FilePath
from topkit.data.text_lines import text_lines
from topkit.features.analyser import Analyser


def read_synonyms(path: FilePath, analyser: Analyser | None = None) -> dict[str, frozenset[str]]:
    """Term → terms with the same meaning.

    path: a file with the words of one meaning per line (separated by blanks or commas), or a folder with
    WordNet's database files (``data.noun``, ``data.verb``, …). Expressions of several words are ignored. The
    analyser reduces words to terms.
    """
    analyser = analyser or Analyser()
    place = Path(path)
    groups = (
        _wordnet(place)
        if place.is_dir()
        else [text.replace(",", " ").split() for _, text in text_lines(path)]
    )
    words = sorted({word.lower() for group in groups for word in group})
    single = [word for word in words if analyser.tokens(word) == [word]]
    terms_of_words = analyser.reduce(single)  # one call for all words, because each call makes a stemmer
    term_of = dict(zip(single, terms_of_words, strict=True))
    table: dict[str, set[str]] = {}
    for group in groups:
        terms = {term_of.get(word.lower(), "") for word in group} - {""}
        for term in terms:
            table.setdefault(term, set()).update(terms)
    return {term: frozenset(synonyms - {term}) for term, synonyms in table.items()}


def _wordnet(folder: Path) -> list[list[str]]:
    """The words of each synset: ``offset file type count word id word id …``, the count in hexadecimal."""
    files = sorted(folder.glob("data.*"))
    if not files:
        problem = "the folder contains no WordNet database"
        raise InputError(problem, "give the folder with data.noun, data.verb, …", file=folder)
    groups = []
    for file in files:
        for number, text in text_lines(file):
            if text.startswith("  ") or not text:
                continue
            fields = text.split()
            try:
                count = int(fields[3], 16)
                words = [fields[4 + 2 * i] for i in range(count)]
            except (IndexError, ValueError):
                raise InputError("invalid line of a WordNet database", file=file, line=number) from None
            groups.append([word.split("(")[0].lower() for word in words if "_" not in word])
    return groups
