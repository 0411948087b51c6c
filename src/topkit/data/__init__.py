"""Values and files: Dataset, Judgments, Run, and the readers and writers of their formats."""

from topkit.data.dataset import Dataset, concatenate
from topkit.data.errors import InputError
from topkit.data.judgments import ANSWERS, Answer, Grade, Judgments, Page, Preference
from topkit.data.run import Run
from topkit.data.strings import Strings
from topkit.data.truth import Truth

__all__ = [
    "ANSWERS",
    "Answer",
    "Dataset",
    "Grade",
    "InputError",
    "Judgments",
    "Page",
    "Preference",
    "Run",
    "Strings",
    "Truth",
    "concatenate",
]
