"""Loops in files: one JSON object per line, first what the loop is, then its events.

A journal is written while a loop runs, one line per event, so that a run that is killed loses at most the
answer that was being written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from topkit.data import Dataset, InputError
from topkit.data.files import FilePath, numbered_lines, text_writer
from topkit.data.json_rows import json_object
from topkit.data.settings import check_settings, settings_of
from topkit.labelling import Judge
from topkit.loop.events import Event, of_record, to_record
from topkit.loop.loop import LabellingLoop
from topkit.loop.settings import LoopSettings
from topkit.rankers import ranker

REMEDY = "use a file that save_loop or journal wrote"


def save_loop(loop: LabellingLoop, path: FilePath) -> None:
    """Write the loop with all its events, completely or not at all."""
    with text_writer(path) as stream:
        for record in (head(loop), *map(to_record, loop.events)):
            stream.write(_line(record))


def load_loop(path: FilePath, queries: Dataset, judges: Judge | Sequence[Judge] = ()) -> LabellingLoop:
    """The loop in a file, on the same queries. A last line that was cut off is ignored."""
    lines = list(numbered_lines(path))
    if lines and not _is_whole(path) and len(lines) > 1:
        lines.pop()
    records = [
        (line, json_object(text.decode("utf-8", "replace"), path, line, REMEDY))
        for line, text in lines
        if text.strip()
    ]
    if not records or records[0][1].get("event") != "loop":
        raise InputError("this is not a labelling loop", REMEDY, file=path, line=1)
    loop = _of_head(records[0][1], queries, judges, path)
    events: list[Event] = []
    for line, record in records[1:]:
        try:
            events.append(of_record(record))
        except InputError as error:
            raise InputError(error.problem, error.remedy, file=path, line=line) from None
    return loop.resumed(events)


@contextmanager
def journal(loop: LabellingLoop, path: FilePath) -> Iterator[Callable[[Sequence[Event]], None]]:
    """A function for ``run(on_events=…)`` that appends events to a file, which :func:`load_loop` reads.

    The file is written anew with the events so far, so a resumed loop continues its own journal.
    """
    save_loop(loop, path)
    with Path(path).open("a", encoding="utf-8") as stream:

        def append(events: Sequence[Event]) -> None:
            stream.writelines(_line(to_record(event)) for event in events)
            stream.flush()

        yield append


def head(loop: LabellingLoop) -> dict[str, Any]:
    """What a loop is, without its events."""
    template = ranker(loop.ranker) if isinstance(loop.ranker, str) else loop.ranker
    return {
        "event": "loop",
        "ranker": template.name,
        "ranker_settings": template.settings,
        "budget": loop.budget,
        "settings": asdict(loop.settings),
        "seed": loop.seed,
        "queries": fingerprint(loop.queries),
    }


def fingerprint(queries: Dataset) -> str:
    """24 hexadecimal digits of the SHA-256 of query ids, document ids and features; labels do not count."""
    digest = hashlib.sha256()
    for part in (json.dumps([*queries.qids, queries.ptr.tolist()]).encode(), queries.X.tobytes()):
        digest.update(part)
    digest.update(json.dumps(queries.names_of_documents().tolist()).encode())
    return digest.hexdigest()[:24]


def _of_head(
    record: dict[str, Any], queries: Dataset, judges: Judge | Sequence[Judge], path: FilePath
) -> LabellingLoop:
    if record.get("queries") != fingerprint(queries):
        raise InputError(
            "the loop was started on other queries, documents or features", "pass its data set", file=path
        )
    try:
        settings = LoopSettings(**check_settings(settings_of(LoopSettings), record["settings"], "loop"))
        template = ranker(record["ranker"], **record["ranker_settings"])
        return LabellingLoop(queries, judges, template, record["budget"], settings, record["seed"])
    except (KeyError, TypeError):
        raise InputError("the first line is incomplete", REMEDY, file=path, line=1) from None


def _is_whole(path: FilePath) -> bool:
    """Whether the last line has an end; compressed files are written completely or not at all."""
    if str(path).endswith(".gz"):
        return True
    with Path(path).open("rb") as stream:
        stream.seek(-1, 2)
        return stream.read(1) == b"\n"


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
