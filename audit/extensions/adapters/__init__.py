"""Other people's code as mechanisms: programs in any language, and libraries.

Every adapter is a mechanism `(dataset, size, rng) -> outputs`; an object of a library is a `LibraryObject`. An argument
outside the docstring's set raises `InvalidArgument`, at a call if only the call shows it.
"""

from pathlib import Path

from audit.api import attach

__getattr__, __dir__, __all__ = attach(Path(__file__).with_suffix(".pyi"))
