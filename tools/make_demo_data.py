"""Makes the demo's data set from the docstrings of the standard library and the judgments in the package.

Documents are the functions and classes of the modules below; candidates of a query are its first 14 by BM25.
Grades are 3 (perfect), 2 (good) and 1 (fair) as listed in demo_topics.txt, and 0 for the other candidates.
The features are those of ``topkit demo``.
Run ``python tools/make_demo_data.py`` with Python 3.11 to write src/topkit/studies/demo_data.txt again.
"""

from __future__ import annotations

import importlib
import inspect
import math
import re
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from topkit.data import Dataset, write_letor
from topkit.features import build_dataset, build_index
from topkit.studies.demo_data import FEATURES, document, mentions

PACKAGE = Path(__file__).parent.parent / "src" / "topkit" / "studies"
CANDIDATES = 14
MODULES = """
argparse ast asyncio base64 bisect bz2 calendar cmath collections concurrent.futures configparser
contextlib copy csv dataclasses datetime decimal difflib doctest email.message enum fnmatch fractions
functools getpass gettext glob graphlib gzip hashlib heapq hmac html html.parser http.client http.server
imaplib inspect io ipaddress itertools json keyword linecache locale logging lzma mailbox mimetypes
multiprocessing numbers operator os os.path pathlib pdb pickle pkgutil platform pprint queue random re
reprlib sched secrets select selectors shelve shlex shutil signal smtplib socket socketserver sqlite3 ssl
statistics string struct subprocess sys sysconfig tarfile tempfile textwrap threading time timeit
tokenize traceback types typing unicodedata unittest unittest.mock urllib.parse urllib.request uuid
warnings weakref webbrowser xml.etree.ElementTree zipfile zlib
"""


def documents() -> dict[str, str]:
    """Qualified name → docstring, for everything public that says more than a few words."""
    found: dict[str, str] = {}
    for name in MODULES.split():
        module = importlib.import_module(name)
        root = name.split(".")[0]
        for key in getattr(module, "__all__", None) or [
            key for key in vars(module) if not key.startswith("_")
        ]:
            thing = getattr(module, key, None)
            home = str(getattr(thing, "__module__", root)).split(".")[0].lstrip("_")
            ours = home in (root, "builtins", "posix", "genericpath", "posixpath")
            error = inspect.isclass(thing) and issubclass(thing, BaseException)
            text = inspect.getdoc(thing) or ""
            if callable(thing) and ours and not error and len(text) >= 40:
                found.setdefault(f"{name}.{key}", text)
    return found


def words(text: str) -> list[str]:
    """Lower-case words, split at capitals, without the commonest endings."""
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower()
    return [re.sub(r"(?<=\w{3})(ing|ed|es|s)$", "", word) for word in re.findall(r"[a-z]+", spaced)]


class Field:
    """One field of all documents with the statistics that features need."""

    def __init__(self, texts: dict[str, list[str]]) -> None:
        self.counts = {name: Counter(text) for name, text in texts.items()}
        self.lengths = {name: max(1, len(text)) for name, text in texts.items()}
        self.average = sum(self.lengths.values()) / len(texts)
        self.holding = Counter(word for count in self.counts.values() for word in count)
        self.total: Counter[str] = sum(self.counts.values(), Counter())
        self.tokens = sum(self.total.values())

    def idf(self, word: str) -> float:
        n = len(self.counts)
        return math.log(1 + (n - self.holding[word] + 0.5) / (self.holding[word] + 0.5))

    def bm25(self, query: list[str], name: str) -> float:
        norm = 1.2 * (0.25 + 0.75 * self.lengths[name] / self.average)
        counts = self.counts[name]
        return sum(self.idf(w) * counts[w] * 2.2 / (counts[w] + norm) for w in query if counts[w])


def main() -> None:
    texts = documents()
    whole = Field({name: words(text) + 2 * words(name) for name, text in texts.items()})
    queries: dict[str, str] = {}
    grades: dict[str, dict[str, float]] = {}
    lines = (PACKAGE / "demo_topics.txt").read_text().splitlines()
    for number, line in enumerate((line for line in lines if not line.startswith("#")), 1):
        query, _, judged = (part.strip() for part in line.split("|"))
        terms = words(query)
        by_bm25 = sorted(texts, key=lambda name: (-whole.bm25(terms, name), name))[:CANDIDATES]
        listed = {name: 3.0 - i for i, group in enumerate(judged.split(";")) for name in group.split()}
        queries[str(number)] = query
        grades[str(number)] = {name: listed.get(name, 0.0) for name in sorted(by_bm25)}
    collection = [document(name) for name in sorted({name for judged in grades.values() for name in judged})]
    with tempfile.TemporaryDirectory() as folder:
        index = build_index(collection, Path(folder, "index"))
        links = mentions(collection, index)
        data, _ = build_dataset(
            index, queries, grades, features=",".join(FEATURES), sampling="judged", links=links
        )
    write_letor(
        Dataset.build(np.round(data.X, 4), data.y, qids_of(data), doc_ids=data.doc_ids),
        PACKAGE / "demo_data.txt",
    )
    print(data)


def qids_of(data: Dataset) -> list[str]:
    """The query id of each row."""
    return np.repeat(data.qids, data.lengths).tolist()


if __name__ == "__main__":
    main()
