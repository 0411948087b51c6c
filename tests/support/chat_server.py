"""A local server that speaks the OpenAI-compatible chat protocol, with replies as models give them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Messages = list[dict[str, str]]
Response = tuple[int, dict[str, str], object]
"""Status, headers and body."""


class QuietServer(ThreadingHTTPServer):
    """Clients may be killed in the middle of a request, which is not worth a traceback."""

    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        pass


class ChatServer:
    """An endpoint whose replies a test sets; it keeps what was asked and stores replies by Idempotency-Key.

    ``reply(messages)`` returns a text, a whole message (a dictionary), or a status with headers and body.
    """

    def __init__(
        self, reply: Callable[[Messages], object] = lambda messages: "tie", delay: float = 0.0
    ) -> None:
        self.reply = reply
        self.delay = delay
        self.refuses: set[str] = set()
        """Names of fields that are answered by 400."""
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.connections = 0
        self.most_at_once = 0
        self.paid: dict[str, int] = {}
        """Idempotency-Key → how often a reply was computed for it."""
        self._stored: dict[str, bytes] = {}
        self._open = 0
        self._lock = threading.Lock()
        self.server = QuietServer(("127.0.0.1", 0), self._handler())
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"  # keeps connections open
            disable_nagle_algorithm = True

            def setup(self) -> None:
                super().setup()
                outer.connections += 1

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer._lock:
                    outer.requests.append({"path": self.path, **body})
                    outer.headers.append(dict(self.headers))
                    outer._open += 1
                    outer.most_at_once = max(outer.most_at_once, outer._open)
                status, headers, data = outer.respond(body, self.headers.get("Idempotency-Key", ""))
                with outer._lock:
                    outer._open -= 1
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(data))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def respond(self, body: dict[str, Any], key: str) -> tuple[int, dict[str, str], bytes]:
        refused = sorted(self.refuses & set(body))
        if refused:
            error = {"error": {"message": f"Unsupported parameter: '{refused[0]}' is not supported"}}
            return 400, {}, json.dumps(error).encode()
        with self._lock:
            if key and key in self._stored:
                return 200, {}, self._stored[key]
        time.sleep(self.delay)
        reply = self.reply(body["messages"])
        if isinstance(reply, tuple):
            status, headers, content = reply
            return status, headers, json.dumps(content).encode()
        data = json.dumps(completion(reply)).encode()
        with self._lock:
            self.paid[key] = self.paid.get(key, 0) + 1
            if key:
                self._stored[key] = data
        return 200, {}, data


def completion(reply: object) -> dict[str, Any]:
    """The body of a chat completion around a text or a message; its ``logprobs`` move to the choice."""
    message = dict(reply) if isinstance(reply, dict) else {"content": reply}
    choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
    if "logprobs" in message:
        choice["logprobs"] = message.pop("logprobs")
    choice["message"] = {"role": "assistant", "content": None, **message}
    usage = {"prompt_tokens": 40, "completion_tokens": 2, "total_tokens": 42}
    return {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice], "usage": usage}


def documents_of(messages: Messages) -> list[str]:
    """The texts of the documents as the model would read them, by the fence that the rules name."""
    user = messages[-1]["content"] if "DOCUMENT" in messages[-1]["content"] else messages[1]["content"]
    fence = user.splitlines()[0].split()[0]
    parts = user.split(fence)
    return [part.split("\n", 1)[1].strip() for part in parts if part.startswith(" DOCUMENT")]


def prefers_longer(messages: Messages) -> str:
    """The number of the longest document."""
    lengths = [len(text) for text in documents_of(messages)]
    return str(lengths.index(max(lengths)) + 1)


STYLES: dict[str, Callable[[str], object]] = {
    "bare": lambda n: f" **{n}**\n",
    "reasoning": lambda n: f"<think>Document 1 lists facts. Document 2 is longer, so... hm.</think>\n\n{n}",
    "sentence": lambda n: f"Document {n} is more relevant because it answers the query directly.",
    "json": lambda n: json.dumps({"reasoning": "It covers the topic.", "answer": n}),
    "fenced json": lambda n: f'Here is my judgment:\n```json\n{{\n  "answer": "{n}"\n}}\n```\nLet me know!',
    "tool call": lambda n: {
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "give_answer", "arguments": json.dumps({"answer": n})},
            }
        ]
    },
}
"""The reply styles of models: name → number of the document → the reply."""


def main() -> None:
    """A server in a process of its own, for measurements: prints its address and runs until it is ended."""
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.05)
    server = ChatServer(prefers_longer, parser.parse_args().delay)
    print(server.url, flush=True)
    server.thread.join()


if __name__ == "__main__":
    main()
