"""``topkit label plan``: what to label, and what to expect of the time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from topkit.cli.completion import name_option
from topkit.cli.shared import Seed, Settings, Source


def plan(
    data: Source,
    minutes: Annotated[float, Option(help="Time of the assessors, in minutes.")] = 120.0,
    errors: Annotated[
        float, Option(min=0.001, max=0.49, help="Share of wrong answers of an assessor.")
    ] = 0.05,
    ranker: Annotated[str, name_option("ranker", "The ranker in the loop.")] = "ranksvm",
    metric: Annotated[str, name_option("measure", "The measure to expect.")] = "ndcg@10",
    settings: Settings = None,
    simulations: Annotated[
        int, Option(min=0, help="Simulated loops; 0 prints only what to label first.")
    ] = 3,
    seed: Seed = 0,
    out: Annotated[Path | None, Option(help="Write the loop with its first decisions as JSON Lines.")] = None,
) -> None:
    """Plan the labelling of a data set: which queries first and how deep, and the quality to expect.

    What to expect is simulated on the grades of the data. Settings of the loop: `--set choose=random`,
    `--set k=3`, `--set candidates=20`, `--set least_gain=0.005`.

    Example: `topkit label plan train.txt --minutes 120 --errors 0.05 --out loop.jsonl`
    """
    from topkit.cli.shared import read_dataset
    from topkit.data.settings import parse_settings, settings_of, split_assignments
    from topkit.loop import LoopSettings, save_loop
    from topkit.metrics import metric as metric_named
    from topkit.rankers import ranker as ranker_named
    from topkit.reporting.progress import progress
    from topkit.studies.loop_plan import Plan, expected_table, first_table

    known = settings_of(LoopSettings)
    chosen = LoopSettings(**parse_settings(known, split_assignments(settings or ()), "loop"))
    name = str(metric_named(metric))
    planned = Plan(read_dataset(data), ranker_named(ranker, seed=seed), minutes, errors, chosen, seed)
    print("What to label first")
    print(first_table(planned).text())
    if out is not None:
        save_loop(planned.loop(), out)
    if simulations:
        with progress("Simulating") as report:
            expected = expected_table(planned, range(seed, seed + simulations), name, report)
        print("\nWhat to expect")
        print(expected.text())
