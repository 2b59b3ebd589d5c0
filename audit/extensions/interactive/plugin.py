"""Parts that this extension adds: objects that keep a budget and are asked again."""

from audit.api import Plugin

_HERE = "audit.extensions.interactive."
PLUGIN = Plugin(
    name="interactive",
    kinds={"interactive": (f"{_HERE}check:InteractiveCheck", f"{_HERE}check:check_interactive")},
    evidence={
        "ledger": f"{_HERE}ledger:Ledger",
        "conversation": f"{_HERE}ledger:Transcript",
    },
    names={
        f"{_HERE}check": ("InteractiveCheck", "InteractiveResult", "check_interactive"),
        f"{_HERE}conversation": ("Moves", "Refusal"),
    },
)
