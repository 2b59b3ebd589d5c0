"""The same claim on several implementations: who keeps it, who wastes noise, who errs most, who is slow."""

from audit.faces.compare.comparison import Comparison, Implementation
from audit.faces.compare.run import Compared, compare

__all__ = ["Compared", "Comparison", "Implementation", "compare"]
