"""build_index: documents to an index, in one pass, in memory for the vocabulary and a few blocks."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topkit.compute import thread_count, thread_map
from topkit.data import InputError, Strings
from topkit.data.files import FilePath
from topkit.features.analyser import WORD, Analyser
from topkit.features.corpus import Document
from topkit.features.index import WHOLE, Index, open_index, save_description, save_strings

BLOCK_CHARACTERS = 4 << 20
_MERGE = 1 << 22
_PART = "\x01"

Ints = NDArray[np.int32]


def build_index(
    documents: Iterable[Document],
    folder: FilePath,
    *,
    fields: Sequence[str] | None = None,
    analyser: Analyser | None = None,
    progress: Callable[[int], object] | None = None,
) -> Index:
    """Index documents into a folder (made if need be) and open the index.

    Each field is a stream; all fields together are the stream ``whole``. Text is taken in blocks: tokens are
    numbered by a compiled scanner on all threads, each distinct token is stemmed once, and the postings of a
    block go to disk, from where they are sorted by term in the end. Terms are numbered by first appearance,
    so the index is the same for any number of threads.

    fields: the streams to index; by default those of the first document. A document may lack some.
    progress: called with the number of documents read so far, after each few blocks.

    >>> import tempfile
    >>> docs = [Document("d1", {"title": "a red wing"}), Document("d2", {"title": "blue"})]
    >>> build_index(docs, tempfile.mkdtemp())
    Index(2 documents, 3 terms, title)
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    (place / "index.json").unlink(missing_ok=True)
    chosen = analyser or Analyser()
    stream_of_documents = iter(documents)
    first = next(stream_of_documents, None)
    if first is None:
        raise InputError("there are no documents to index")
    names = list(fields or first.fields)
    if not names or WHOLE in names:
        raise InputError(f"the fields {names} cannot be indexed", f"name some, and none of them {WHOLE!r}")

    def all_documents() -> Iterator[Document]:
        yield first
        yield from stream_of_documents

    with tempfile.TemporaryDirectory(prefix=".postings-", dir=place) as scratch:
        writer = _Writer(place, Path(scratch), names, chosen, strict=fields is None)
        blocks = writer.blocks(all_documents())
        while group := list(islice(blocks, thread_count())):
            writer.add(group)
            if progress is not None:
                progress(len(writer.ids))
        writer.finish()
    return open_index(place)


@dataclass
class _Stream:
    """What is gathered of a stream: its postings are in three files, in the order of documents."""

    stem: Path
    lengths: list[Ints] = field(default_factory=list)
    distinct: list[Ints] = field(default_factory=list)
    occurrences: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    frequency: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    def add(self, terms: Ints, docs: Ints, counts: Ints, vocabulary: int) -> None:
        for part, array in (("terms", terms), ("docs", docs), ("counts", counts)):
            with self.stem.with_suffix(f".{part}").open("ab") as file:
                file.write(array.tobytes())
        missing = vocabulary - len(self.frequency)
        self.frequency = np.pad(self.frequency, (0, missing)) + np.bincount(terms, minlength=vocabulary)
        weighted = np.bincount(terms, weights=counts, minlength=vocabulary).astype(np.int64)
        self.occurrences = np.pad(self.occurrences, (0, missing)) + weighted

    def sort(self, folder: Path, name: str) -> None:
        """Postings in the order of terms, straight into the index's files."""
        from topkit.features.kernels import scatter

        ptr = np.zeros(len(self.frequency) + 1, np.int64)
        np.cumsum(self.frequency, out=ptr[1:])
        size = int(ptr[-1])
        out_docs, out_counts = (
            np.lib.format.open_memmap(folder / f"{name}.{part}.npy", "w+", np.int32, (max(size, 1),))
            for part in ("docs", "counts")
        )
        at = ptr[:-1].copy()
        for start in range(0, size, _MERGE):
            many = min(_MERGE, size - start)
            terms, docs, counts = (
                np.fromfile(self.stem.with_suffix(f".{part}"), np.int32, many, offset=4 * start)
                for part in ("terms", "docs", "counts")
            )
            scatter(terms, docs, counts, at, out_docs, out_counts)
        np.save(folder / f"{name}.ptr.npy", ptr)
        np.save(folder / f"{name}.lengths.npy", np.concatenate(self.lengths))
        np.save(folder / f"{name}.distinct.npy", np.concatenate(self.distinct))
        np.save(folder / f"{name}.occurrences.npy", self.occurrences)


