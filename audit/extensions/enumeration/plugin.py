"""The plug-in of enumeration: the output law of code, by following every random choice that it can make."""

from audit.api import Plugin

_HERE = "audit.extensions.enumeration."
PLUGIN = Plugin(
    name="enumeration",
    evidence={"enumeration": f"{_HERE}enumerated:Enumerated"},
    methods={"enumerate": f"{_HERE}method:Enumeration"},
    names={f"{_HERE}enumerate": ("enumerate_law",), f"{_HERE}method": ("Enumeration",)},
)
