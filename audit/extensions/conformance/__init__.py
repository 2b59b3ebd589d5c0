"""Ask every library the same queries on the same inputs; a library says in a table how each is called."""

from pathlib import Path

from audit.api import attach

__getattr__, __dir__, __all__ = attach(Path(__file__).with_suffix(".pyi"))
