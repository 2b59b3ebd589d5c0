"""Scores of canaries, larger for "was included": from gradients, and from losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from audit.api import InvalidArgument, Labeled

_SMALLEST = 1e-12  # a probability below which a loss says nothing more


class AlignmentScores:
    """Sum, over the steps of a run, how far each released vector goes along the gradient of each canary.

    Parameters
    ----------
    gradients : array-like, shape (canaries, dimension)
        Constant over the run, such as `clip * np.eye(dimension)[:canaries]`: as long as clipping lets through.

    Raises
    ------
    InvalidArgument
        For gradients that are not one row per canary.

    References
    ----------
    Nasr et al. (2023), Tight auditing of differentially private machine learning, section 4; Andrew et al. (2024),
    One-shot empirical privacy estimation for federated learning.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import training
    >>> scores = training.AlignmentScores(np.eye(3))
    >>> scores.add([1.0, 0.0, 0.5])
    >>> scores.add([0.5, 0.0, 0.0])
    >>> scores.values
    array([1.5, 0. , 0.5])
    """

    def __init__(self, gradients: Any) -> None:
        self._gradients = np.asarray(gradients, dtype=float)
        if self._gradients.ndim != 2:
            raise InvalidArgument.of("gradients", "have one row for each canary", self._gradients.shape)
        self.values = np.zeros(len(self._gradients))

    def add(self, released: Any) -> None:
        """Add the vector that a step released."""
        self.values += self._gradients @ np.asarray(released, dtype=float).ravel()


def loss_scores(probabilities: Any, canaries: Labeled, classes: Any = None) -> np.ndarray:
    """Return minus the loss of each canary: the log of the probability that the model gives its label.

    Parameters
    ----------
    probabilities : array-like, shape (canaries, classes)
        `model.predict_proba(canaries.X)`.
    canaries : Labeled
        All canaries, included or not.
    classes : array-like, optional
        Labels of the columns, `model.classes_`; the sorted labels of the canaries unless given.

    Returns
    -------
    numpy.ndarray, shape (canaries,)

    Raises
    ------
    InvalidArgument
        For probabilities of another shape, and for a label that is not among the classes.

    References
    ----------
    Yeom et al. (2018), Privacy risk in machine learning: the loss as a test of membership.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import Labeled, training
    >>> canaries = Labeled(np.zeros((2, 1)), np.array([0, 1]))
    >>> training.loss_scores([[0.5, 0.5], [0.75, 0.25]], canaries).round(3)
    array([-0.693, -1.386])
    """
    likely, labels = np.asarray(probabilities, dtype=float), np.asarray(canaries.y)
    columns = np.unique(labels) if classes is None else np.asarray(classes)
    if likely.shape != (len(labels), columns.size):
        raise InvalidArgument.of("probabilities", f"have shape {(len(labels), columns.size)}", likely.shape)
    places = np.array([np.flatnonzero(columns == label) for label in labels], dtype=object)
    if any(len(place) != 1 for place in places):
        raise InvalidArgument.of("classes", "hold each label of the canaries once", columns.tolist())
    own = likely[np.arange(len(labels)), [int(place[0]) for place in places]]
    return np.log(np.maximum(own, _SMALLEST))
