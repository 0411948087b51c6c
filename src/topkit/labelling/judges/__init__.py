"""Judges: a person at a terminal, a simulated assessor, a language model behind a chat endpoint."""

from topkit.labelling.judges.biased import BiasedJudge
from topkit.labelling.judges.chat import ChatJudge, NoAnswer
from topkit.labelling.judges.conversation import Opinion, UnclearError
from topkit.labelling.judges.endpoint import Endpoint
from topkit.labelling.judges.judge import Judge, Verdict, label, take_turns
from topkit.labelling.judges.person import Person
from topkit.labelling.judges.prompts import Prompt
from topkit.labelling.judges.recorded import RecordedJudge
from topkit.labelling.judges.routing import RoutedJudge
from topkit.labelling.judges.simulated import SimulatedAssessor, error_by_gap
from topkit.labelling.judges.spending import Budget, BudgetError, Prices
from topkit.labelling.judges.together import label_all

__all__ = [
    "BiasedJudge",
    "Budget",
    "BudgetError",
    "ChatJudge",
    "Endpoint",
    "Judge",
    "NoAnswer",
    "Opinion",
    "Person",
    "Prices",
    "Prompt",
    "RecordedJudge",
    "RoutedJudge",
    "SimulatedAssessor",
    "UnclearError",
    "Verdict",
    "error_by_gap",
    "label",
    "label_all",
    "take_turns",
]
