"""The options of commands that ask a language model, and the judge that they describe."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from typer import Option

if TYPE_CHECKING:
    from topkit.labelling.judges import ChatJudge

Url = Annotated[
    str, Option(help="Address of an OpenAI-compatible endpoint, such as http://localhost:8000/v1.")
]
Model = Annotated[str, Option(help="Name of the model at the endpoint.")]
DOCUMENTS = "Documents: JSON Lines, CSV, TSV, TREC or Cranfield."
QUERIES = "Queries: id, tab, text per line; or JSON Lines."


@dataclass(frozen=True)
class ModelOptions:
    """How to ask a language model: the options that ``judge`` and ``audit-judge`` share."""

    key_variable: Annotated[
        str | None, Option(help="Environment variable that holds the key; without it no key is sent.")
    ] = None
    prompt: Annotated[Path | None, Option(help="TOML file with your prompt; see docs/judges.md.")] = None
    longest: Annotated[
        int, Option(min=1, help="Cut documents after this many tokens (counted approximately).")
    ] = 2000
    parameters: Annotated[
        list[str] | None,
        Option(
            "--set", help="A parameter of the model, such as temperature=0 or max_tokens=50. May be repeated."
        ),
    ] = None
    structure: Annotated[str, Option(help="Form of the replies: auto, json, tool or text.")] = "auto"
    logprobs: Annotated[bool, Option("--logprobs", help="Ask for log-probabilities, for the confidence.")] = (
        False
    )
    concurrency: Annotated[int, Option(min=1, help="Requests under way at the same time.")] = 8
    per_minute: Annotated[float | None, Option(help="Start at most this many requests per minute.")] = None
    budget_requests: Annotated[int, Option(min=0, help="Stop after this many requests.")] = 1000
    budget_tokens: Annotated[int | None, Option(min=0, help="Stop after this many tokens in total.")] = None
    budget_money: Annotated[float | None, Option(min=0, help="Stop at this sum; needs --prices.")] = None
    prices: Annotated[str, Option(help="Price per million tokens of prompts and of replies: 0.15,0.60.")] = ""
    max_unclear: Annotated[
        float,
        Option(min=0, max=1, help="Share of replies without an answer that ends the run with an error."),
    ] = 0.05
    cache: Annotated[
        Path | None, Option(help="File of replies; a later run does not pay for them again.")
    ] = None

    def judge(
        self,
        url: str,
        model: str,
        texts: dict[str, str],
        queries: dict[str, str],
        *,
        order: str = "both",
        dry_run: bool = False,
    ) -> ChatJudge:
        """The judge that these options describe; ``texts`` and ``queries`` hold texts by id."""
        from topkit.labelling.judges import Budget, ChatJudge, Endpoint, Prices, Prompt

        endpoint = Endpoint(
            url,
            model,
            self.key_variable,
            parameters={"temperature": 0} | model_parameters(self.parameters or ()),
            structure=cast(Any, self.structure),  # checked by the endpoint
            logprobs=self.logprobs,
            requests_per_minute=self.per_minute,
        )
        return ChatJudge(
            model,
            endpoint,
            texts.__getitem__,
            lambda query: queries.get(query, query),
            prompt=Prompt() if self.prompt is None else Prompt.read(self.prompt),
            order=cast(Any, order),  # checked by the judge
            cache=self.cache,
            budget=Budget(self.budget_requests, self.budget_tokens, self.budget_money),
            prices=price_list(self.prices) if self.prices else Prices(),
            concurrency=self.concurrency,
            max_unclear=self.max_unclear,
            longest=self.longest,
            dry_run=dry_run,
        )


def model_parameters(texts: Iterable[str]) -> dict[str, Any]:
    """``name=value`` texts; values are JSON where they can be read as JSON, else text.

    >>> model_parameters(["temperature=0.2", "reasoning_effort=low", "stop=[\\"x\\"]"])
    {'temperature': 0.2, 'reasoning_effort': 'low', 'stop': ['x']}
    """
    import json

    from topkit.data.settings import split_assignments

    values: dict[str, Any] = {}
    for name, text in split_assignments(texts).items():
        try:
            values[name] = json.loads(text)
        except ValueError:
            values[name] = text
    return values


def price_list(text: str) -> Any:
    """``0.15,0.60`` as prices per million tokens."""
    from topkit.data import InputError
    from topkit.labelling.judges import Prices

    try:
        prompt, reply = (float(word) for word in text.split(","))
    except ValueError:
        raise InputError(f"invalid --prices {text!r}", "write two numbers, such as 0.15,0.60") from None
    return Prices(prompt, reply)


def document_texts(path: Path, wanted: set[str]) -> dict[str, str]:
    """The texts of these documents: their fields, one per line."""
    from topkit.data import InputError
    from topkit.features.corpus import read_documents

    texts = {
        document.id: "\n".join(filter(None, document.fields.values()))
        for document in read_documents(path)
        if document.id in wanted
    }
    missing = sorted(wanted - set(texts))
    if missing:
        problem = f"{len(missing)} of {len(wanted)} documents are missing, such as {missing[0]!r}"
        raise InputError(problem, "give the file that holds all candidates", file=path)
    return texts


def query_texts(path: Path, wanted: Iterable[str]) -> dict[str, str]:
    """The texts of these queries."""
    from topkit.data import InputError
    from topkit.features import read_queries

    queries = read_queries(path)
    missing = [query for query in wanted if query not in queries]
    if missing:
        raise InputError(f"query {missing[0]!r} is missing", "add it, or remove its candidates", file=path)
    return queries
