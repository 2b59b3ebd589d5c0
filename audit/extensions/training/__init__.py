"""Training runs: record one, compare it with the assumptions of its accountant, and bound its epsilon by canaries."""

from pathlib import Path

from audit.api import attach

__getattr__, __dir__, __all__ = attach(Path(__file__).with_suffix(".pyi"))
