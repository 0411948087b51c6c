"""One judgment on its way from the browser to a row and back: the records, and the state they lead to.

Pure: no clock, no database, no HTTP. :class:`Judgment` is the request body, what the journal saves, one row
of the table ``judgment``, and what a replay reads. :class:`Turn` is what the browser gets in every reply.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from topkit.data.errors import InputError
from topkit.data.judgments import ANSWERS
from topkit.labelling import GRADES, Labelling, Question
from topkit.web import gold
from topkit.web.document_kinds import Kind
from topkit.web.gold import GoldQuestion
from topkit.web.shapes import Key, Number, Token

UNDO = "undo"
"""The ``answer`` of a judgment that withdraws the last standing answer."""
SKIP = "skip"
"""The assessor cannot decide: the labelling continues as after a tie (or "bad"), but nothing is exported."""
CHOICES = (*ANSWERS, *GRADES, SKIP)

Tool = Literal["pairs", "grades"]
Outcome = Literal["saved", "already", "conflict"]


def _known_answer(answer: str) -> str:
    if answer not in CHOICES:
        raise ValueError(f"expected one of {', '.join(CHOICES)}")
    return answer


def _not_from_client(_: object) -> float:
    raise ValueError("the server sets the time")


@dataclass(frozen=True, slots=True)
class Judgment:
    """An answer to the question shown. Sending the same key again changes nothing."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    seq: Annotated[Number, Field(description="The sequence number of the turn plus one.")]
    key: Annotated[Token, Field(description="Random; identifies this judgment when it is sent again.")]
    a: Key
    b: Annotated[Key | None, Field(default=None, description="None for a grade.")]
    answer: Annotated[
        str,
        AfterValidator(_known_answer),
        WithJsonSchema({"type": "string", "enum": [*CHOICES]}),
    ]
    seconds: Annotated[
        float, Field(ge=0, le=86_400, description="Active time: the clock stops while the tab is hidden.")
    ]
    time: SkipJsonSchema[Annotated[float, BeforeValidator(_not_from_client)]] = 0.0
    """When it was saved, in seconds since 1970."""

    @classmethod
    def undo(cls, seq: int, key: str) -> Judgment:
        """Withdraws the last answer; the log keeps both."""
        return cls(seq, key, "", None, UNDO, 0.0)


def standing_answers(judgments: Iterable[Judgment]) -> list[Judgment]:
    """The answers that were not withdrawn, including skipped and gold questions.

    >>> answer = Judgment(1, "x", "d", "e", "a", 1.0)
    >>> standing_answers([answer, Judgment.undo(2, "y")])
    []
    """
    standing: list[Judgment] = []
    for judgment in judgments:
        if judgment.answer != UNDO:
            standing.append(judgment)
        elif standing:
            standing.pop()
    return standing


def counted_answers(judgments: Iterable[Judgment]) -> list[Judgment]:
    """The answers that count as judgments: not withdrawn, not skipped, not to a gold question."""
    return [
        judgment
        for judgment in standing_answers(judgments)
        if judgment.answer != SKIP and not gold.is_gold(judgment.answer)
    ]


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """A document in a question. Its text is at /api/labellings/{labelling}/documents/{id}."""

    id: int
    key: str
    title: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """Which document is more relevant (``a`` is on the left)? Without ``b``: which grade does ``a`` get?"""

    a: ShownDocument
    b: ShownDocument | None


@dataclass(frozen=True, slots=True)
class PlacedDocument(ShownDocument):
    """A document with its place in the result; tied documents share a place."""

    place: int


@dataclass(frozen=True, slots=True)
class Turn:
    """The present state of a labelling: the next question, or the result."""

    labelling: int
    tool: Tool
    seq: Annotated[int, Field(description="The last sequence number in use; the next judgment adds one.")]
    question: Annotated[ShownQuestion | None, Field(description="None when the topic is complete.")]
    asked: Annotated[int, Field(description="Number of answers that count.")]
    least: Annotated[int, Field(description="The smallest possible number of remaining questions.")]
    most: Annotated[int, Field(description="The largest possible number of remaining questions.")]
    likely: Annotated[float, Field(description="The expected number of remaining questions.")]
    seconds: Annotated[float | None, Field(description="Mean active seconds per judgment so far.")]
    result: Annotated[list[PlacedDocument] | None, Field(description="None until the topic is complete.")]


@dataclass(frozen=True, slots=True)
class Reply:
    """What happened to a judgment. ``conflict`` comes with status 409; the turn is the current one."""

    outcome: Outcome
    message: str
    turn: Turn


class MissingLabellingError(Exception):
    """The labelling does not exist, or belongs to another assessor."""


class ClosedLabellingError(Exception):
    """The project is paused or archived, or the work was taken back."""


class InvalidAnswerError(Exception):
    """The open question does not have this answer."""


@dataclass(frozen=True)
class Task:
    """A labelling as it was assigned: everything that determines its questions, except the answers."""

    id: int
    project: int
    topic: int
    person: int
    tool: Tool
    k: int
    strategy: str
    seed: int
    documents: Mapping[str, ShownDocument]
    prior: tuple[str, ...] | None
    gold: tuple[GoldQuestion, ...] = ()
    gold_rate: float = 0.0

    def start(self) -> Labelling:
        """The labelling before the first answer."""
        return Labelling(tuple(self.documents), self.k, self.strategy, self.seed, self.prior)


