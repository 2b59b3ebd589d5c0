"""Plant canaries in a training set: coins decide which, and a digest that is known beforehand binds them.

A canary is a record that an auditor makes, so that its inclusion shows. Each is included by a fair coin of its own, as
the bounds of one run need. Whoever publishes `plan.digest` before training cannot choose the coins afterwards.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.api import InvalidArgument, Labeled, integer, positive

_NONCE = 32  # bytes that keep a digest of few coins from being searched


@dataclass(frozen=True)
class CanaryPlan:
    """Say which canaries are included: fair coins, with a nonce that hides them behind their digest.

    Parameters
    ----------
    included : sequence of bool
        One coin for each canary.
    nonce : str
        Secret until the plan is opened.
    canaries : str, default ""
        Digest of the canaries themselves, where they are data.

    Raises
    ------
    InvalidArgument
        For text that is not a plan, and for a plan that is not the published one.

    References
    ----------
    Steinke, Nasr and Jagielski (2023), Privacy auditing with one (1) training run, algorithm 1.

    Examples
    --------
    >>> from audit import training
    >>> plan = training.CanaryPlan.flip(1000)
    >>> committed = plan.digest  # published before training
    >>> training.CanaryPlan.from_json(plan.to_json()).digest == committed  # checked afterwards
    True
    """

    included: tuple[bool, ...]
    nonce: str
    canaries: str = ""

    @classmethod
    def flip(cls, count: int, *, canaries: Any = None, seed: int | None = None) -> CanaryPlan:
        """Return a plan of fair coins from the system's randomness; a seed is for tests, and hides nothing."""
        many, digest = integer(count, "count", at_least=1), "" if canaries is None else digest_of(canaries)
        if seed is None:
            bits = np.unpackbits(np.frombuffer(secrets.token_bytes(-(-many // 8)), dtype=np.uint8))[:many]
            return cls(tuple(map(bool, bits)), secrets.token_hex(_NONCE), digest)
        rng = np.random.default_rng(integer(seed, "seed", at_least=0))
        return cls(tuple(map(bool, rng.integers(0, 2, many))), rng.bytes(_NONCE).hex(), digest)

    @property
    def digest(self) -> str:
        """SHA-256 of the plan: to be published before training."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    @property
    def places(self) -> np.ndarray:
        """The canaries that are included, as indices."""
        return np.flatnonzero(self.included)

    def split(self, scores: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of the canaries that were included and of those that were left out."""
        array, mask = np.asarray(scores, dtype=float), np.array(self.included)
        if array.shape != mask.shape:
            raise InvalidArgument.of("scores", f"be one number for each of the {mask.size} canaries", array.shape)
        return array[mask], array[~mask]

    def to_json(self) -> str:
        """Return the plan as text: what is opened after training."""
        coins = "".join("1" if coin else "0" for coin in self.included)
        return json.dumps({"included": coins, "nonce": self.nonce, "canaries": self.canaries}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str, digest: str | None = None) -> CanaryPlan:
        """Return the plan that `to_json` wrote; with `digest`, raise unless it is the one that was published."""
        try:
            data = json.loads(text)
            coins = str(data["included"])
            plan = cls(tuple(coin == "1" for coin in coins), str(data["nonce"]), str(data["canaries"]))
        except (ValueError, LookupError, TypeError) as error:
            raise InvalidArgument(f"`text` must be what `to_json` wrote: {error!r}") from error
        if set(coins) - {"0", "1"}:
            raise InvalidArgument.of("text", "hold coins 0 and 1 only", coins)
        if digest is not None and plan.digest != digest:
            raise InvalidArgument.of("digest", f"be that of the plan, {plan.digest}", digest)
        return plan


def digest_of(canaries: Any) -> str:
    """Return the SHA-256 of canaries: arrays, or labeled records."""
    arrays = [canaries.X, canaries.y] if isinstance(canaries, Labeled) else [canaries]
    parts = [
        f"{np.shape(part)} {np.asarray(part).dtype}".encode() + np.ascontiguousarray(part).tobytes() for part in arrays
    ]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def plant(data: Labeled, canaries: Labeled, plan: CanaryPlan) -> Labeled:
    """Return the training data with the included canaries after them, in order.

    Parameters
    ----------
    data, canaries : Labeled
        Records and labels; canary i is included if coin i of the plan says so.
    plan : CanaryPlan
        A plan for as many canaries; if it has a digest of canaries, for these.

    Returns
    -------
    Labeled

    Raises
    ------
    InvalidArgument
        For other canaries than those of the plan.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import Labeled, training
    >>> data = Labeled(np.zeros((10, 2)), np.zeros(10, dtype=int))
    >>> canaries = Labeled(np.ones((4, 2)), np.ones(4, dtype=int))
    >>> plan = training.CanaryPlan((True, False, True, True), nonce="")
    >>> len(training.plant(data, canaries, plan).y)
    13
    """
    if len(canaries.y) != len(plan.included):
        raise InvalidArgument.of("canaries", f"be as many as the plan's coins, {len(plan.included)}", len(canaries.y))
    if plan.canaries and plan.canaries != digest_of(canaries):
        raise InvalidArgument("`canaries` must be those of the plan: their digest is another one")
    chosen = plan.places
    X = np.concatenate([np.asarray(data.X), np.asarray(canaries.X)[chosen]])
    return Labeled(X, np.concatenate([np.asarray(data.y), np.asarray(canaries.y)[chosen]]))


def mislabeled_canaries(data: Labeled, count: int, *, rng: np.random.Generator) -> Labeled:
    """Return records of the data with labels of other classes: canaries for training that is seen from outside.

    Parameters
    ----------
    data : Labeled
        Records to copy; leave these out of the training data, so that each differs from all others.
    count : int
        At most as many as there are records.
    rng : numpy.random.Generator

    Returns
    -------
    Labeled

    Raises
    ------
    InvalidArgument
        For more canaries than records, and for one class.

    References
    ----------
    Nasr et al. (2021), Adversary instantiation, section 4; Steinke, Nasr and Jagielski (2023), section 6.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import Labeled, training
    >>> data = Labeled(np.arange(20.0).reshape(10, 2), np.arange(10) % 2)
    >>> canaries = training.mislabeled_canaries(data, 4, rng=np.random.default_rng(0))
    >>> int(sum(data.y[int(x[0]) // 2] == y for x, y in zip(canaries.X, canaries.y)))
    0
    """
    X, y, many = np.asarray(data.X), np.asarray(data.y), integer(count, "count", at_least=1)
    classes = np.unique(y)
    if many > len(y):
        raise InvalidArgument.of("count", f"be at most the {len(y)} records", count)
    if classes.size < 2:
        raise InvalidArgument("`data` must have two classes at least: a wrong label is one of another class")
    chosen = rng.choice(len(y), many, replace=False)
    others = rng.integers(1, classes.size, many)
    return Labeled(X[chosen], classes[(np.searchsorted(classes, y[chosen]) + others) % classes.size])


def adversarial_canaries(data: Labeled, count: int, probabilities: Callable[[Any], Any]) -> Labeled:
    """Return the records with the labels that a public model finds least likely: their losses move the most.

    Parameters
    ----------
    data : Labeled
        Candidates, left out of the training data. Perturbed copies among them make the canaries stronger.
    count : int
        At most as many as there are records; each record is used once.
    probabilities : callable
        `predict_proba` of a model that was fitted to public data, its columns being the sorted classes of `data`.

    Returns
    -------
    Labeled

    Raises
    ------
    InvalidArgument
        For more canaries than records, and for probabilities of another shape.

    References
    ----------
    Annamalai and De Cristofaro (2024), Nearly tight black-box auditing of differentially private machine learning.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import Labeled, training
    >>> data = Labeled(np.array([[0.0], [0.4], [1.0]]), np.array([0, 0, 1]))
    >>> training.adversarial_canaries(data, 2, lambda X: np.hstack([1 - X, X])).y
    array([1, 0])
    """
    X, classes = np.asarray(data.X), np.unique(np.asarray(data.y))
    likely, many = np.asarray(probabilities(X), dtype=float), integer(count, "count", at_least=1)
    if likely.shape != (len(X), classes.size):
        raise InvalidArgument.of("probabilities", f"give shape {(len(X), classes.size)}", likely.shape)
    if many > len(X):
        raise InvalidArgument.of("count", f"be at most the {len(X)} records", count)
    order = np.argsort(likely.min(axis=1), kind="stable")[:many]
    return Labeled(X[order], classes[likely[order].argmin(axis=1)])


def dirac_canaries(count: int, dimension: int, clip: float, *, taken: Sequence[int] = ()) -> np.ndarray:
    """Return gradients that are `clip` in one coordinate each and 0 elsewhere, shape (count, dimension).

    A canary of this kind is a record whose gradient the loop replaces by its row: the strongest that clipping lets
    through, and nearly orthogonal to all others.

    Parameters
    ----------
    count : int
        At most as many as there are coordinates that are not taken.
    dimension : int
        Coordinates of a gradient.
    clip : float > 0
        Clipping norm.
    taken : sequence of int
        Coordinates to leave alone, such as those where real gradients are large.

    Returns
    -------
    numpy.ndarray, shape (count, dimension)

    Raises
    ------
    InvalidArgument
        For more canaries than coordinates.

    References
    ----------
    Nasr et al. (2023), Tight auditing of differentially private machine learning, section 4.

    Examples
    --------
    >>> from audit import training
    >>> training.dirac_canaries(2, 4, 1.5, taken=[0])
    array([[0. , 1.5, 0. , 0. ],
           [0. , 0. , 1.5, 0. ]])
    """
    bound, free = positive(clip, "clip"), np.setdiff1d(np.arange(integer(dimension, "dimension", at_least=1)), taken)
    many = integer(count, "count", at_least=1)
    if many > free.size:
        raise InvalidArgument.of("count", f"be at most the {free.size} coordinates that are not taken", count)
    gradients = np.zeros((many, dimension))
    gradients[np.arange(many), free[:many]] = bound
    return gradients


def settled(gradient: Callable[[np.ndarray], Any], start: Any, *, steps: int = 200, rate: float = 0.5) -> np.ndarray:
    """Return parameters at which the gradient of public data is small: the worst case to start private training from.

    From there the gradients of ordinary records hardly move the model, and those of canaries do.

    Parameters
    ----------
    gradient : callable
        `(parameters) -> mean gradient` on public data.
    start : array-like
        Parameters to begin with.
    steps : int
        Plain gradient descent, without noise.
    rate : float > 0
        Its step length.

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    InvalidArgument
        For no steps, or a step length that is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import training
    >>> training.settled(lambda parameters: parameters - 3.0, np.zeros(2)).round(6)
    array([3., 3.])
    """
    parameters, length = np.array(start, dtype=float), positive(rate, "rate")
    for _ in range(integer(steps, "steps", at_least=1)):
        parameters = parameters - length * np.asarray(gradient(parameters))
    return parameters
