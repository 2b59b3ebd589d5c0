"""Parts that this extension adds: a kind of check, of outputs that noise reused or shared would tie together."""

from audit.api import Plugin

_HERE = "audit.extensions.randomness.check"
PLUGIN = Plugin(
    name="randomness",
    kinds={"randomness": (f"{_HERE}:RandomnessCheck", f"{_HERE}:check_randomness")},
    names={_HERE: ("RandomnessCheck", "check_randomness")},
)
