"""``topkit label judge``: label the top k with a language model, alone or together with people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from topkit.cli.completion import name_option
from topkit.cli.judge_options import DOCUMENTS, QUERIES, Model, ModelOptions, Url, document_texts, query_texts
from topkit.compute import fields_as_parameters

if TYPE_CHECKING:
    from topkit.labelling import Labelling
    from topkit.labelling.judges import ChatJudge, RoutedJudge
    from topkit.labelling.judges.together import OnAnswer


@dataclass(frozen=True)
class Routing:
    """The options that send some questions to people."""

    people: Annotated[
        Path | None, Option(help="CSV of people's answers to questions that the model was not sure of.")
    ] = None
    ask_people: Annotated[
        Path | None, Option(help="Write the questions for people as CSV: unsure ones, and a share to check.")
    ] = None
    sure: Annotated[
        float, Option(min=0, max=1, help="Confidence from which on the model's answer counts.")
    ] = 0.9
    check: Annotated[float, Option(min=0, max=1, help="Share of sure answers that people check.")] = 0.05

    def judge(self, chat: ChatJudge, seed: int) -> RoutedJudge | None:
        """The model together with people; None if no file of people's answers or questions is named."""
        from topkit.labelling import read_preferences_csv
        from topkit.labelling.judges import RecordedJudge, RoutedJudge

        if self.people is None and self.ask_people is None:
            return None
        answers = () if self.people is None else read_preferences_csv(self.people)[0].preferences
        people = RecordedJudge("people", answers)
        return RoutedJudge(chat, people, sure=self.sure, check=self.check, seed=seed)


@fields_as_parameters(Routing, ModelOptions)
def judge(
    candidates: Annotated[Path, Argument(help="TREC run with the documents to judge; .gz too.")],
    url: Url,
    model: Model,
    documents: Annotated[Path, Option(help=DOCUMENTS)],
    queries: Annotated[Path, Option(help=QUERIES)],
    out: Annotated[Path, Option(help="Write the judgments as CSV.")],
    qrels: Annotated[Path | None, Option(help="Also write the top k as qrels with grades k … 1.")] = None,
    k: Annotated[int, Option(min=1, help="Number of places to fill.")] = 10,
    depth: Annotated[int, Option(min=1, help="Documents per query that are judged, best scores first.")] = 50,
    strategy: Annotated[
        str, name_option("strategy", "Strategy; setwise-5 asks for the best of five, graded for grades.")
    ] = "adaptive",
    prior: Annotated[bool, Option(help="Use the order of the run as a prior.")] = True,
    seed: Annotated[int, Option(help="Seed of the strategy.")] = 0,
    order: Annotated[
        str, Option(help="Show two documents in `both` orders, or once in a `random` order.")
    ] = "both",
    dry_run: Annotated[bool, Option("--dry-run", help="Send nothing; count requests and tokens.")] = False,
    *,
    routing: Routing,
    options: ModelOptions,
) -> None:
    """Label the top k of every query with a language model.

    Replies are kept in a cache beside the output, so a run that was interrupted continues where it was.

    Example: `topkit label judge run.txt --url http://localhost:8000/v1 --model qwen --documents docs.jsonl
    --queries queries.tsv --k 10 --out judgments.csv --dry-run`
    """
    from topkit.data.judgments import joined_judgments
    from topkit.data.words import counted
    from topkit.labelling import write_judgments_csv
    from topkit.labelling.judges import label_all

    tasks = _tasks(candidates, depth, k, strategy, seed, prior)
    wanted = {document for task in tasks.values() for document in task.items}
    replies = None if dry_run else options.cache or out.with_name(f"{out.name}.replies.jsonl")
    chat = replace(options, cache=replies).judge(
        url,
        model,
        document_texts(documents, wanted),
        query_texts(queries, tasks),
        order=order,
        dry_run=dry_run,
    )
    routed = routing.judge(chat, seed)
    with chat, _progress(chat, tasks) as on_answer:
        done = label_all(tasks, routed or chat, on_answer=on_answer)
    print(f"{counted(len(tasks), 'query')}: {chat.summary()}")
    if dry_run:
        return
    write_judgments_csv(joined_judgments([lab.judgments(query) for query, lab in done.items()]), out)
    if qrels is not None:
        _write_qrels(done, qrels)
    if routed is not None:
        _report_routing(routed, routing.ask_people)


def _tasks(
    candidates: Path, depth: int, k: int, strategy: str, seed: int, prior: bool
) -> dict[str, Labelling]:
    """Query → the labelling of its best candidates."""
    from topkit.data.trec import read_run
    from topkit.labelling import Labelling

    run = read_run(candidates, compiled=False)
    tasks: dict[str, Labelling] = {}
    for number, query in enumerate(run):
        ranked = [document for document, _ in sorted(run[query], key=lambda row: -row[1])][:depth]
        tasks[query] = Labelling(ranked, k, strategy, seed + number, ranked if prior else None)
    return tasks


@contextmanager
def _progress(chat: ChatJudge, tasks: dict[str, Labelling]) -> Iterator[OnAnswer]:
    """A progress bar over questions, with the cost so far and to come; yields the function to call."""
    from topkit.reporting.progress import NO_NUMBER, progress

    asked = dict.fromkeys(tasks, 0)
    likely = {query: task.progress.likely for query, task in tasks.items()}
    with progress("Judging", lines=True) as report:

        def on_answer(query: str, labelling: Labelling) -> None:
            state = labelling.progress
            asked[query], likely[query] = state.asked, state.likely
            done, to_come = sum(asked.values()), sum(likely.values())
            report(chat.summary(to_come), done, round(done + to_come), NO_NUMBER)

        yield on_answer


def _report_routing(routed: RoutedJudge, ask_people: Path | None) -> None:
    """Print what the model's share cost, and write the questions for people."""
    import csv

    from topkit.data.files import text_writer
    from topkit.data.words import counted
    from topkit.labelling.files import PREFERENCE_COLUMNS

    print(str(routed.cost()))
    waiting = list(dict.fromkeys((query, question.documents) for query, question in routed.waiting))
    if ask_people is not None:
        with text_writer(ask_people) as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(PREFERENCE_COLUMNS)
            writer.writerows(
                [query, *documents, "", "", ""] for query, documents in waiting if len(documents) == 2
            )
    if waiting:
        where = (
            "" if ask_people is None else f"; fill the column answer of {ask_people} and give it as --people"
        )
        print(f"{counted(len(waiting), 'question')} for people{where}")


def _write_qrels(done: dict[str, Labelling], path: Path) -> None:
    from topkit.data.files import text_writer

    with text_writer(path) as stream:
        for query, lab in done.items():
            if lab.result is not None:
                for item, grade in zip(lab.items, lab.result.labels(lab.items), strict=True):
                    stream.write(f"{query} 0 {item} {grade:.0f}\n")
