"""Parts that this extension adds: a scorer that draws the noise of a released seed again."""

from audit.api import Plugin

PLUGIN = Plugin(name="seeds", scorers=("audit.extensions.seeds.scorer:Seeds",))
