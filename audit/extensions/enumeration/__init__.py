"""Enumerate the output law of code: follow every random choice that it can make.

A replay needs the enumerated laws and not the enumerator, so the names are imported when they are first used.
"""

from pathlib import Path

from audit.api import attach

__getattr__, __dir__, __all__ = attach(Path(__file__).with_suffix(".pyi"))
