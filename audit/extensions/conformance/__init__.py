"""Ask every library the same queries on the same inputs; a library says in a table how each is called."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
