"""Single runs of a mechanism, on a copy of the data: genuine, or with the noise of a supplier."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from audit.api import Raised
from audit.extensions.following.record import NotFollowed
from audit.extensions.following.sources import supply
from audit.extensions.following.suppliers import Supplier, Tracer
from audit.extensions.following.traced import observe

Mechanism = Callable[[Any, int, np.random.Generator], Any]


def call(mechanism: Mechanism, dataset: Any, seed: int, supplier: Supplier | None = None, size: int = 1) -> Any:
    """Return the outputs of one call; without a supplier, of the unmodified code with genuine generators."""
    dataset = copy.deepcopy(dataset)
    module = sys.modules.get(str(getattr(getattr(mechanism, "function", mechanism), "__module__", None)))
    with supply(seed, supplier, module) as rng:
        try:
            output = mechanism(dataset, size, rng)
            if isinstance(supplier, Tracer):
                supplier.is_settling = True
                output = _settle(output)
        except Exception as error:
            output = [Raised(error)]
    if supplier is not None and supplier.failure:
        raise NotFollowed(supplier.failure)
    return output


def has_raised(output: Any) -> bool:
    """Test whether a call of one output raised."""
    return type(output) is list and len(output) == 1 and isinstance(output[0], Raised)


def _settle(output: Any) -> Any:
    """Return a copy of an output, in which traced numbers become plain ones."""
    output = copy.deepcopy(output)
    if type(output) is not list:
        return output
    return [each.map(observe).infer_objects() if hasattr(each, "infer_objects") else each for each in output]