class _Writer:
    """The state of one pass over the documents."""

    def __init__(
        self, folder: Path, scratch: Path, names: list[str], analyser: Analyser, strict: bool
    ) -> None:
        self.folder = folder
        self.names = names
        self.strict = strict
        self.analyser = analyser
        self.fast = analyser.pattern == WORD
        self.is_word = _word_bytes() if self.fast else np.arange(256) > ord(_PART)
        self.ids: dict[str, None] = {}
        self.urls: list[str] = []
        self.term_of_token: dict[bytes, int] = {}
        self.terms: dict[str, int] = {}
        streams = [*names, WHOLE] if len(names) > 1 else names
        self.streams = {name: _Stream(scratch / str(i)) for i, name in enumerate(streams)}

    def blocks(self, documents: Iterable[Document]) -> Iterator[list[str]]:
        """The texts of about four million characters of documents, field by field."""
        texts: list[str] = []
        size = 0
        wanted = set(self.names)
        for document in documents:
            if document.id in self.ids:
                raise InputError(
                    f"document {document.id!r} comes twice", "give each document an id of its own"
                )
            self.ids[document.id] = None
            if self.strict and not wanted.issuperset(document.fields):
                extra = ", ".join(sorted(set(document.fields) - wanted))
                raise InputError(
                    f"document {document.id!r} has fields that the first one has not: {extra}",
                    "name the fields to index",
                )
            if "url" in wanted:
                self.urls.append(document.fields.get("url", ""))
            for name in self.names:
                text = document.fields.get(name, "")
                size += len(text)
                texts.append(text)
            if size >= BLOCK_CHARACTERS:
                yield texts
                texts, size = [], 0
        if texts:
            yield texts

    def encode(self, texts: list[str]) -> NDArray[np.uint8]:
        """The texts in lower case, parted by zero bytes, in a form that the scanner splits into tokens."""
        if self.fast:
            parts = [text if text.isascii() else " ".join(self.analyser.tokens(text)) for text in texts]
        else:
            parts = [_PART.join(self.analyser.tokens(text)) for text in texts]
        joined = "\0".join(parts)
        if joined.count("\0") != len(parts) - 1:
            joined = "\0".join(part.replace("\0", " " if self.fast else _PART) for part in parts)
        return np.frombuffer(joined.lower().encode("utf-8", "replace"), np.uint8)

    def add(self, group: list[list[str]]) -> None:
        from topkit.features.kernels import count_terms, number_tokens

        def scan(texts: list[str]) -> tuple[bytes, tuple[Ints, NDArray[np.int64], list[int], list[int]]]:
            blob = self.encode(texts)
            tokens, bounds, starts, stops = number_tokens(blob, self.is_word, len(texts))
            return blob.tobytes(), (tokens, bounds, starts.tolist(), stops.tolist())

        scanned = thread_map(scan, group)
        maps = [self.number(raw, starts, stops) for raw, (_, _, starts, stops) in scanned]
        step = len(self.names)
        vocabulary = len(self.terms)
        work = [
            (block, name, place, step if name == WHOLE else 1)
            for block in range(len(group))
            for place, name in [*enumerate(self.names), *([(0, WHOLE)] if step > 1 else [])]
        ]

        def count(item: tuple[int, str, int, int]) -> tuple[Ints, Ints, Ints, Ints, Ints]:
            block, _, first, take = item
            _, (tokens, bounds, _, _) = scanned[block]
            result: tuple[Ints, Ints, Ints, Ints, Ints] = count_terms(
                tokens, bounds, maps[block], step, first, take, vocabulary
            )
            return result

        for (_, name, _, _), (terms, docs, counts, lengths, distinct) in zip(
            work, thread_map(count, work), strict=True
        ):
            stream = self.streams[name]
            before = np.int32(sum(map(len, stream.lengths)))
            stream.add(terms, docs + before, counts, vocabulary)
            stream.lengths.append(lengths)
            stream.distinct.append(distinct)

    def number(self, raw: bytes, starts: list[int], stops: list[int]) -> Ints:
        """The term of each distinct token of a block, −1 for stop words; new tokens are stemmed here."""
        tokens = [raw[a:b] for a, b in zip(starts, stops, strict=True)]
        known = self.term_of_token
        new = [token for token in tokens if token not in known]
        for token, term in zip(new, self.analyser.reduce([t.decode("utf-8") for t in new]), strict=True):
            known[token] = self.terms.setdefault(term, len(self.terms)) if term else -1
        return np.fromiter(map(known.__getitem__, tokens), np.int32, len(tokens))

    def finish(self) -> None:
        for name, stream in self.streams.items():
            stream.sort(self.folder, name)
        save_strings(self.folder, "vocabulary", Strings.of(self.terms))
        save_strings(self.folder, "documents", Strings.of(self.ids))
        if self.urls:
            save_strings(self.folder, "urls", Strings.of(self.urls))
        save_description(self.folder, list(self.streams), self.analyser, bool(self.urls))


def _word_bytes() -> NDArray[np.bool_]:
    """The bytes of word characters; those of other alphabets reach the scanner only within words."""
    table = np.zeros(256, np.bool_)
    table[[ord(c) for c in "abcdefghijklmnopqrstuvwxyz0123456789_"]] = True
    table[128:] = True
    return table
