"""Enumerate the output law of code: follow every random choice that it can make.

A replay needs the enumerated laws and not the enumerator, so the names are imported when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submod_attrs={"answers": ["Answer"], "enumerate": ["enumerate_law"]}
)
