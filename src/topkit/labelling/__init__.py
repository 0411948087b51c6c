"""Top-k labelling: which question to ask next, who answers it, and how much assessors agree."""

from topkit.labelling.agreement import agreement, assessor_quality, chi_square, timing
from topkit.labelling.assessors import consensus, merge_labellings
from topkit.labelling.bound import lower_bound
from topkit.labelling.datasets import label_dataset
from topkit.labelling.files import read_grades_csv, read_preferences_csv, write_judgments_csv
from topkit.labelling.judges import (
    ChatJudge,
    Judge,
    Person,
    SimulatedAssessor,
    Verdict,
    label,
    take_turns,
)
from topkit.labelling.judges.endpoint import Endpoint
from topkit.labelling.labelling import Answered, Labelling, Progress, Question
from topkit.labelling.question import BestOf
from topkit.labelling.result import TopK
from topkit.labelling.strategies import STRATEGIES
from topkit.labelling.strategies.graded import GRADES

__all__ = [
    "GRADES",
    "STRATEGIES",
    "Answered",
    "BestOf",
    "ChatJudge",
    "Endpoint",
    "Judge",
    "Labelling",
    "Person",
    "Progress",
    "Question",
    "SimulatedAssessor",
    "TopK",
    "Verdict",
    "agreement",
    "assessor_quality",
    "chi_square",
    "consensus",
    "label",
    "label_dataset",
    "lower_bound",
    "merge_labellings",
    "read_grades_csv",
    "read_preferences_csv",
    "take_turns",
    "timing",
    "write_judgments_csv",
]
