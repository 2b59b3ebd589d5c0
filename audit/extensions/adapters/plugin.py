"""Parts that this extension adds: programs and objects of libraries as mechanisms, imported from its folder."""

from audit.api import Plugin

PLUGIN = Plugin(name="adapters")
