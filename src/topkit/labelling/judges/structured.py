"""Replies by a schema: what asks for them, how they are read, and the confidence in the answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from math import exp, isfinite
from typing import Any

from topkit.data.errors import InputError
from topkit.labelling.judges.cache import Reply

TOOL = "give_answer"
TOP_LOGPROBS = 5
"""How many alternatives of each token are asked for."""


def schema_of(choices: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of an answer."""
    return {
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": list(choices)}},
        "required": ["answer"],
        "additionalProperties": False,
    }


def structure_fields(structure: str, choices: Sequence[str]) -> dict[str, Any]:
    """The fields of a request that ask for a structured reply."""
    schema = schema_of(choices)
    if structure == "json":
        named = {"name": "answer", "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    if structure == "tool":
        function = {"name": TOOL, "description": "Give the answer.", "parameters": schema}
        return {
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": TOOL}},
        }
    return {}


def read_completion(body: bytes, choices: Iterable[str]) -> Reply:
    """The reply in the body of a chat completion; a tool call counts as the text of its arguments."""
    try:
        completion = json.loads(body)
        choice = completion["choices"][0]
        message = choice["message"]
        usage = completion.get("usage") or {}
        prompt, reply = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
        if not prompt and not reply:
            prompt = int(usage.get("total_tokens") or 0)
        calls = message.get("tool_calls") or []
        text = calls[0]["function"]["arguments"] if calls else message.get("content")
        text = text if isinstance(text, str) else json.dumps(text) if isinstance(text, dict) else ""
        confidence = answer_probability((choice.get("logprobs") or {}).get("content") or [], choices)
    except (ValueError, LookupError, TypeError, AttributeError):
        raise InputError("the endpoint's answer is not a chat completion", "check the URL") from None
    return Reply(text, prompt, reply, confidence)


def answer_probability(tokens: Sequence[Mapping[str, Any]], choices: Iterable[str]) -> float | None:
    """The probability of the last token that is one of the choices, among the choices offered there.

    Choices that start with the same token ("bad-1" and "bad-2") cannot be distinguished and count together.

    >>> content = [{"token": " 1", "logprob": -0.1, "top_logprobs": [
    ...     {"token": " 1", "logprob": -0.105}, {"token": "2", "logprob": -2.303}]}]
    >>> round(answer_probability(content, ["1", "2"]), 2)
    0.9
    """
    starts = {choice: choice.lower() for choice in choices}
    for token in reversed(tokens):
        chosen = _choice_of(str(token.get("token", "")), starts)
        if chosen is None:
            continue
        shares: dict[str, float] = {chosen: exp(_log(token))}
        for other in token.get("top_logprobs") or []:
            choice = _choice_of(str(other.get("token", "")), starts)
            if choice is not None and choice != chosen:
                shares[choice] = shares.get(choice, 0.0) + exp(_log(other))
        total = sum(shares.values())
        return shares[chosen] / total if total else None
    return None


def _log(token: Mapping[str, Any]) -> float:
    value = float(token["logprob"])
    return value if isfinite(value) else -1e9


def _choice_of(token: str, choices: Mapping[str, str]) -> str | None:
    """The first choice that the token starts or is; None if it is none."""
    word = token.strip(" \t\n\"'*`.:").lower()
    if not word:
        return None
    return next(
        (
            choice
            for choice, text in choices.items()
            if text == word or (len(word) > 1 and text.startswith(word))
        ),
        None,
    )
