"""Kinds of values that the API takes: text that every database can hold, and ids that fit in them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("a character with code 0 cannot be stored")
    return text


def _visible(text: str) -> str:
    if not text.isprintable():
        raise ValueError("only characters that can be seen")
    return text


Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), AfterValidator(_visible)
]
Words = Annotated[str, StringConstraints(max_length=20_000), AfterValidator(_storable)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=1000), AfterValidator(_storable)]
Token = Annotated[str, StringConstraints(min_length=1, max_length=100), AfterValidator(_storable)]
Password = Annotated[str, StringConstraints(max_length=1000), AfterValidator(_storable)]
Id = Annotated[int, Path(ge=1, le=2**31 - 1)]


class Body(BaseModel):
    """A body of a request: nothing but what is described."""

    model_config = ConfigDict(extra="forbid")


class Said(BaseModel):
    """What was done, in words for people."""

    message: str


class Problem(BaseModel):
    """What is wrong, in words for people."""

    detail: str


PROBLEMS: dict[int | str, dict[str, object]] = {
    400: {"model": Problem, "description": "The content cannot be used; the detail says why."},
    401: {"model": Problem, "description": "Nobody is signed in."},
    403: {"model": Problem, "description": "The role or the CSRF token does not allow this."},
    404: {"model": Problem, "description": "There is no such thing, or it is not yours."},
    413: {"model": Problem, "description": "Too much was sent."},
    422: {"model": Problem, "description": "The request is not as described here."},
}
