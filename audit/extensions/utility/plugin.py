"""Parts that this extension adds: theorems about utility as checks."""

from audit.api import Plugin

_HERE = "audit.extensions.utility."
PLUGIN = Plugin(
    name="utility",
    kinds={
        "inequality": (f"{_HERE}inequality:InequalityCheck", f"{_HERE}inequality:check_inequality"),
        "guarantee": (f"{_HERE}guarantee:GuaranteeCheck", f"{_HERE}guarantee:check_guarantee"),
        "consistency": (f"{_HERE}risk:ConsistencyCheck", f"{_HERE}risk:check_consistency"),
        "rate": (f"{_HERE}rate:RateCheck", f"{_HERE}rate:check_rate"),
    },
    names={
        f"{_HERE}guarantee": ("GuaranteeCheck", "check_guarantee"),
        f"{_HERE}inequality": ("InequalityCheck", "check_inequality"),
        f"{_HERE}rate": ("RateCheck", "check_rate"),
        f"{_HERE}risk": ("ConsistencyCheck", "check_consistency"),
    },
)
