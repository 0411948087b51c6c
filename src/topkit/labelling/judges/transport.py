"""Requests to an endpoint: connections that are kept, retries, a rate limit, fields that models refuse."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

from topkit.compute import require
from topkit.data.errors import InputError
from topkit.labelling.judges.cache import Reply
from topkit.labelling.judges.endpoint import Endpoint
from topkit.labelling.judges.prompts import Message
from topkit.labelling.judges.structured import TOP_LOGPROBS, read_completion, structure_fields

BUSY = {408, 409, 425, 429, 500, 502, 503, 504, 529}
"""Status codes after which the same request may succeed later."""
REFUSED = {400, 422}
"""Status codes for a request with a field that the endpoint does not accept."""
LONGEST_PAUSE = 60.0
"""The longest wait that ``Retry-After`` is allowed to ask for, in seconds."""
REPLY_BYTES = 1 << 20
"""The most that is read of a reply; a valid one is some kilobytes."""


class RefusedParameter(UserWarning):
    """The endpoint refused a field of the request, which is left out from now on."""


@dataclass
class Transport:
    """Sends requests to one endpoint from any number of threads, over connections that are kept open."""

    endpoint: Endpoint
    connections: int = 8
    _client: Any = field(default=None, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _refused: set[str] = field(default_factory=set, repr=False)
    """Optional fields that the endpoint has refused."""
    _next_start: float = field(default=0.0, repr=False)

    def complete(self, messages: Sequence[Message], choices: Sequence[str], key: str = "") -> Reply:
        """The model's reply. ``key`` identifies the request, so that a repeated one need not be paid twice.

        The key is sent as ``Idempotency-Key``; endpoints that know it return the reply of the first request.
        """
        endpoint = self.endpoint
        attempt = 0
        while True:
            self._wait_for_turn()
            body = self._body(messages, choices)
            status, content, retry_after = self._post(body, key)
            if status == 200:
                return read_completion(content, choices)
            shown = content[:300].decode("utf-8", "replace")
            problem = (
                f"the endpoint answered {status}: {shown}"
                if status
                else f"the endpoint does not answer ({shown})"
            )
            if status in REFUSED and self._drop(body, content.decode("utf-8", "replace")):
                continue
            if status and status not in BUSY:
                raise InputError(problem, "check the URL, the model and the key")
            if attempt >= endpoint.retries:
                raise InputError(problem, f"tried {attempt + 1} times; try again later")
            endpoint.sleep(2.0**attempt if retry_after is None else min(retry_after, LONGEST_PAUSE))
            attempt += 1

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    # -- one request ---------------------------------------------------------------------------------------
    def _body(self, messages: Sequence[Message], choices: Sequence[str]) -> dict[str, Any]:
        endpoint = self.endpoint
        structure = "json" if endpoint.structure == "auto" else endpoint.structure
        optional = dict(endpoint.parameters) | structure_fields(structure, choices)
        if endpoint.logprobs:
            optional |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        kept = {name: value for name, value in optional.items() if name not in self._refused}
        return {"model": endpoint.model, "messages": list(messages), **kept}

    def _post(self, body: dict[str, Any], key: str) -> tuple[int, bytes, float | None]:
        """Status, body and Retry-After in seconds; status 0 if there was no answer."""
        httpx = require("httpx", "judge")
        headers = self.endpoint.headers() | ({"Idempotency-Key": key} if key else {})
        try:
            with self._connected().stream(
                "POST", self.endpoint.address, json=body, headers=headers
            ) as response:
                content = b""
                for part in response.iter_bytes():
                    content += part
                    if len(content) > REPLY_BYTES:
                        break
                return response.status_code, content, _pause(response.headers.get("Retry-After", ""))
        except httpx.TransportError as error:
            return 0, (str(error) or type(error).__name__).encode(), None

    def _connected(self) -> Any:
        with self._lock:
            if self._client is None:
                httpx = require("httpx", "judge")
                limits = httpx.Limits(
                    max_connections=self.connections, max_keepalive_connections=self.connections
                )
                # a redirect could send the key to another host, so none is followed
                self._client = httpx.Client(
                    limits=limits,
                    timeout=self.endpoint.timeout,
                    follow_redirects=False,
                    # loading certificates takes a quarter of a second, which plain HTTP does not need
                    verify=self.endpoint.url.startswith("https:"),
                )
            return self._client

    def _drop(self, body: dict[str, Any], refusal: str) -> bool:
        """Leave out the optional fields that a refusal names; False if it names none that was sent."""
        optional = set(body) - {"model", "messages"}
        named = {name for name in optional if name in refusal}
        if "json_schema" in refusal or "structured" in refusal:
            named |= {"response_format"} & optional
        if "tool" in refusal:
            named |= {"tools", "tool_choice"} & optional
        if "logprobs" in named:
            named |= {"top_logprobs"} & optional
        if not named:
            return False
        with self._lock:
            new = named - self._refused
            self._refused |= named
        quiet = {"response_format"} if self.endpoint.structure == "auto" else set()
        if new - quiet:
            warnings.warn(
                f"{self.endpoint.model} refuses {', '.join(sorted(new - quiet))}; sent without from now on",
                RefusedParameter,
                stacklevel=4,
            )
        return True

    def _wait_for_turn(self) -> None:
        """Wait until the rate limit allows the next request to start."""
        rate = self.endpoint.requests_per_minute
        if rate is None:
            return
        with self._lock:
            now = time.monotonic()
            start = max(now, self._next_start)
            self._next_start = start + 60.0 / rate
        if start > now:
            self.endpoint.sleep(start - now)


def _pause(retry_after: str) -> float | None:
    """The seconds of a ``Retry-After`` header, given as a number or as a date; None if there are none."""
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
