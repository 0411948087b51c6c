"""The labelling loop: a ranker learns while people label, and decides what is asked next."""

from topkit.loop.events import Answer, Decision, Event, Extended, Fitted, Interval, Stopped
from topkit.loop.files import journal, load_loop, save_loop
from topkit.loop.loop import LabellingLoop, LoopQuestion
from topkit.loop.settings import LoopSettings

__all__ = [
    "Answer",
    "Decision",
    "Event",
    "Extended",
    "Fitted",
    "Interval",
    "LabellingLoop",
    "LoopQuestion",
    "LoopSettings",
    "Stopped",
    "journal",
    "load_loop",
    "save_loop",
]
