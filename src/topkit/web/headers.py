"""Rules for every request and response: size limits, same origin, who may upload, security headers."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from topkit.web.forwarded import Front
from topkit.web.guard import check_upload
from topkit.web.settings import Settings

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
URL_POLICY = PAGE_POLICY.replace("frame-src 'self'", "frame-src 'self' https: http:")
"""For the labelling page of a topic whose documents are pages of other sites; these are sandboxed as well."""
DOCUMENT_POLICY = (
    "sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox; default-src 'none'; "
    "style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)
"""For a document: no scripts, no requests, no forms; only its inline styles are applied.

The page around the frame needs the same origin to scroll it and to receive its keys; without scripts, the
document itself cannot use it. Links may open a new tab, which is not part of the sandbox.
"""

SECURITY_HEADERS = {
    "content-security-policy": PAGE_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
CHANGING_METHODS = ("POST", "PUT", "PATCH", "DELETE")


class Shield:
    """Rejects requests that are too large or come from another site, and adds the security headers.

    It is the first to see a request, so it also undoes what a proxy changed.
    """

    def __init__(self, app: ASGIApp, settings: Settings, paths: frozenset[str]) -> None:
        self.app = app
        self.settings = settings
        self._front = Front(settings, paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        self._front.apply(scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                if self.settings.secure:
                    headers.setdefault("strict-transport-security", "max-age=31536000")
            await send(message)

        headers = Headers(scope=scope)
        if scope["method"] in CHANGING_METHODS and _is_from_other_site(headers, self._front.origin):
            await _reject(send_with_headers, 403, "This request comes from another site.")
            return
        is_form = headers.get("content-type", "").startswith("multipart/form-data")
        limit = self.settings.upload_bytes if is_form else self.settings.body_bytes
        too_large = f"The request is larger than the limit of {limit:,} bytes."
        declared = headers.get("content-length", "0")
        if not declared.isdigit() or int(declared) > limit:
            await _reject(send_with_headers, 413, too_large)
            return
        if is_form:  # FastAPI reads the whole upload before it asks who sends it
            try:
                await check_upload(Request(scope))
            except HTTPException as error:
                await _reject(send_with_headers, error.status_code, error.detail)
                return
        received = 0

        async def receive_within_limit() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise HTTPException(413, too_large)  # the only exception that FastAPI passes on from here
            return message

        await self.app(scope, receive_within_limit, send_with_headers)


def _is_from_other_site(headers: Headers, own_origin: str | None) -> bool:
    """True if the browser says that another site sends the request; the own origin is known with --public."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site not in (None, "same-origin", "none"):
        return True
    if origin is None or (origin == "null" and site == "same-origin"):
        return False  # without a script and with our referrer policy, a browser posts "null" to its own site
    return origin != own_origin if own_origin is not None else urlsplit(origin).netloc != headers.get("host")


async def _reject(send: Send, status: int, detail: str) -> None:
    body = json.dumps({"detail": detail}).encode()
    start = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})
