"""Why is it worse? Two rankers, or a ranker and scores, compared query by query, document by document."""

from topkit.studies.diagnosis.diagnose import diagnose
from topkit.studies.diagnosis.result import Diagnosis, Move, QueryChange

__all__ = ["Diagnosis", "Move", "QueryChange", "diagnose"]
