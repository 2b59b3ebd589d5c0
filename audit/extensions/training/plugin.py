"""The plug-in of training: recorded training runs, canaries, accountants."""

from audit.api import Plugin

_HERE = "audit.extensions.training."
PLUGIN = Plugin(
    name="training",
    kinds={
        "canaries": (f"{_HERE}canaries.check:CanaryCheck", f"{_HERE}canaries.check:check_canaries"),
        "accounting": (f"{_HERE}accountants.check:AccountingCheck", f"{_HERE}accountants.check:check_accounting"),
        "training": (f"{_HERE}runs.check:TrainingCheck", f"{_HERE}runs.check:check_training"),
    },
    names={
        "audit.extensions": ("training",),
        f"{_HERE}accountants.check": ("AccountingCheck", "check_accounting"),
        f"{_HERE}canaries.check": ("CanaryCheck", "CanaryResult", "check_canaries"),
        f"{_HERE}runs.check": ("TrainingCheck", "check_training"),
        f"{_HERE}runs.claim": ("TrainingClaim",),
    },
)
