"""``topkit features``: build a data set from a corpus, and find the best sentences of a document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from topkit.cli.output import Form, check_form, print_records
from topkit.cli.shared import write_dataset
from topkit.compute import fields_as_parameters

if TYPE_CHECKING:
    from topkit.data import Dataset
    from topkit.features import Document, Index

app = typer.Typer(help="Build a data set with features from a corpus.", no_args_is_help=True)

Corpus = Annotated[list[Path], Argument(help="Documents: .jsonl, .csv, .tsv, TREC or SMART; compressed too.")]


@dataclass(frozen=True)
class Indexing:
    """The options that say how documents are read and indexed."""

    index: Annotated[Path | None, Option(help="Folder for the index; by default OUT.index.")] = None
    fields: Annotated[str | None, Option(help="Comma-separated fields to index; by default all.")] = None
    format_name: Annotated[str | None, Option("--format", help="Format of the documents.")] = None
    language: Annotated[str, Option(help="Snowball stemmer, or none.")] = "english"
    stop: Annotated[bool, Option(help="Remove English stop words.")] = True

    def build(self, files: list[Path], folder: Path) -> Index:
        """Index the files into --index or else this folder, with a count on the terminal."""
        from topkit.features import STOP_WORDS, Analyser, build_index, read_documents
        from topkit.reporting.progress import busy

        def documents() -> Iterator[Document]:
            for path in files:
                yield from read_documents(path, self.format_name)

        language = None if self.language == "none" else self.language
        with busy("indexing") as show:
            return build_index(
                documents(),
                self.index or folder,
                fields=[name.strip() for name in self.fields.split(",")] if self.fields else None,
                analyser=Analyser(language, STOP_WORDS if self.stop else frozenset()),
                progress=lambda count: show(f"indexed {count:,} documents"),
            )


@app.command(no_args_is_help=True)
@fields_as_parameters(Indexing)
def build(
    corpus: Corpus,
    queries: Annotated[
        Path, Option(help="Queries: id, tab, text per line; JSON Lines, TREC topics or .I records.")
    ],
    qrels: Annotated[Path, Option(help="Judgments: TREC, BEIR or MS MARCO, or 'query document grade'.")],
    out: Annotated[Path, Option(help="File to write: .parquet, .gz or LETOR text.")],
    features: Annotated[str, Option(help="ohsumed, trec, or names such as bm25.title,tf.whole.")] = "ohsumed",
    sampling: Annotated[str, Option(help="judged, top, top+relevant, p+top or matching.")] = "p+top",
    depth: Annotated[int, Option(help="Documents per query by BM25, if the sampling has a cut.")] = 1000,
    links: Annotated[Path | None, Option(help="Links between documents: source target.")] = None,
    meta: Annotated[Path | None, Option(help="Also write the meta features to this Parquet file.")] = None,
    judgments_format: Annotated[
        str | None,
        Option(
            "--judgments-format",
            "--qrels-format",  # its name in `topkit eval`
            help="Format of the judgments: trec, plain, beir, msmarco, smart or cranfield.",
        ),
    ] = None,
    query_field: Annotated[
        str | None, Option(help="Field of TREC topics or JSON Lines: title, desc, narr, …")
    ] = None,
    keep_unjudged: Annotated[
        bool, Option("--keep-unjudged", help="Keep queries without judgments; by default left out.")
    ] = False,
    *,
    indexing: Indexing,
) -> None:
    """Index a corpus, sample candidates, compute features and write a data set with its card.

    Example: `topkit features build docs.jsonl --queries q.tsv --qrels qrels.txt --out data.parquet`
    """
    from topkit.data import InputError
    from topkit.data.words import counted
    from topkit.data.writers import is_standard_output
    from topkit.features import build_dataset, read_links, read_queries, write_card
    from topkit.reporting.progress import busy

    if is_standard_output(out):
        raise InputError("the data set and its card are two files", "give --out a file name")
    grades = _grades(qrels, judgments_format)
    texts = read_queries(queries, field=query_field)
    unjudged = _left_out(texts, grades, keep_unjudged)
    indexed = indexing.build(corpus, Path(f"{out}.index"))
    with busy("computing features"):
        graph = None if links is None else read_links(links, indexed)
        data, card = build_dataset(
            indexed, texts, grades, features=features, sampling=sampling, depth=depth, links=graph
        )
        write_dataset(data, out)
        card_path = write_card(card, out)
        if meta is not None:
            _write_meta(indexed, texts, data, meta)
    typer.echo(str(card))
    if unjudged:
        typer.echo(unjudged, err=True)
    sizes = f"{counted(data.n_queries, 'query')}, {counted(len(data), 'document')}"
    typer.echo(f"{out}: {sizes}; card in {card_path}")


def _grades(path: Path, format_name: str | None) -> dict[str, dict[str, float]]:
    """The judgments of a file; a detected format is printed, because it changes what the numbers mean."""
    from topkit.data import QRELS_FORMATS, read_judged

    judgments, name = read_judged(path, format_name)
    if format_name is None:
        hint = "; use --judgments-format cranfield for its codes" if name == "plain" else ""
        typer.echo(f"{path}: read as {QRELS_FORMATS[name]}{hint}", err=True)
    return judgments.grades_by_query()


def _left_out(texts: dict[str, str], grades: dict[str, dict[str, float]], keep: bool) -> str:
    """What happens to the queries without judgments, in words; with ``keep`` they get empty judgments."""
    from topkit.data.words import counted

    unjudged = [qid for qid in texts if qid not in grades]
    if keep:
        grades.update({qid: {} for qid in unjudged})
    if not unjudged:
        return ""
    what = (
        "kept, all their documents count as not relevant" if keep else "left out (--keep-unjudged keeps them)"
    )
    return f"{counted(len(unjudged), 'query')} of {len(texts):,} without judgments {what}"


def _write_meta(index: Index, queries: dict[str, str], data: Dataset, path: Path) -> None:
    import numpy as np

    from topkit.features import Candidates, analyse_queries, meta_features, write_meta

    analysed = analyse_queries(index, {qid: queries[qid] for qid in data.qids})
    documents = [index.document[name] for name in data.names_of_documents()]
    rows = Candidates(data.qids, data.ptr, np.array(documents, np.int32))
    write_meta(meta_features(index, analysed, rows, list(index.streams)), data, path)


@app.command(no_args_is_help=True)
def sentences(
    document: Annotated[Path, Argument(help="A text file.")],
    query: Annotated[str, Option(help="The query.")],
    depth: Annotated[int, Option(help="Largest number of sentences.")] = 3,
    threshold: Annotated[float | None, Option(help="Only sentences with at least this score.")] = None,
    model: Annotated[Path | None, Option(help="A ranker trained on the sentence features.")] = None,
    synonyms: Annotated[Path | None, Option(help="A word list, or a folder with the WordNet files.")] = None,
    form: Form = "table",
) -> None:
    """Print the sentences of a document that answer a query best, with the matching words marked.

    Example: `topkit features sentences article.txt --query "top k ranking" --depth 2`
    """
    from topkit.data.text_lines import text_lines
    from topkit.features import Language, best_sentences, highlight, read_synonyms

    check_form(form)
    score = None
    if model is not None:
        from topkit.rankers import load_ranker

        score = load_ranker(model).score
    text = "\n".join(line for _, line in text_lines(document))
    language = None if synonyms is None else Language(synonyms=read_synonyms(synonyms))
    chosen = best_sentences(query, text, depth=depth, threshold=threshold, score=score, language=language)
    records = [
        {"place": int(sentence.place), "score": float(sentence.score), "text": sentence.text}
        for sentence in chosen
    ]
    lines = [f"{row.place:>4}  {row.score:8.4f}  {highlight(row.text, query)}" for row in chosen]
    if chosen or form != "table":
        print_records(records, form, lambda: "\n".join(lines))
    if not chosen:
        typer.echo("no sentence matches", err=True)
