"""Audit differential privacy: does the code that runs keep the claim made about it, with a stated error probability?

Importing the package costs next to nothing. The public names are listed once, with their types, in `__init__.pyi`;
each is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
