"""Values and messages of the API: text that every database can store, ids in their range, replies."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

LARGEST_NUMBER = 2**31 - 1
"""PostgreSQL stores ids and sequence numbers in 32 bits."""


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("the character with code 0 cannot be stored")
    return text


def _visible(text: str) -> str:
    if not text.isprintable():
        raise ValueError("only printable characters are allowed")
    return text


Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), AfterValidator(_visible)
]
LongText = Annotated[str, StringConstraints(max_length=20_000), AfterValidator(_storable)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=1000), AfterValidator(_storable)]
Token = Annotated[str, StringConstraints(min_length=1, max_length=100), AfterValidator(_storable)]
Password = Annotated[str, StringConstraints(max_length=1000), AfterValidator(_storable)]
Number = Annotated[int, Field(ge=1, le=LARGEST_NUMBER)]
Id = Annotated[int, Path(ge=1, le=LARGEST_NUMBER)]


class Body(BaseModel):
    """A request body; unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid")


class Message(BaseModel):
    """What was done, in a sentence for people."""

    message: str


class Problem(BaseModel):
    """What is wrong, in a sentence for people."""

    detail: str


PROBLEMS: dict[int | str, dict[str, object]] = {
    400: {"model": Problem, "description": "The content is invalid; the detail gives the reason."},
    401: {"model": Problem, "description": "Not signed in."},
    403: {"model": Problem, "description": "The role or the CSRF token does not allow this."},
    404: {"model": Problem, "description": "It does not exist, or it is not yours."},
    413: {"model": Problem, "description": "The request is too large."},
    422: {"model": Problem, "description": "The request does not match its description."},
}
