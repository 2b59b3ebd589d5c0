"""Parts that this extension adds: a method, and an early look at mechanisms that are slow to call."""

from audit.api import Plugin

_HERE = "audit.extensions.sequential."
PLUGIN = Plugin(
    name="sequential",
    evidence={
        "early look": f"{_HERE}game:EarlyLook",
        "sequential game": f"{_HERE}game:SequentialGame",
        "example": f"{_HERE}game:Example",
    },
    methods={"sequential": f"{_HERE}method:Sequential"},
    early_look=f"{_HERE}game:look_early",
)
