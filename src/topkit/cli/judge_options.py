"""The options of commands that ask a language model, and what makes a judge of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

if TYPE_CHECKING:
    from topkit.labelling.judges import ChatJudge

Url = Annotated[
    str, Option(help="Address of an OpenAI-compatible endpoint, such as http://localhost:8000/v1.")
]
Model = Annotated[str, Option(help="Name of the model at the endpoint.")]
KeyVariable = Annotated[
    str | None, Option(help="Environment variable that holds the key; without it no key is sent.")
]
Documents = Annotated[Path | None, Option(help="Documents: JSON Lines, CSV, TSV, TREC or Cranfield.")]
Queries = Annotated[Path | None, Option(help="Queries: id, tab, text per line; or JSON Lines.")]
PromptFile = Annotated[
    Path | None, Option("--prompt", help="TOML file with your prompt; see docs/judges.md.")
]
Order = Annotated[str, Option(help="Show two documents in `both` orders, or once in a `random` order.")]
Longest = Annotated[int, Option(min=1, help="Cut documents after this many tokens (counted approximately).")]
Parameters = Annotated[
    list[str] | None,
    Option(
        "--set", help="A parameter of the model, such as temperature=0 or max_tokens=50. May be repeated."
    ),
]
Structure = Annotated[str, Option(help="Form of the replies: auto, json, tool or text.")]
Logprobs = Annotated[bool, Option("--logprobs", help="Ask for log-probabilities, for the confidence.")]
Concurrency = Annotated[int, Option(min=1, help="Requests under way at the same time.")]
PerMinute = Annotated[float | None, Option(help="Start at most this many requests per minute.")]
BudgetRequests = Annotated[int, Option(min=0, help="Stop after this many requests.")]
BudgetTokens = Annotated[int | None, Option(min=0, help="Stop after this many tokens in total.")]
BudgetMoney = Annotated[float | None, Option(min=0, help="Stop at this sum; needs --prices.")]
PriceList = Annotated[
    str, Option("--prices", help="Price per million tokens of prompts and of replies: 0.15,0.60.")
]
MaxUnclear = Annotated[
    float, Option(min=0, max=1, help="Share of replies without an answer that ends the run with an error.")
]
Cache = Annotated[Path | None, Option(help="File of replies; a later run does not pay for them again.")]


@dataclass(frozen=True)
class ModelOptions:
    """The values of the options that describe the model."""

    url: str
    model: str
    key_variable: str | None
    prompt: Path | None
    order: str
    longest: int
    parameters: list[str] | None
    structure: str
    logprobs: bool
    concurrency: int
    per_minute: float | None
    budget_requests: int
    budget_tokens: int | None
    budget_money: float | None
    prices: str
    max_unclear: float
    cache: Path | None
    dry_run: bool = False

    def judge(self, texts: dict[str, str], queries: dict[str, str]) -> ChatJudge:
        """The judge that these options describe, for documents and queries given by id."""
        from topkit.labelling.judges import Budget, ChatJudge, Endpoint, Prices, Prompt

        settings: dict[str, Any] = {"structure": self.structure, "order": self.order}
        endpoint = Endpoint(
            self.url,
            self.model,
            self.key_variable,
            parameters={"temperature": 0} | model_parameters(self.parameters or ()),
            structure=settings["structure"],
            logprobs=self.logprobs,
            requests_per_minute=self.per_minute,
        )
        return ChatJudge(
            self.model,
            endpoint,
            texts.__getitem__,
            lambda query: queries.get(query, query),
            prompt=Prompt() if self.prompt is None else Prompt.read(self.prompt),
            order=settings["order"],
            cache=self.cache,
            budget=Budget(self.budget_requests, self.budget_tokens, self.budget_money),
            prices=price_list(self.prices) if self.prices else Prices(),
            concurrency=self.concurrency,
            max_unclear=self.max_unclear,
            longest=self.longest,
            dry_run=self.dry_run,
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
