"""Other people's code as mechanisms: programs in any language, libraries, learners, array functions.

Every adapter is a mechanism `(dataset, size, rng) -> outputs`. The adapters of optional libraries are imported by name:
`audit.adapters.opendp`, `.diffprivlib`, `.pydp`. `audit.adapters.dp_events` turns the events of dp_accounting into
claims.
"""

from audit.adapters.functions import Documented, Elementwise
from audit.adapters.learners import Coefficients, Predictions
from audit.adapters.program import Program

__all__ = ["Coefficients", "Documented", "Elementwise", "Predictions", "Program"]
