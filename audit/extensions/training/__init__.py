"""Training runs: record one, compare it with the assumptions of its accountant, and bound its epsilon by canaries."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
