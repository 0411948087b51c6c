"""The address of a chat model and how to talk to it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from topkit.data.errors import InputError

Structure = Literal["auto", "json", "tool", "text"]
"""How the model is asked to form its reply; ``auto`` is ``json``, or ``text`` if the endpoint refuses it."""


@dataclass(frozen=True)
class Endpoint:
    """The address of a chat model: ``POST {url}/chat/completions``, as in OpenAI, vLLM, Ollama and llama.cpp.

    - ``url``: for example ``http://localhost:8000/v1``.
    - ``key_variable``: the name of the environment variable that holds the key; None sends no key.
    - ``parameters``: sent as they are, such as ``{"temperature": 0, "max_tokens": 50}``. A parameter that the
      endpoint refuses by name is left out from then on, with a warning; ``{}`` sends none.
    - ``structure``: "json" asks for JSON by a schema, "tool" for a tool call, "text" for neither. "auto" asks
      for JSON and falls back to text if the endpoint refuses it.
    - ``logprobs``: ask for log-probabilities, from which the confidence of an answer is computed.
    - ``requests_per_minute``: the maximum rate of requests; None means no limit.
    - ``retries``: how often a request is repeated when the endpoint is busy or does not answer, after 1, 2,
      4, … seconds or after the time given in ``Retry-After``.
    """

    url: str
    model: str
    key_variable: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"temperature": 0})
    structure: Structure = "auto"
    logprobs: bool = False
    requests_per_minute: float | None = None
    retries: int = 4
    timeout: float = 60.0
    sleep: Callable[[float], object] = time.sleep

    def __post_init__(self) -> None:
        if urlsplit(self.url).scheme not in ("http", "https"):
            raise InputError(f"invalid URL {self.url!r}", "give one such as http://localhost:8000/v1")
        if self.structure not in get_args(Structure):
            raise InputError(
                f"unknown structure {self.structure!r}", f"choose from {', '.join(get_args(Structure))}"
            )
        if self.requests_per_minute is not None and self.requests_per_minute <= 0:
            raise InputError(f"requests_per_minute must be above 0, got {self.requests_per_minute}")
        reserved = {"model", "messages", "stream", "n"} & set(self.parameters)
        if reserved:
            raise InputError(f"the parameter {sorted(reserved)[0]!r} is set by topkit", "leave it out")

    @property
    def address(self) -> str:
        """Where requests are sent."""
        return f"{self.url.rstrip('/')}/chat/completions"

    def headers(self) -> dict[str, str]:
        """The headers of a request; the key is read from the environment each time."""
        headers = {"Content-Type": "application/json"}
        if self.key_variable is not None:
            key = os.environ.get(self.key_variable)
            if not key:
                raise InputError(
                    f"the environment variable {self.key_variable} is not set", "set it to the key"
                )
            headers["Authorization"] = f"Bearer {key}"
        return headers
