"""Parts that this extension adds: commands that compare certificates, and that print them as statements."""

from audit.api import Command, Plugin

_HERE = "audit.extensions.certificates.commands:"
PLUGIN = Plugin(
    name="certificates",
    commands={
        "attest": Command(f"{_HERE}attest_command", "Print an in-toto statement for signing tools."),
        "diff": Command(f"{_HERE}diff_command", "Compare two certificates, regressions first."),
    },
)
