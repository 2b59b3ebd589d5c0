"""Parts that this extension adds: a test of claims along a curve, and its evidence."""

from audit.api import Plugin

_HERE = "audit.extensions.divergence.evidence:"
PLUGIN = Plugin(
    name="divergence",
    evidence={"divergence": f"{_HERE}DivergenceTest"},
    curve_test=f"{_HERE}test_divergence",
)
