"""The card of a data set: how it was built, written next to it as ``NAME.card.json``."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from topkit.data.files import FilePath, text_writer


@dataclass(frozen=True)
class Card:
    """How a data set was built from a corpus."""

    corpus_documents: int
    streams: tuple[str, ...]
    analyser: str
    sampling: str
    sampling_means: str
    """The first sentence of the documentation of the sampling."""
    depth: int
    queries: int
    queries_left_out: tuple[str, ...]
    """Queries for which the sampling returned no document."""
    queries_unjudged: int
    """Queries without any judgment, which were left out."""
    queries_without_relevant: int
    documents: int
    relevant_judged: int
    relevant_kept: int
    queries_beyond_the_cut: int
    """Queries with relevant documents that BM25 ranks below the depth."""
    judged_unknown: int
    """Judged documents that are not in the corpus."""
    unjudged: int
    """Candidates without a judgment, which count as not relevant."""
    features: tuple[str, ...]

    def __str__(self) -> str:
        left_out = (
            f", {len(self.queries_left_out)} left out without candidates" if self.queries_left_out else ""
        )
        if self.queries_unjudged:
            left_out += f", {self.queries_unjudged:,} left out without judgments"
        no_relevant = f"{self.queries_without_relevant:,} without relevant documents"
        lines = [
            f"corpus      {self.corpus_documents:,} documents; streams {', '.join(self.streams)}",
            f"analyser    {self.analyser}",
            f"sampling    {self.sampling} (depth {self.depth:,}): {self.sampling_means}",
            f"queries     {self.queries:,}{left_out}, {no_relevant}",
            f"documents   {self.documents:,}, of which {self.unjudged:,} unjudged, counted as not relevant",
            f"relevant    {self.relevant_kept:,} of {self.relevant_judged:,} kept; "
            f"{self.queries_beyond_the_cut:,} queries have relevant documents below the depth",
            f"features    {len(self.features)}",
        ]
        return "\n".join(lines)


def write_card(card: Card, data_path: FilePath) -> Path:
    """Write the card next to its data set; returns its path."""
    path = Path(f"{data_path}.card.json")
    with text_writer(path) as stream:
        json.dump(asdict(card), stream, indent=1, ensure_ascii=False)
        stream.write("\n")
    return path
