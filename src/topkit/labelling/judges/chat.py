"""A language model behind any OpenAI-compatible chat endpoint, as a judge."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Literal, Self, get_args

from topkit.data.errors import InputError
from topkit.labelling.contest import LETTERS
from topkit.labelling.judges.cache import ReplyCache
from topkit.labelling.judges.conversation import Conversation, Opinion, Patience
from topkit.labelling.judges.endpoint import Endpoint
from topkit.labelling.judges.judge import Verdict
from topkit.labelling.judges.prompts import Prompt, approximate_tokens, cut, fingerprint
from topkit.labelling.judges.spending import Budget, Prices, Spending
from topkit.labelling.question import Question, question_about
from topkit.labelling.strategies.graded import GRADES

Orders = Literal["both", "random"]
PREFERRED = {"a": "a", "bad-b": "a", "b": "b", "bad-a": "b", "tie": "tie"}
"""Which document an answer prefers."""
NO_ANSWER = {True: "tie", False: "fair"}
"""What a question without an answer counts as, by whether it compares documents."""


class NoAnswer(UserWarning):
    """A model gave no answer to a question, also when asked again."""


@dataclass
class ChatJudge:
    """Asks a model; about two documents in both orders by default: if the two answers disagree, it is a tie.

    - ``endpoint``: where the model is, how it is asked, and how often a request is repeated.
    - ``text``: document id → its text; ``query_text``: query id → its text. The prompt encloses them by lines
      that they cannot contain and says that they are data.
    - ``prompt``: the texts of the prompt, perhaps from a file (:meth:`Prompt.read`).
    - ``order``: "both" asks twice, with the documents in both orders; "random" asks once, in an order that
      depends on the documents only.
    - ``cache``: a file of replies, so that no request is paid twice, not even after a kill.
    - ``budget``: the most that may be spent, a :class:`Budget` or a number of requests. ``prices`` are needed
      for a budget of money.
    - ``concurrency``: requests under way at the same time.
    - ``max_unclear``: the share of replies without an answer above which the run ends with an error. After
      such a reply the model is asked again, up to ``attempts`` times in total. A question that stays without
      an answer is counted in ``unanswered``, is shown in a warning and counts as a tie (a grade: as "fair")
      with confidence 0.
    - ``longest``: documents are cut after this many tokens, counted by ``count_tokens``, and say so.
    - ``dry_run``: send nothing; answer by a fixed arbitrary order, and count requests and tokens.

    The confidence of an answer is the probability that the model gives it (``Endpoint(logprobs=True)``), or
    the confidence that it states in JSON; with both orders, the mean of the two. Without either it is 1 if
    the two orders agree and 0.5 if not.
    """

    name: str
    endpoint: Endpoint
    text: Callable[[str], str] = str
    query_text: Callable[[str], str] = str
    _: KW_ONLY
    prompt: Prompt = field(default_factory=Prompt)
    order: Orders = "both"
    cache: Path | None = None
    budget: Budget | int | None = 1000
    prices: Prices = Prices()  # noqa: RUF009 - an immutable value
    concurrency: int = 8
    max_unclear: float = 0.05
    attempts: int = 3
    longest: int = 2000
    count_tokens: Callable[[str], int] = approximate_tokens
    dry_run: bool = False
    unanswered: list[tuple[str, Question]] = field(default_factory=list, init=False)
    """(query, question) that the model did not answer."""
    _conversation: Conversation = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.order not in get_args(Orders):
            raise InputError(f"unknown order {self.order!r}", "choose both or random")
        if self.concurrency < 1 or self.attempts < 1 or self.longest < 1:
            raise InputError("concurrency, attempts and longest must be at least 1")
        if not 0 <= self.max_unclear <= 1:
            raise InputError(f"max_unclear must be from 0 to 1, got {self.max_unclear}")
        budget = Budget(requests=self.budget) if isinstance(self.budget, int) else self.budget or Budget()
        if budget.money is not None and self.prices == Prices():
            raise InputError(
                "a budget of money needs prices", "give Prices(prompt=…, reply=…) per million tokens"
            )
        self._conversation = Conversation(
            self.endpoint,
            self.prompt,
            Spending(budget, self.prices),
            ReplyCache(self.cache),
            self.concurrency,
            Patience(self.attempts, self.max_unclear),
            None if self.dry_run else self.count_tokens,
        )

    # -- what was spent ------------------------------------------------------------------------------------
    @property
    def spent(self) -> Spending:
        """Requests, tokens and money so far; replies from the cache are free."""
        return self._conversation.spending

    @property
    def requests(self) -> int:
        """Requests that were answered, without those from the cache."""
        return self.spent.requests

    @property
    def tokens(self) -> int:
        """Tokens as the endpoint counts them; in a dry run, about."""
        return self.spent.tokens

    @property
    def unclear(self) -> list[str]:
        """The replies that had no answer, the latest last."""
        return self._conversation.unclear

    def summary(self, questions_to_come: float = 0.0) -> str:
        """What was spent, what is to come, and how many replies had no answer, in one line."""
        per_question = 2 if self.order == "both" else 1
        text = self.spent.summary(questions_to_come * per_question)
        unclear = len(self.unclear)
        return text + (
            f"; {unclear} of {self._conversation.replies} replies without an answer" if unclear else ""
        )

    # -- questions -----------------------------------------------------------------------------------------
    def judge(self, query: str, question: Question) -> Verdict:
        """The model's answer, with the seconds its requests took and its confidence."""
        started = time.monotonic()
        opinions = [self._start(query, shown) for shown in self._shown(query, question)]
        answer, confidence = self._combined(query, question, [opinion() for opinion in opinions])
        return Verdict(answer, time.monotonic() - started, confidence)

    def judge_all(self, questions: Iterable[tuple[str, Question]]) -> list[Verdict]:
        """The answers to questions that do not depend on each other, asked side by side; in their order."""
        questions = list(questions)
        self.prefetch(questions)
        return [self.judge(query, question) for query, question in questions]

    def prefetch(self, questions: Iterable[tuple[str, Question]]) -> None:
        """Start asking (query, question) pairs without waiting; :meth:`judge` then finds the replies."""
        for query, question in questions:
            for shown in self._shown(query, question):
                self._start(query, shown)

    def present(self, query: str, documents: Sequence[str], repeat: int = 0) -> Callable[[], Opinion]:
        """Ask once, with the documents in this order; the function returned waits for the opinion.

        A different ``repeat`` sends the same request again, to see whether the model is consistent.
        """
        return self._start(query, documents, repeat)

    def close(self) -> None:
        """Close connections and the cache file. Requests that have not started are dropped."""
        self._conversation.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _shown(self, query: str, question: Question) -> list[tuple[str, ...]]:
        """The orders in which the documents are shown, whichever of them the question names first."""
        documents = tuple(sorted(question.documents, key=lambda document: fingerprint(query, document)))
        if len(documents) == 1:
            return [documents]
        return [documents, documents[::-1]] if self.order == "both" else [documents]

    def _start(self, query: str, documents: Sequence[str], repeat: int = 0) -> Callable[[], Opinion]:
        texts = [
            cut(self.text(document), self.longest, self.count_tokens, self.prompt.cut)
            for document in documents
        ]
        question = question_about(documents)
        return self._conversation.ask(self.query_text(query), texts, question, repeat)

    # -- from opinions to one answer -----------------------------------------------------------------------
    def _combined(
        self, query: str, question: Question, opinions: Sequence[Opinion]
    ) -> tuple[str, float | None]:
        if self.dry_run:
            return _arbitrary(question), None
        if any(opinion.label is None for opinion in opinions):
            self.unanswered.append((query, question))
            reply = next(opinion.reply for opinion in opinions if opinion.label is None)
            answer = NO_ANSWER[question.b is not None]
            warnings.warn(
                f"no answer for query {query!r} after {self.attempts} attempts, counted as {answer!r}: "
                f"{reply[:200]!r}",
                NoAnswer,
                stacklevel=3,
            )
            return answer, 0.0
        shown = self._shown(query, question)
        named = [
            _named(opinion.label or "", documents, question)
            for opinion, documents in zip(opinions, shown, strict=True)
        ]
        sure = [opinion.confidence for opinion in opinions]
        if len(named) == 1:
            return named[0], sure[0]
        return _agreed(named, sure, question)


