"""Other people's code as mechanisms: programs in any language, libraries, learners, array functions.

Every adapter is a mechanism `(dataset, size, rng) -> array`, lives in one file, and states what is released. Those of
optional libraries are imported by name: `audit.adapters.opendp`, `.diffprivlib`, `.pydp`; `.dp_events` turns the events
of dp_accounting into claims.
"""

from audit.adapters.elementwise import Elementwise
from audit.adapters.learners import Coefficients, Predictions
from audit.adapters.program import Program

__all__ = ["Coefficients", "Elementwise", "Predictions", "Program"]
