"""The kinds of study by name; each is a file in this folder."""

from __future__ import annotations

from typing import Any

from topkit.studies.kind import Kind
from topkit.studies.kinds.beta import BETA
from topkit.studies.kinds.budget import BUDGET
from topkit.studies.kinds.calibration import CALIBRATION
from topkit.studies.kinds.clicks import CLICKS
from topkit.studies.kinds.compare import COMPARE
from topkit.studies.kinds.epochs import EPOCHS
from topkit.studies.kinds.focused import FOCUSED
from topkit.studies.kinds.fusion import FUSION
from topkit.studies.kinds.grades import GRADES
from topkit.studies.kinds.labelling import LABELLING
from topkit.studies.kinds.learning_curve import LEARNING_CURVE
from topkit.studies.kinds.loop import LOOP_KIND
from topkit.studies.kinds.outliers import OUTLIERS
from topkit.studies.kinds.sentences import SENTENCES
from topkit.studies.kinds.sigma import SIGMA
from topkit.studies.kinds.top_k import TOP_K
from topkit.studies.kinds.user_study import USER_STUDY

KINDS: dict[str, Kind[Any, Any]] = {
    "compare": COMPARE,
    "focused": FOCUSED,
    "beta": BETA,
    "k": TOP_K,
    "learning-curve": LEARNING_CURVE,
    "grades": GRADES,
    "sigma": SIGMA,
    "outliers": OUTLIERS,
    "epochs": EPOCHS,
    "calibration": CALIBRATION,
    "fusion": FUSION,
    "labelling": LABELLING,
    "user-study": USER_STUDY,
    "budget": BUDGET,
    "clicks": CLICKS,
    "sentences": SENTENCES,
    "loop": LOOP_KIND,
}
"""Name → kind of study."""
