"""The names that an extension may import beside its own files; `api.pyi` lists them with their modules.

Each is imported when it is first used, so that a plugin costs nothing until one of its objects is needed.
"""

from pathlib import Path

from audit.lazy import attach

__getattr__, __dir__, __all__ = attach(Path(__file__).with_suffix(".pyi"))
