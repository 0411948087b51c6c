"""Auditing a judge before trusting it: biases, consistency, agreement with people, calibration."""

from topkit.labelling.audit.audit import Audit, Finding, audit
from topkit.labelling.audit.estimates import Estimate
from topkit.labelling.audit.report import audit_page, audit_report
from topkit.labelling.audit.trials import Trial, ask_trials, trials_of

__all__ = [
    "Audit",
    "Estimate",
    "Finding",
    "Trial",
    "ask_trials",
    "audit",
    "audit_page",
    "audit_report",
    "trials_of",
]