def _named(label: str, shown: Sequence[str], question: Question) -> str:
    """The answer to a question, from the label of a reply that saw its documents in the order ``shown``."""
    if label in ("tie", *GRADES):
        return label
    bad, number = label.startswith("bad-"), int(label.removeprefix("bad-"))
    letter = LETTERS[question.documents.index(shown[number - 1])]
    return f"bad-{letter}" if bad else letter


def _agreed(
    answers: Sequence[str], confidences: Sequence[float | None], question: Question
) -> tuple[str, float | None]:
    """One answer from the answers in both orders, and its confidence."""
    first, second = answers
    sure = [1.0 if confidence is None else confidence for confidence in confidences]
    if first == second:
        return first, sum(sure) / 2
    if len(question.documents) > 2:
        # a tie would put all documents on one place, so the surer of the two answers counts
        return (first if sure[0] >= sure[1] else second), 0.5
    if PREFERRED[first] == PREFERRED[second]:  # agreed on the better one, not on whether the other is bad
        return PREFERRED[first], sum(sure) / 2
    return "tie", 0.5


def _arbitrary(question: Question) -> str:
    """An answer that depends on the documents only, for dry runs."""
    prints = [fingerprint(document) for document in question.documents]
    if len(prints) == 1:
        return GRADES[int(prints[0], 16) % len(GRADES)]
    return LETTERS[prints.index(max(prints))]
