"""A library's code beside the output law that its documentation states: the audit then judges that law exactly too.

The law is the documentation's, not the code's: a PASS (exact) rests on it and on outputs that agree with it. Noise that
a library rounds to a fine grid is stated as what it rounds, so that the law is exact up to that grid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.laws import Law


@dataclass(frozen=True)
class Documented:
    """A mechanism with a stated law.

    Parameters
    ----------
    mechanism : callable
        (dataset, size, rng) -> outputs.
    law_of : callable
        dataset -> `audit.laws` law of one output.
    """

    mechanism: Callable[..., Any]
    law_of: Callable[[Any], Law]

    @property
    def own_randomness(self) -> bool:
        """As the mechanism has it."""
        return bool(getattr(self.mechanism, "own_randomness", False))

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> Any:
        return self.mechanism(dataset, size, rng)

    def law(self, dataset: Any) -> Law:
        """Law of one output, as documented."""
        return self.law_of(dataset)
