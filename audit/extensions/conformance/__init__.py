"""Ask every library the same queries on the same inputs; a library says in a table how each is called."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "documented_laws": ["discrete_gaussian"],
        "library": ["Library", "once"],
        "queries": ["Parameters"],
        "running": ["conform", "parametrize"],
    },
)
