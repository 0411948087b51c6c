"""Values and messages of the API: text that every database can store, ids in their range, replies."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from fastapi import Path
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from topkit.data.errors import InputError

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


class ProjectIn(Body):
    """The settings of a project: how many places at the top, which strategy, which tools."""

    name: Name
    k: int = Field(10, ge=1, le=1000)
    strategy: Annotated[str, Field(max_length=50)] = "adaptive"
    tools: Literal["pairs", "grades", "both"] = "both"
    seed: int = Field(0, ge=0, le=LARGEST_NUMBER)
    instructions: LongText = ""


ProjectState = Literal["active", "paused", "archived"]


class ModelSettings(Body):
    """A chat model behind an OpenAI-compatible endpoint. Its key is in a variable of the server."""

    name: Name
    url: Key
    model: Key
    key_variable: Annotated[str, Field(max_length=100)] = ""
    sure: float = Field(0.9, ge=0, le=1, description="Answers below this confidence wait for a person.")
    check: float = Field(0.05, ge=0, le=1, description="The share of sure answers that people check.")
    budget: int = Field(1000, ge=1, le=10_000_000, description="Requests at most.")
    suggest: bool = Field(False, description="Show the model's opinion after a person has answered.")


def checked_name(text: object) -> str:
    """The name of a person or project, if it is one that a form would accept."""
    return str(checked(Name, text, "name"))


def checked_project(values: object) -> dict[str, Any]:
    """The settings of a project, if the form would accept them."""
    return dict(checked(ProjectIn, values))


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def checked(kind: Any, value: object, what: str = "") -> Any:
    """The value as ``kind``, a type or a model; an error says what is wrong with it."""
    try:
        return _adapter(kind).validate_python(value)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(place) for place in problem["loc"]) or what
        got = str(problem["input"])[:40]
        raise InputError(f"{where}: {problem['msg']}, got {got!r}", "correct the value") from None


class Message(BaseModel):
    """What was done, in a sentence for people."""

    message: str


class Problem(BaseModel):
    """What is wrong, in a sentence for people."""

    detail: str


def _problem(description: str) -> dict[str, object]:
    """How a route describes an error. FastAPI would build a model per route and status, at every start."""
    schema = {"$ref": f"#/components/schemas/{Problem.__name__}"}
    return {"description": description, "content": {"application/json": {"schema": schema}}}


PROBLEMS: dict[int | str, dict[str, object]] = {
    400: _problem("The content is invalid; the detail gives the reason."),
    401: _problem("Not signed in."),
    403: _problem("The role or the CSRF token does not allow this."),
    404: _problem("It does not exist, or it is not yours."),
    413: _problem("The request is too large."),
    422: _problem("The request does not match its description."),
}
