"""Parts that this extension adds: the search for `datasets` and `parameters` of privacy checks."""

from audit.api import Plugin

_HERE = "audit.extensions.search."
PLUGIN = Plugin(name="search", evidence={"search": f"{_HERE}search:Searched"}, search=f"{_HERE}search")
