"""What a judge has spent, what it may spend, and what is still to come."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import NamedTuple

from topkit.data.errors import InputError
from topkit.labelling.judges.cache import Reply


class Prices(NamedTuple):
    """The price of a million tokens, in the currency of your contract."""

    prompt: float = 0.0
    reply: float = 0.0

    def of(self, prompt_tokens: float, reply_tokens: float) -> float:
        """The price of this many tokens.

        >>> round(Prices(0.15, 0.6).of(2_000_000, 100_000), 2)
        0.36
        """
        return (prompt_tokens * self.prompt + reply_tokens * self.reply) / 1e6


@dataclass(frozen=True)
class Budget:
    """The most that a run may spend; None means no limit. Replies from the cache are free."""

    requests: int | None = None
    tokens: int | None = None
    money: float | None = None

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if value is not None and value < 0:
                raise InputError(f"the budget of {item.name} must not be negative, got {value}")


@dataclass
class Spending:
    """Requests, tokens and money so far. Requests that are under way count with the tokens expected for them,
    so that requests side by side do not exceed the budget together."""

    budget: Budget = field(default_factory=Budget)
    prices: Prices = field(default_factory=Prices)
    requests: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    _open: list[tuple[int, int]] = field(default_factory=list, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def tokens(self) -> int:
        """Tokens of prompts and replies."""
        return self.prompt_tokens + self.reply_tokens

    @property
    def money(self) -> float:
        """The price of all tokens."""
        return self.prices.of(self.prompt_tokens, self.reply_tokens)

    @contextmanager
    def request(self, prompt_tokens: int) -> Iterator[list[Reply]]:
        """Reserve a request with about this many tokens; the block appends the reply that it received.

        Raises InputError instead if the request would exceed the budget. A request that fails is not counted.
        """
        expected = (prompt_tokens, self._expected_reply())
        with self._lock:
            self._check(expected)
            self._open.append(expected)
        received: list[Reply] = []
        try:
            yield received
        finally:
            with self._lock:
                self._open.remove(expected)
                for reply in received:
                    self.requests += 1
                    self.prompt_tokens += reply.prompt_tokens
                    self.reply_tokens += reply.reply_tokens

    def _expected_reply(self) -> int:
        return round(self.reply_tokens / self.requests) if self.requests else 8

    def _check(self, expected: tuple[int, int]) -> None:
        waiting = [*self._open, expected]
        prompt = self.prompt_tokens + sum(tokens for tokens, _ in waiting)
        reply = self.reply_tokens + sum(tokens for _, tokens in waiting)
        limit = self.budget
        needed: list[tuple[str, float | None, float, str]] = [
            ("requests", limit.requests, self.requests + len(waiting), "{:,.0f} requests"),
            ("tokens", limit.tokens, prompt + reply, "{:,.0f} tokens"),
            ("money", limit.money, self.prices.of(prompt, reply), "{:,.2f} in money"),
        ]
        for name, most, value, words in needed:
            if most is not None and value > most:
                raise BudgetError(
                    f"the budget of {words.format(most)} is used up",
                    f"raise the budget of {name} and re-run; replies in the cache are not paid again",
                )

    def to_come(self, requests: float) -> tuple[float, float]:
        """The tokens and the money that this many further requests will take, by the mean so far."""
        if not self.requests:
            return 0.0, 0.0
        share = requests / self.requests
        return self.tokens * share, self.money * share

    def summary(self, requests_to_come: float = 0.0) -> str:
        """What was spent and is to come, in one line."""
        text = f"{self.requests:,} requests, {self.tokens:,} tokens"
        if self.prices != Prices():
            text += f", {self.money:,.4f} spent"
        if requests_to_come:
            tokens, money = self.to_come(requests_to_come)
            text += f"; about {requests_to_come:,.0f} requests, {tokens:,.0f} tokens"
            text += f", {money:,.4f} to come" if self.prices != Prices() else " to come"
        return text


class BudgetError(InputError):
    """The budget is used up."""
