"""The kinds of checks; `training` is public, as `audit.training`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submodules=["training"])