class Decision(NamedTuple):
    """What happens to a judgment, and the judgment to save, if any."""

    outcome: Outcome
    message: str
    judgment: Judgment | None = None


class LabellingState:
    """The state of one labelling, a fold over its judgments. Only one thread may use it."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.lab: Labelling = task.start()
        self.seq = 0
        self._standing: list[Judgment] = []
        self._by_key: dict[str, Judgment] = {}

    @classmethod
    def replay(cls, task: Task, judgments: list[Judgment]) -> LabellingState:
        """The state after all these judgments; withdrawn answers are skipped."""
        if [judgment.seq for judgment in judgments] != list(range(1, len(judgments) + 1)):
            raise InputError("the sequence numbers have gaps", "restore a backup")
        state = cls(task)
        for judgment in standing_answers(judgments):
            state._play(judgment)
        state._by_key = {judgment.key: judgment for judgment in judgments}
        state.seq = len(judgments)
        return state

    def apply(self, judgment: Judgment) -> None:
        """Advance by one judgment."""
        if judgment.answer == UNDO:
            if not gold.is_gold(self._standing.pop().answer):
                self.lab = self.lab.undo()
        else:
            self._play(judgment)
        self.seq = judgment.seq
        self._by_key[judgment.key] = judgment

    def _play(self, judgment: Judgment) -> None:
        self._standing.append(judgment)
        if gold.is_gold(judgment.answer):
            return
        if self.lab.question != (judgment.a, judgment.b):
            raise InputError(
                f"judgment {judgment.seq} of labelling {self.task.id} does not answer its question",
                "the documents of the topic were changed outside of the app; restore a backup",
            )
        undecided = GRADES[0] if judgment.b is None else "tie"
        answer = undecided if judgment.answer == SKIP else judgment.answer
        self.lab = self.lab.answer(answer, seconds=judgment.seconds)

    def check(self, judgment: Judgment, time: float) -> Decision:
        """Decide what happens to a judgment; the judgment of the decision is to be saved and applied."""
        saved = self._by_key.get(judgment.key)
        if saved is not None:
            same = (saved.seq, gold.unmarked(saved.answer)) == (judgment.seq, judgment.answer)
            if same and (saved.answer == UNDO or (saved.a, saved.b) == (judgment.a, judgment.b)):
                return Decision("already", "This judgment was saved before; it counts once.")
            return Decision("conflict", "Another judgment has the same key.")
        if judgment.seq != self.seq + 1:
            return Decision(
                "conflict", "You continued elsewhere, perhaps in another tab. This is the current question."
            )
        if judgment.answer == UNDO:
            if not self._standing:
                return Decision("conflict", "There is no answer to undo.")
            last = self._standing[-1]
            return Decision(
                "saved", "The last answer was undone.", replace(judgment, a=last.a, b=last.b, time=time)
            )
        question = self.lab.question
        if question is None:
            return Decision("conflict", "This topic is already complete.")
        # Both are accepted: another process may have learned of new gold questions earlier than this one.
        is_gold = (judgment.a, judgment.b) == self._gold_question()
        if not is_gold and question != (judgment.a, judgment.b):
            return Decision("conflict", "This answer belongs to a different question than the current one.")
        if judgment.answer not in (*question.choices, SKIP):
            raise InvalidAnswerError(f"Invalid answer; choose from {', '.join((*question.choices, SKIP))}.")
        answer = gold.MARK + judgment.answer if is_gold else judgment.answer
        return Decision("saved", "Saved.", replace(judgment, answer=answer, time=time))

    def _gold_question(self) -> Question | None:
        """The gold question that is due before the next question of the labelling."""
        task, question = self.task, self.lab.question
        if question is None or not task.gold:
            return None
        answered = [(j.a,) if j.b is None else (j.a, j.b) for j in self._standing]
        due = gold.due(task.gold, task.gold_rate, task.seed, answered, question)
        return None if due is None else due.shown(task.seed)

    def turn(self) -> Turn:
        """The present state, as the browser gets it."""
        progress, task, asked = self.lab.progress, self.task, len(self._standing)
        return Turn(
            labelling=task.id,
            tool=task.tool,
            seq=self.seq,
            question=self._question(),
            asked=asked,
            least=progress.least,
            most=progress.most,
            likely=round(progress.likely, 1),
            seconds=round(sum(j.seconds for j in self._standing) / asked, 2) if asked else None,
            result=self._result(),
        )

    def _question(self) -> ShownQuestion | None:
        question, documents = self._gold_question() or self.lab.question, self.task.documents
        if question is None:
            return None
        return ShownQuestion(documents[question.a], None if question.b is None else documents[question.b])

    def _result(self) -> list[PlacedDocument] | None:
        result, documents = self.lab.result, self.task.documents
        if result is None:
            return None
        return [
            PlacedDocument(**asdict(documents[item]), place=place)
            for place, item in zip(result.places, result.order, strict=True)
        ]
