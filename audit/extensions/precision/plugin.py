"""Parts that this extension adds: scores of the bits of floating-point outputs, for `floats="audit"`."""

from audit.api import Plugin

_HERE = "audit.extensions.precision."
PLUGIN = Plugin(
    name="precision",
    float_scorers=f"{_HERE}scorers:bit_scorers",
    names={f"{_HERE}check": ("check_precision",)},
)
