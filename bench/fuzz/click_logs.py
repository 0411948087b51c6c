"""Targets for click logs: CSV, TSV, Parquet and data frames, as pages and as counts; and propensities."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from bench.fuzz.judged import CSV_WORDS
from bench.fuzz.tables import parquet_bytes, random_columns
from bench.fuzz.target import DifferenceError, Prepared

Row = dict[str, Any]
WORDS = (*CSV_WORDS, b"page,", b"position", b"impressions,", b"clicks", b"\t", b"65536", b"0.5", b"true")


def click_rows(rng: Random) -> list[Row]:
    """Rows of a valid log: of pages with or without positions, or of counts."""
    return _counts(rng) if rng.random() < 0.4 else _pages(rng)


def _pages(rng: Random) -> list[Row]:
    with_position, rows = rng.random() < 0.6, []
    for page in range(rng.randrange(1, 5)):
        query = f"q{rng.randrange(3)}"
        for place, doc in enumerate(rng.sample(range(9), rng.randrange(1, 6)), 1):
            row = {"page": f"p{page}", "query": query, "document": f"d{doc}", "clicks": rng.randrange(2)}
            rows.append({**row, "position": place} if with_position else row)
    if with_position and rng.random() < 0.5:
        rng.shuffle(rows)
    return rows


def _counts(rng: Random) -> list[Row]:
    keys = sorted({(rng.randrange(3), rng.randrange(6), rng.randrange(1, 12)) for _ in range(8)})
    rng.shuffle(keys)
    rows = []
    for query, doc, position in keys:
        shown = rng.choice((0, 1, 7, 1000, 10**9))
        row = {"query": f"q{query}", "document": f"d{doc}", "position": position, "impressions": shown}
        rows.append({**row, "clicks": rng.randint(0, min(shown, 5))})
    return rows


def check_log(log: Any, rows: Sequence[Row]) -> None:
    """The log has the impressions and clicks of the rows, added up by query, document and position."""
    shown: Counter[tuple[str, str, int]] = Counter()
    clicked: Counter[tuple[str, str, int]] = Counter()
    place_on: Counter[str] = Counter()
    for row in rows:
        place_on[row.get("page", "")] += 1
        position = int(row["position"]) if "position" in row else place_on[row["page"]]
        key = (str(row["query"]), str(row["document"]), position)
        shown[key] += int(row.get("impressions", 1))
        clicked[key] += int(row["clicks"])
    counts = log.counts()
    names = counts.pairs.names()
    keys = [(*names[pair], int(place)) for pair, place in zip(counts.pair, counts.position, strict=True)]
    numbers = zip(counts.impressions.tolist(), counts.clicks.tolist(), strict=True)
    found = dict(zip(keys, numbers, strict=True))
    expected = {key: (number, clicked[key]) for key, number in shown.items() if number}
    if found != expected:
        raise DifferenceError(f"counts {found}, csv has {expected}")


def use(log: Any) -> None:
    """What every log must bear: its counts, its text, and the table that comes back."""
    from topkit.clicks import ClickLog

    again: Any = ClickLog.from_frame(log.to_frame("pyarrow")).counts()
    counts = log.counts()
    if again.impressions.sum() != counts.impressions.sum() or again.clicks.sum() != counts.clicks.sum():
        raise DifferenceError("the table of the log has other counts")
    repr(log)


def _text_target(folder: Path, file: str, separator: str) -> Prepared:
    from topkit.clicks import read_clicks

    path = folder / file

    def check(content: bytes, valid: bool) -> None:
        path.write_bytes(content)
        log = read_clicks(path)
        if valid:
            check_log(log, list(csv.DictReader(io.StringIO(content.decode()), delimiter=separator)))
        use(log)

    def generate(rng: Random) -> bytes:
        rows = click_rows(rng)
        while not any(row.get("impressions", 1) for row in rows):
            rows = click_rows(rng)
        columns = list(rows[0])
        rng.shuffle(columns)
        stream = io.StringIO()
        writer = csv.DictWriter(stream, columns, delimiter=separator, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return stream.getvalue().encode()

    return Prepared(check, generate, WORDS)


def clicks_csv(folder: Path) -> Prepared:
    """read_clicks of CSV, against the csv module."""
    return _text_target(folder, "log.csv", ",")


def clicks_tsv(folder: Path) -> Prepared:
    """read_clicks of TSV, against the csv module."""
    return _text_target(folder, "log.tsv", "\t")


def clicks_parquet(folder: Path) -> Prepared:
    """read_clicks of Parquet and ClickLog.from_frame of pandas and polars, with columns of every type."""
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    from topkit.clicks import ClickLog, read_clicks
    from topkit.data import InputError

    path = folder / "log.parquet"

    def check(content: bytes, valid: bool) -> None:
        path.write_bytes(content)
        log = read_clicks(path)
        if valid:
            rows = pq.read_table(io.BytesIO(content))
            check_log(log, rows.to_pylist())
            for frame in (rows.to_pandas(), pl.DataFrame(rows.to_pydict())):
                check_log(ClickLog.from_frame(frame), rows.to_pylist())
        use(log)
        with suppress(InputError, pa.ArrowException):  # pandas has no form for every type of Arrow
            ClickLog.from_frame(pq.read_table(io.BytesIO(content)).to_pandas())

    def generate(rng: Random) -> bytes:
        rows = click_rows(rng)
        while not any(row.get("impressions", 1) for row in rows):
            rows = click_rows(rng)
        return parquet_bytes(pa.Table.from_pylist(rows))

    def damage(rng: Random, content: bytes) -> bytes:
        rows = pa.Table.from_pylist(click_rows(rng))
        try:
            makers = random_columns(rng, len(rows))
            for _ in range(rng.choice((1, 1, 2, 3))):
                change, place = rng.randrange(4), rng.randrange(rows.num_columns)
                column = makers[rng.choice(list(makers))]()
                if change == 0 and rows.num_columns > 1:
                    rows = rows.remove_column(place)
                elif change == 1:
                    rows = rows.append_column(rng.choice((*rows.column_names, "rank", "", "é")), column)
                else:
                    rows = rows.set_column(place, rows.column_names[place], column)
            return parquet_bytes(rows.slice(0, 0) if rng.random() < 0.05 else rows)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError):
            return content  # the damage that was drawn has no Parquet form; the input stays as it was

    return Prepared(check, generate, (b"PAR1", b"clicks"), damage)


def propensities_csv(folder: Path) -> Prepared:
    """read_propensities against the csv module."""
    from topkit.clicks import read_propensities

    path = folder / "propensities.csv"

    def check(content: bytes, valid: bool) -> None:
        path.write_bytes(content)
        found = read_propensities(path)
        if valid:
            rows = list(csv.DictReader(io.StringIO(content.decode())))
            if found.examination.tolist() != [float(row["examination"]) for row in rows]:
                raise DifferenceError("the csv module reads other values")
        found.at([1, 2, 99])

    def generate(rng: Random) -> bytes:
        offset = rng.random() < 0.5
        lines = ["position,examination" + (",offset" if offset else "")]
        for place in range(1, rng.randrange(2, 9)):
            extra = f",{rng.random() / 10:.4f}" if offset else ""
            lines.append(f"{place},{rng.uniform(0.01, 1):.6g}{extra}")
        return ("\n".join(lines) + "\n").encode()

    return Prepared(check, generate, (*CSV_WORDS, b"position,", b"offset", b"nan", b"0"))


def interleaved_csv(folder: Path) -> Prepared:
    """read_outcomes of interleaved pages with clicks, against sums by page."""
    from topkit.clicks.interleaving.pages import read_outcomes

    path = folder / "pages.csv"

    def check(content: bytes, valid: bool) -> None:
        path.write_bytes(content)
        found = read_outcomes(path)
        if valid:
            sums: dict[str, float] = {}
            for row in csv.DictReader(io.StringIO(content.decode())):
                sums[row["page"]] = sums.get(row["page"], 0.0) + float(row["credit"]) * int(row["clicks"])
            if found.tolist() != list(sums.values()):
                raise DifferenceError(f"{found.tolist()}, sums by page are {list(sums.values())}")

    def generate(rng: Random) -> bytes:
        lines = ["page,query,position,document,credit,clicks"]
        for page in range(1, rng.randrange(2, 6)):
            lines += [
                f"{page},q,{place},d{place},{rng.choice((-1, 1, 0, 0.5))},{rng.randrange(2)}"
                for place in range(1, rng.randrange(2, 5))
            ]
        return ("\n".join(lines) + "\n").encode()

    return Prepared(check, generate, (*CSV_WORDS, b"page,", b"credit", b"nan", b"2"))
