"""Audit differential privacy: does the code that runs keep the promise, with a stated error probability?"""

from audit.checks import PrivacyCheck
from audit.claims import PrivacyClaim
from audit.errors import AuditError
from audit.privacy import check_privacy
from audit.relations import AddRemove, Group, Labeled, LabelFlip, Local, Substitution
from audit.report.certificate import Report
from audit.result import PrivacyResult
from audit.sampling import per_call
from audit.suite import run
from audit.verdict import Verdict

__all__ = [
    "AddRemove",
    "AuditError",
    "Group",
    "LabelFlip",
    "Labeled",
    "Local",
    "PrivacyCheck",
    "PrivacyClaim",
    "PrivacyResult",
    "Report",
    "Substitution",
    "Verdict",
    "check_privacy",
    "per_call",
    "run",
]
