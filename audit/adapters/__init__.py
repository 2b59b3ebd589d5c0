"""Other people's code as mechanisms: programs in any language, libraries, learners, array functions.

Every adapter is a mechanism `(dataset, size, rng) -> outputs`. The adapters of optional libraries are imported by name:
`audit.adapters.opendp`, `.diffprivlib`, `.pydp`. An argument that is not what a docstring states raises
`InvalidArgument`, at a call if only the call shows it.
"""

from audit.adapters.fitted import FittedObject, Released
from audit.adapters.functions import Coefficients, Documented, Elementwise, Predictions
from audit.adapters.program import Program

__all__ = ["Coefficients", "Documented", "Elementwise", "FittedObject", "Predictions", "Program", "Released"]
