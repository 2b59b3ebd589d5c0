"""Other people's code as mechanisms: programs in any language, and libraries.

Every adapter is a mechanism `(dataset, size, rng) -> outputs`. The adapters of optional libraries are imported by name:
`audit.adapters.opendp`, `.diffprivlib`, `.pydp`. An argument outside the docstring's set raises
`InvalidArgument`, at a call if only the call shows it.
"""

from audit.adapters.functions import Documented
from audit.adapters.program import Program

__all__ = ["Documented", "Program"]
