"""build_index: from documents to an index in one pass; memory holds the vocabulary and a few blocks."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Ints32, thread_count, thread_map
from topkit.data import InputError, Strings
from topkit.data.files import FilePath
from topkit.features.analyser import WORD, Analyser
from topkit.features.corpus import Document
from topkit.features.index import WHOLE, Index
from topkit.features.index_files import described, open_index, replacing_index, save_strings
from topkit.features.postings import StreamWriter

BLOCK_CHARACTERS = 4 << 20
"""Characters per block: enough work for a thread, little memory."""
SEPARATOR = "\x01"
"""Separates tokens of a custom pattern in a block; texts are separated by zero bytes."""


def build_index(
    documents: Iterable[Document],
    folder: FilePath,
    *,
    fields: Sequence[str] | None = None,
    analyser: Analyser | None = None,
    progress: Callable[[int], object] | None = None,
) -> Index:
    """Index documents into a folder (created if missing) and open the index.

    An index that is already there is replaced when the new one is complete; processes that have opened it
    keep it.

    Each field is a stream; all fields together are the stream ``whole``. Text is read in blocks: a compiled
    scanner numbers the tokens on all threads, each distinct token is stemmed once, and the postings of a
    block go to disk, where they are sorted by term at the end. Terms are numbered by first appearance, so the
    index is the same for any number of threads.

    fields: the streams to index; by default those of the first document. A document may lack some.
    progress: called with the number of documents read so far, after each group of blocks.

    >>> import tempfile
    >>> docs = [Document("d1", {"title": "a red wing"}), Document("d2", {"title": "blue"})]
    >>> build_index(docs, tempfile.mkdtemp())
    Index(2 documents, 3 terms, title)
    """
    place = Path(folder)
    source = iter(documents)
    first = next(source, None)
    if first is None:
        raise InputError("no documents to index", "give at least one document")
    names = list(fields or first.fields)
    if not names or WHOLE in names or len(set(names)) != len(names):
        raise InputError(
            f"the fields {names} cannot be indexed",
            f"name at least one field, and each only once; {WHOLE!r} is reserved",
        )
    with replacing_index(place) as (arrays, facts):
        with tempfile.TemporaryDirectory(prefix=".postings-", dir=arrays) as scratch:
            writer = _Writer(names, analyser or Analyser(), Path(scratch), strict=fields is None)
            blocks = writer.blocks(chain([first], source))
            while group := list(islice(blocks, thread_count())):
                writer.add(group)
                if progress is not None:
                    progress(len(writer.ids))
            writer.save(arrays)
        facts.update(described(list(writer.streams), writer.analyser, bool(writer.urls)))
    return open_index(place)


class _Scanned(NamedTuple):
    """A block of texts as token numbers."""

    raw: bytes
    tokens: Ints32
    bounds: NDArray[np.int64]
    """Where each text starts in ``tokens``."""
    starts: list[int]
    stops: list[int]
    """Where each distinct token first occurs in ``raw``."""


class _Writer:
    """The state of one pass over the documents."""

    def __init__(self, names: list[str], analyser: Analyser, scratch: Path, strict: bool) -> None:
        self.names = names
        self.known_fields = set(names)
        self.strict = strict
        self.analyser = analyser
        self.fast = analyser.pattern == WORD
        self.is_word = _word_bytes() if self.fast else np.arange(256) > ord(SEPARATOR)
        self.ids: dict[str, None] = {}
        self.urls: list[str] = []
        self.term_of_token: dict[bytes, int] = {}
        self.terms: dict[str, int] = {}
        streams = [*names, WHOLE] if len(names) > 1 else names
        self.streams = {name: StreamWriter(scratch / str(i)) for i, name in enumerate(streams)}

    def blocks(self, documents: Iterable[Document]) -> Iterator[list[str]]:
        """The texts of about four million characters of documents, field by field."""
        texts: list[str] = []
        size = 0
        for document in documents:
            self._register(document)
            for name in self.names:
                text = document.fields.get(name, "")
                size += len(text)
                texts.append(text)
            if size >= BLOCK_CHARACTERS:
                yield texts
                texts, size = [], 0
        if texts:
            yield texts

    def _register(self, document: Document) -> None:
        """Record the id and the URL of a document; InputError if its id or its fields are invalid."""
        if document.id in self.ids:
            raise InputError(f"duplicate document id {document.id!r}", "give each document a unique id")
        self.ids[document.id] = None
        if self.strict and not self.known_fields.issuperset(document.fields):
            extra = ", ".join(sorted(set(document.fields) - self.known_fields))
            raise InputError(
                f"document {document.id!r} has fields that the first document lacks: {extra}",
                "name the fields to index",
            )
        if "url" in self.known_fields:
            self.urls.append(document.fields.get("url", ""))

    def add(self, group: list[list[str]]) -> None:
        """Add blocks of texts: scan and count them on threads."""
        from topkit.features.kernels import count_terms

        scanned = thread_map(self._scan, group)
        term_maps = [self._number(block) for block in scanned]
        step = len(self.names)
        vocabulary = len(self.terms)
        places = [(name, place, 1) for place, name in enumerate(self.names)]
        places += [(WHOLE, 0, step)] if step > 1 else []
        work = [(block, *place) for block in range(len(group)) for place in places]

        def count(item: tuple[int, str, int, int]) -> tuple[Ints32, Ints32, Ints32, Ints32, Ints32]:
            block, _, first, take = item
            tokens, bounds = scanned[block].tokens, scanned[block].bounds
            postings: tuple[Ints32, Ints32, Ints32, Ints32, Ints32] = count_terms(
                tokens, bounds, term_maps[block], step, first, take, vocabulary
            )
            return postings

        for (_, name, _, _), postings in zip(work, thread_map(count, work), strict=True):
            self.streams[name].add(postings, vocabulary)

    def _scan(self, texts: list[str]) -> _Scanned:
        from topkit.features.kernels import number_tokens

        blob = self._encode(texts)
        tokens, bounds, starts, stops = number_tokens(blob, self.is_word, len(texts))
        return _Scanned(blob.tobytes(), tokens, bounds, starts.tolist(), stops.tolist())

    def _encode(self, texts: list[str]) -> NDArray[np.uint8]:
        """The texts in lower case, separated by zero bytes, in a form that the scanner splits into tokens."""
        if self.fast:
            parts = [text if text.isascii() else " ".join(self.analyser.tokens(text)) for text in texts]
        else:
            parts = [SEPARATOR.join(self.analyser.tokens(text)) for text in texts]
        joined = "\0".join(parts)
        if joined.count("\0") != len(parts) - 1:
            joined = "\0".join(part.replace("\0", " " if self.fast else SEPARATOR) for part in parts)
        return np.frombuffer(joined.lower().encode("utf-8", "replace"), np.uint8)

    def _number(self, block: _Scanned) -> Ints32:
        """The term of each distinct token of a block, −1 for stop words; new tokens are stemmed here."""
        tokens = [block.raw[a:b] for a, b in zip(block.starts, block.stops, strict=True)]
        known = self.term_of_token
        unknown = [token for token in tokens if token not in known]
        terms = self.analyser.reduce([token.decode("utf-8") for token in unknown])
        for token, term in zip(unknown, terms, strict=True):
            known[token] = self.terms.setdefault(term, len(self.terms)) if term else -1
        return np.fromiter(map(known.__getitem__, tokens), np.int32, len(tokens))

    def save(self, folder: Path) -> None:
        """Write the arrays of the index."""
        for number, stream in enumerate(self.streams.values()):
            stream.sort(folder, str(number))
        save_strings(folder, "vocabulary", Strings.of(self.terms))
        save_strings(folder, "documents", Strings.of(self.ids))
        if self.urls:
            save_strings(folder, "urls", Strings.of(self.urls))


def _word_bytes() -> NDArray[np.bool_]:
    """The bytes of word characters; bytes of other alphabets reach the scanner only inside words."""
    table = np.zeros(256, np.bool_)
    table[[ord(c) for c in "abcdefghijklmnopqrstuvwxyz0123456789_"]] = True
    table[128:] = True
    return table
