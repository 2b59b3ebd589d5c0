"""What this extension adds: an upper bound of epsilon by following the noise, and the lines of code that spend it."""

from audit.api import Plugin

PLUGIN = Plugin(name="following", names={"audit.extensions.following.ledger": ("explain",)})
