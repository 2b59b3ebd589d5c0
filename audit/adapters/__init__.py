"""Other people's code as mechanisms: programs in any language, and libraries.

Every adapter is a mechanism `(dataset, size, rng) -> array`, lives in one file, and states what is released.
"""

from audit.adapters.program import Program

__all__ = ["Program"]
