"""The names of this room, each with the file it comes from."""

from .interleaving import INTERLEAVINGS as INTERLEAVINGS
from .interleaving import interleave as interleave
from .interleaving import interleaving_test as interleaving_test
from .likelihood import click_fit as click_fit
from .log import ClickLog as ClickLog
from .models import CLICK_MODELS as CLICK_MODELS
from .models import ClickModel as ClickModel
from .models import fit_click_model as fit_click_model
from .off_policy import evaluate_clicks as evaluate_clicks
from .propensities import PROPENSITIES as PROPENSITIES
from .propensities import Propensities as Propensities
from .propensities import estimate_propensities as estimate_propensities
from .propensities import read_propensities as read_propensities
from .reading import read_clicks as read_clicks
from .simulation import Users as Users
from .simulation import simulate_click_counts as simulate_click_counts
from .simulation import simulate_clicks as simulate_clicks
