"""OpenAPI descriptions of the bodies, which FastAPI cannot derive because they are parsed by hand."""

from __future__ import annotations

from typing import Any

from topkit.serving import arrow_bodies, json_bodies

_ROWS = {
    "type": "array",
    "minItems": 1,
    "description": "One row per candidate, features in the order of training; null is a missing feature.",
    "items": {"type": "array", "minItems": 1, "items": {"type": "number", "nullable": True}},
}
_NAMES = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Names of the features; the request is rejected if they differ from training.",
}
_RESULT = {
    "scores": {"type": "array", "items": {"type": "number"}, "description": "One score per candidate."},
    "order": {
        "type": "array",
        "items": {"type": "integer"},
        "description": "Candidate numbers, starting at 0, best first.",
    },
}
_MODEL = {"model": {"type": "string", "description": "SHA-256 of the model file."}}
_ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _operation(request: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    arrow = {"schema": {"type": "string", "format": "binary"}}
    refusals = {
        400: "The body is not JSON or not an Arrow stream.",
        413: "The body, the candidates or the queries exceed the limits.",
        415: "The content type is neither JSON nor Arrow.",
        422: "The body is invalid or does not match the model; the reason says where.",
    }
    refused = {"content": {json_bodies.TYPE: {"schema": _ERROR}}}
    return {
        "openapi_extra": {
            "requestBody": {
                "required": True,
                "content": {json_bodies.TYPE: {"schema": request}, arrow_bodies.TYPE: arrow},
            }
        },
        "responses": {
            200: {
                "description": "The scores.",
                "content": {json_bodies.TYPE: {"schema": answer}, arrow_bodies.TYPE: arrow},
            },
            **{status: {"description": text, **refused} for status, text in refusals.items()},
        },
    }


SCORE = _operation(
    _object({"features": _ROWS, "feature_names": _NAMES}, "features"),
    _object({**_RESULT, **_MODEL}, "scores", "order", "model"),
)
BATCH = _operation(
    _object(
        {
            "queries": {"type": "array", "minItems": 1, "items": _object({"features": _ROWS}, "features")},
            "feature_names": _NAMES,
        },
        "queries",
    ),
    _object(
        {"results": {"type": "array", "items": _object(_RESULT, "scores", "order")}, **_MODEL},
        "results",
        "model",
    ),
)
