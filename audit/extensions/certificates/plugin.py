"""Parts that this extension adds: commands that compare certificates and print them as statements, and figures."""

from audit.api import Command, Plugin

_HERE = "audit.extensions.certificates."
PLUGIN = Plugin(
    name="certificates",
    commands={
        "attest": Command(f"{_HERE}commands:attest_command", "Print an in-toto statement for signing tools."),
        "diff": Command(f"{_HERE}commands:diff_command", "Compare two certificates, regressions first."),
    },
    figure=f"{_HERE}figure:draw",
)
