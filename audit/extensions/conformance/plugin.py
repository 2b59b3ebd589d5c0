"""Parts that this extension adds: the queries and cases that every library is asked."""

from audit.api import Command, Plugin

_HERE = "audit.extensions.conformance."
PLUGIN = Plugin(
    name="conformance",
    commands={
        "conformance": Command(f"{_HERE}command:conformance_command", "Ask a library the questions of the suite.")
    },
    names={"audit.extensions": ("conformance",)},
)
