"""Judges: a person at a terminal, a simulated assessor, a language model behind a chat endpoint."""

from topkit.labelling.judges.chat import ChatJudge
from topkit.labelling.judges.endpoint import Endpoint
from topkit.labelling.judges.judge import Judge, Verdict, label, take_turns
from topkit.labelling.judges.person import Person
from topkit.labelling.judges.simulated import SimulatedAssessor, error_by_gap

__all__ = [
    "ChatJudge",
    "Endpoint",
    "Judge",
    "Person",
    "SimulatedAssessor",
    "Verdict",
    "error_by_gap",
    "label",
    "take_turns",
]
