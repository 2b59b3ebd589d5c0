"""Parts that this extension adds: stability maps of transformations without noise."""

from audit.api import Plugin

_HERE = "audit.extensions.stability."
PLUGIN = Plugin(
    name="stability",
    kinds={"stability": (f"{_HERE}check:StabilityCheck", f"{_HERE}check:check_stability")},
    names={
        f"{_HERE}check": ("StabilityCheck", "check_stability"),
        f"{_HERE}metrics": ("PerPartition",),
        f"{_HERE}strategies": ("columns", "numbers"),
    },
)
