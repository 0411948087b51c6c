"""Asking a model until it answers: cache, budget, requests side by side, replies without an answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import NamedTuple

from topkit.data.errors import InputError
from topkit.labelling.judges.cache import Reply, ReplyCache
from topkit.labelling.judges.endpoint import Endpoint
from topkit.labelling.judges.prompts import Message, Prompt, approximate_tokens, fingerprint, labels_of
from topkit.labelling.judges.replies import read_reply, stated_confidence
from topkit.labelling.judges.spending import BudgetError, Spending
from topkit.labelling.judges.transport import Transport
from topkit.labelling.question import Question

ENOUGH = 20
"""The share of unclear replies is taken of at least this many, so that one early slip does not end a run."""


class UnclearError(InputError):
    """Too many replies of a model give no answer."""


class Opinion(NamedTuple):
    """What a model said about documents in one order."""

    label: str | None
    """The number of the best document, tie, bad-1, bad-2 or a grade; None if there was no answer."""
    confidence: float | None
    reply: str
    """The last reply, as received."""


class Patience(NamedTuple):
    """How replies without an answer are treated; see :class:`ChatJudge`."""

    attempts: int = 3
    max_unclear: float = 0.05


class Conversation:
    """Asks one model about documents, from any number of threads. The same request is sent once."""

    def __init__(
        self,
        endpoint: Endpoint,
        prompt: Prompt,
        spending: Spending,
        cache: ReplyCache,
        concurrency: int,
        patience: Patience,
        count_tokens: Callable[[str], int] | None,
    ) -> None:
        """``count_tokens`` estimates the tokens of a request; None is a dry run, which sends nothing."""
        self.endpoint, self.prompt, self.spending, self.cache = endpoint, prompt, spending, cache
        self.patience, self.dry_run = patience, count_tokens is None
        self.count_tokens = count_tokens or approximate_tokens
        self.transport = Transport(endpoint, concurrency)
        self.unclear: list[str] = []
        self.replies = 0
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix="judge")
        self._asked: dict[str, Future[Opinion]] = {}
        self._lock = threading.Lock()
        self._error: Exception | None = None

    def ask(
        self, query: str, documents: Sequence[str], question: Question, repeat: int
    ) -> Callable[[], Opinion]:
        """Start asking about these texts in this order; the function returned waits for the opinion."""
        messages = self.prompt.messages(query, documents, question)
        key = fingerprint(json.dumps(messages), str(repeat))
        with self._lock:
            if isinstance(self._error, UnclearError | BudgetError):
                raise self._error  # these do not go away
            if key not in self._asked:
                self._asked[key] = self._pool.submit(self._until_answered, messages, question, repeat)
            future = self._asked[key]
        return lambda: self._waited(future)

    def _waited(self, future: Future[Opinion]) -> Opinion:
        """The opinion; an error, or Ctrl-C, drops the requests that have not started."""
        try:
            return future.result()
        except CancelledError:
            raise self._error or InputError("the judge was closed", "ask again") from None
        except BaseException as error:
            if isinstance(error, Exception) and self._error is None:
                self._error = error
            self.drop_waiting()
            raise

    def drop_waiting(self) -> None:
        """Cancel requests that have not started. They and the failed ones can then be asked again."""
        with self._lock:
            for future in self._asked.values():
                future.cancel()
            self._asked = {
                key: future
                for key, future in self._asked.items()
                if not future.cancelled() and not (future.done() and future.exception() is not None)
            }

    def close(self) -> None:
        """Drop what has not started, wait for what has, and close connections and the cache."""
        self.drop_waiting()
        self._pool.shutdown()
        self._pool = ThreadPoolExecutor(self.transport.connections, thread_name_prefix="judge")
        self.transport.close()
        self.cache.close()

    def _until_answered(self, messages: list[Message], question: Question, repeat: int) -> Opinion:
        words = self.prompt.allowed(question)
        reply = Reply("")
        for _ in range(self.patience.attempts):
            reply = self._reply(messages, labels_of(question), repeat)
            if self.dry_run:
                break
            label = read_reply(reply.text, words)
            self._count(reply.text if label is None else None)
            if label is not None:
                stated = stated_confidence(reply.text)
                return Opinion(label, stated if reply.confidence is None else reply.confidence, reply.text)
            messages = [*messages, *self.prompt.asked_again(reply.text, question)]
        return Opinion(None, None, reply.text)

    def _count(self, unclear: str | None) -> None:
        """Count a reply, and end the run if too many have no answer."""
        with self._lock:
            self.replies += 1
            if unclear is None:
                return
            self.unclear.append(unclear)
            if len(self.unclear) <= self.patience.max_unclear * max(self.replies, ENOUGH):
                return
            shown = " | ".join(repr(reply[-160:]) for reply in self.unclear[-3:])
            raise UnclearError(
                f"{len(self.unclear)} of {self.replies} replies have no answer that can be understood: "
                f"{shown}",
                "change the prompt, allow longer replies (max_tokens), try another structure, "
                "or raise max_unclear",
            )

    def _reply(self, messages: list[Message], choices: Sequence[str], repeat: int) -> Reply:
        endpoint = self.endpoint
        form = [endpoint.structure, endpoint.logprobs, dict(endpoint.parameters), repeat]
        key = fingerprint(json.dumps([endpoint.url, endpoint.model, form, messages], sort_keys=True))
        stored = self.cache.get(key)
        if stored is not None:
            return stored
        expected = sum(self.count_tokens(message["content"]) for message in messages)
        with self.spending.request(expected) as received:
            if self.dry_run:
                received.append(Reply("", expected, 1))
                return received[0]
            reply = self.transport.complete(messages, choices, key)
            self.cache.put(key, reply)
            received.append(reply)
        return reply
