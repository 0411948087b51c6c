"""``topkit label audit-judge``: whether a judge can be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from topkit.cli.judge_options import DOCUMENTS, QUERIES, Model, ModelOptions, Url, document_texts, query_texts
from topkit.cli.output import check_plots
from topkit.compute import fields_as_parameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topkit.data.judgments import Preference
    from topkit.labelling.agreement.pairs import Pair
    from topkit.labelling.audit import Trial
    from topkit.labelling.audit.trials import Presenter
    from topkit.labelling.judges import BiasedJudge


@fields_as_parameters(ModelOptions)
def audit_judge(
    people: Annotated[
        Path,
        Argument(
            help="Preferences of people: CSV (query, a, b, answer, assessor), or lines `topic A B winner`."
        ),
    ],
    recorded: Annotated[
        Path | None,
        Option(help="CSV of the judge's answers; document a was shown first. Repeats are allowed."),
    ] = None,
    simulate: Annotated[str, Option(help="A simulated judge: flips=0.15,position=0.1,length=0.02.")] = "",
    pairs: Annotated[int, Option(min=1, help="Pairs to ask about.")] = 200,
    repeats: Annotated[int, Option(min=1, help="How often each order is asked.")] = 2,
    seed: Annotated[int, Option(help="Seed of the choice of pairs.")] = 0,
    columns: Annotated[str, Option(help="Column names of PEOPLE: query=Input.query,a=Input.docA,…")] = "",
    answers: Annotated[str, Option(help="Words of PEOPLE for the answers: s=tie,left=a,…")] = "",
    out: Annotated[Path | None, Option(help="Write the report with plots as HTML.")] = None,
    documents: Annotated[Path | None, Option(help=DOCUMENTS)] = None,
    queries: Annotated[Path | None, Option(help=QUERIES)] = None,
    url: Url = "",
    model: Model = "",
    *,
    options: ModelOptions,
) -> None:
    """Audit a judge before trusting it: biases, consistency, agreement with people, calibration.

    The judge is a model (--url, --model, --documents, --queries), recorded answers (--recorded) or a
    simulation (--simulate).

    Example: `topkit label audit-judge people.csv --recorded model.csv --documents docs.jsonl --out a.html`
    """
    from topkit.data import InputError
    from topkit.labelling.agreement.pairs import pairs_judged
    from topkit.labelling.audit import audit, audit_page, audit_report
    from topkit.labelling.audit.trials import sample_pairs

    if out is not None:
        check_plots()  # before the model is asked, which may cost money
    preferences = _people(people, columns, answers)
    chosen = sample_pairs(pairs_judged(preferences), pairs, seed)
    wanted = {document for pair in chosen for document in (pair.a, pair.b)}
    if recorded is not None:
        trials, wanted = _recorded(recorded)
    texts = None if documents is None else document_texts(documents, wanted)
    if recorded is None and simulate:
        trials = _ask(_simulated(simulate, preferences, texts), chosen, repeats)
    elif recorded is None:
        if not url or not model or texts is None or queries is None:
            raise InputError(
                "there is no judge to audit",
                "give --recorded, --simulate, or --url, --model, --documents and --queries",
            )
        with options.judge(url, model, texts, query_texts(queries, {pair.query for pair in chosen})) as chat:
            trials = _ask(chat, chosen, repeats)
            print(chat.summary())
    report = audit(trials, preferences, None if texts is None else _lengths(texts).__getitem__)
    print(audit_report(report))
    if out is not None:
        audit_page(report, f"Audit of {model or recorded or 'a simulated judge'}").write(out)


def _people(path: Path, columns: str, answers: str) -> Sequence[Preference]:
    from topkit.cli.label import mapping
    from topkit.data.preferences import read_preferences
    from topkit.labelling import read_preferences_csv

    if path.name.removesuffix(".gz").endswith(".csv"):
        return read_preferences_csv(path, mapping(columns, "columns"), mapping(answers, "answers"))[
            0
        ].preferences
    return read_preferences(path).preferences


def _recorded(path: Path) -> tuple[list[Trial], set[str]]:
    """The trials of a file, and their documents."""
    from topkit.labelling.audit import trials_of

    trials = trials_of(_people(path, "", ""))
    return trials, {document for trial in trials for document in (trial.first, trial.second)}


def _ask(judge: Presenter, pairs: Sequence[Pair], repeats: int) -> list[Trial]:
    """The judge's answers about these pairs, each asked ``repeats`` times in both orders."""
    from topkit.labelling.audit import ask_trials
    from topkit.reporting.progress import progress, stepper

    with progress("Asking", lines=True) as report:
        return ask_trials(judge, pairs, repeats, stepper(report, 2 * repeats * len(pairs)))


def _lengths(texts: dict[str, str]) -> dict[str, float]:
    """Document → number of words."""
    return {document: float(len(text.split())) for document, text in texts.items()}


def _simulated(text: str, people: Sequence[Preference], texts: dict[str, str] | None) -> BiasedJudge:
    """A simulated judge that knows what most people prefer."""
    from topkit.cli.label import mapping
    from topkit.data import InputError
    from topkit.labelling.judges import BiasedJudge

    faults = mapping(text, "simulate")
    unknown = sorted(set(faults) - {"flips", "position", "length"})
    if unknown:
        raise InputError(f"unknown fault {unknown[0]!r}", "choose from flips, position, length")
    try:
        values = {name: float(value) for name, value in faults.items()}
    except ValueError:
        raise InputError(f"invalid --simulate {text!r}", "write numbers: flips=0.15,position=0.1") from None
    if values.get("length") and texts is None:
        raise InputError("a length bias needs the lengths of documents", "give --documents")
    lengths = _lengths(texts or {})
    return BiasedJudge.of_people(
        "simulated", people, lengths=lambda document: lengths.get(document, 1.0), **values
    )
