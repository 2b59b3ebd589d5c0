"""Parts that this extension adds: implementations of one claim, side by side."""

from audit.api import Command, Plugin

_HERE = "audit.extensions.compare."
PLUGIN = Plugin(
    name="compare",
    commands={"compare": Command(f"{_HERE}command:compare_command", "Compare implementations of the same claim.")},
    names={f"{_HERE}comparison": ("Comparison", "Implementation")},
)
