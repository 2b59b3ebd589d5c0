"""State the output of a fit, and its law, for `audit.check_estimator(..., release=...)`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import Labeled
from audit.laws import Law


@dataclass(frozen=True)
class StatedRelease(ABC):
    """The release of an estimator with given parameters, `classes` among them, on some number of features."""

    estimator: Any
    features: int

    @abstractmethod
    def reveal(self, fitted: Any) -> tuple[Any, Any]:
        """Return the part with the law, and the noise of no data, or None."""

    @abstractmethod
    def law(self, dataset: Labeled) -> Law:
        """Return the law of the first part."""

    def rebuild(self, fresh: Any, revealed: tuple[Any, Any], public: Any) -> Any:
        """Return the fitted object; `public` is the number of records, or the features where they are public."""
        rows = None if isinstance(public, int) else fresh._mapped(public)
        n = public if rows is None else len(rows)
        fresh.n_features_in_ = self.features
        fresh._warn_of_leaks(n)
        if hasattr(fresh, "classes"):
            fresh.classes_ = np.unique(fresh.classes)
        fresh._keep(self._learner(fresh, revealed, n, rows))
        return fresh

    @abstractmethod
    def _learner(self, fresh: Any, revealed: tuple[Any, Any], n: int, rows: Any) -> Any:
        """Return the fitted learner of the paper."""

    def _mapped(self, dataset: Labeled) -> Labeled:
        marks = np.searchsorted(np.unique(self.estimator.classes), dataset.y)
        return Labeled(self.estimator._mapped(np.asarray(dataset.X, dtype=float)), marks)

    @property
    def _dim(self) -> int:
        return int(self.estimator._mapped(np.zeros((1, self.features))).shape[1])
