"""What holds for every request and answer: limits of size, same origin, security headers."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from topkit.web.settings import Settings

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
ADDRESS_POLICY = PAGE_POLICY.replace("frame-src 'self'", "frame-src 'self' https: http:")
"""For the labelling page of a topic whose documents are pages elsewhere, which are sandboxed as well."""
DOCUMENT_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)
"""For a document: nothing runs, nothing is loaded, nothing is sent; its own inline styles show."""

ALWAYS = {
    "content-security-policy": PAGE_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
CHANGING = ("POST", "PUT", "PATCH", "DELETE")


class Shield:
    """Refuses what is too large or comes from another site, and puts the security headers on every answer."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                for name, value in ALWAYS.items():
                    headers.setdefault(name, value)
                if self.settings.https:
                    headers.setdefault("strict-transport-security", "max-age=31536000")
            await send(message)

        headers = Headers(scope=scope)
        if scope["method"] in CHANGING and _foreign(headers):
            await _refuse(sending, 403, "This request comes from another site.")
            return
        form = headers.get("content-type", "").startswith("multipart/form-data")
        limit = self.settings.upload_bytes if form else self.settings.body_bytes
        too_large = f"More than {limit:,} bytes were sent."
        declared = headers.get("content-length", "0")
        if not declared.isdigit() or int(declared) > limit:
            await _refuse(sending, 413, too_large)
            return
        received = 0

        async def receiving() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise HTTPException(413, too_large)  # FastAPI passes this one on, and no other
            return message

        await self.app(scope, receiving, sending)


def _foreign(headers: Headers) -> bool:
    """Whether a browser says that another site sends the request."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return True
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != headers.get("host")


async def _refuse(send: Send, status: int, detail: str) -> None:
    body = json.dumps({"detail": detail}).encode()
    start = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})
