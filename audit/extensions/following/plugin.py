"""The plug-in of following: an upper bound of epsilon by following the noise, and the lines of code that spend it."""

from audit.api import Plugin

_HERE = "audit.extensions.following."
PLUGIN = Plugin(
    name="following",
    evidence={"noise followed": f"{_HERE}evidence:Followed"},
    methods={"follow": f"{_HERE}method:Following"},
    first=("follow",),
    names={f"{_HERE}engine": ("explain",), f"{_HERE}method": ("Following",)},
)
