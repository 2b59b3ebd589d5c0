"""Parts that this extension adds: the queries and cases that every library is asked."""

from audit.api import Command, Plugin

_HERE = "audit.extensions.conformance."
PLUGIN = Plugin(
    name="conformance",
    commands={
        "conformance": Command(f"{_HERE}command:conformance_command", "Ask a library what every library is asked.")
    },
    names={"audit.extensions": ("conformance",)},
)
