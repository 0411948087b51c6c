"""An OpenAI-compatible chat endpoint over plain HTTP(S), with retries."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from topkit.data.errors import InputError

Message = dict[str, str]
BUSY = {408, 425, 429, 500, 502, 503, 504}
"""Status codes after which the same request may succeed later."""
LONGEST_PAUSE = 60.0
"""The longest wait that ``Retry-After`` is allowed to ask for, in seconds."""
REPLY_BYTES = 1 << 20
"""The most that is read of a reply; a valid one is some kilobytes."""


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirects, because one could send the key to another host."""

    def redirect_request(self, *_: object) -> None:
        return None


@dataclass(frozen=True)
class Endpoint:
    """The address of a chat model: ``POST {url}/chat/completions``.

    - ``url``: for example ``http://localhost:8000/v1``.
    - ``key_variable``: the name of the environment variable that holds the key; None sends no key.
    - ``retries``: how often a request is repeated when the endpoint is busy or does not answer, after 1, 2,
      4, … seconds or after the time given in ``Retry-After``.
    """

    url: str
    model: str
    key_variable: str | None = None
    retries: int = 4
    timeout: float = 60.0
    sleep: Callable[[float], object] = time.sleep

    def __post_init__(self) -> None:
        if urlsplit(self.url).scheme not in ("http", "https"):
            raise InputError(f"invalid URL {self.url!r}", "give one such as http://localhost:8000/v1")

    def complete(self, messages: list[Message]) -> tuple[str, int]:
        """The reply of the model and the number of tokens used."""
        for attempt in range(self.retries + 1):
            try:
                return _read(self._send(messages))
            except HTTPError as error:
                with error:
                    body = error.read(300).decode("utf-8", "replace")
                    retry_after = error.headers.get("Retry-After", "")
                problem = f"the endpoint answered {error.code}: {body}"
                if error.code not in BUSY:
                    raise InputError(problem, "check the URL, the model and the key") from None
                pause = min(float(retry_after), LONGEST_PAUSE) if retry_after.isdigit() else 2.0**attempt
            except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
                problem, pause = f"the endpoint does not answer ({error})", 2.0**attempt
            if attempt < self.retries:
                self.sleep(pause)
        raise InputError(problem, f"tried {self.retries + 1} times; try again later")

    def _send(self, messages: list[Message]) -> bytes:
        headers = {"Content-Type": "application/json"}
        if self.key_variable is not None:
            key = os.environ.get(self.key_variable)
            if not key:
                raise InputError(
                    f"the environment variable {self.key_variable} is not set", "set it to the key"
                )
            headers["Authorization"] = f"Bearer {key}"
        body = json.dumps({"model": self.model, "messages": messages, "temperature": 0}).encode()
        request = Request(f"{self.url.rstrip('/')}/chat/completions", body, headers)  # noqa: S310 - scheme checked
        with build_opener(_NoRedirects).open(request, timeout=self.timeout) as response:
            content: bytes = response.read(REPLY_BYTES)
        return content


def _read(body: bytes) -> tuple[str, int]:
    try:
        answer = json.loads(body)
        reply = answer["choices"][0]["message"]["content"]
        tokens = int((answer.get("usage") or {}).get("total_tokens") or 0)
    except (ValueError, LookupError, TypeError, AttributeError):
        raise InputError("the endpoint's answer is not a chat completion", "check the URL") from None
    return str(reply or ""), tokens
