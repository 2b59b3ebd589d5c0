"""Plant canaries in a training set: coins decide which, and a digest that is known beforehand binds them.

A canary is a record that an auditor makes, so that its inclusion shows. Each is included by a fair coin of its own, as
the bounds of one run need. Whoever publishes `plan.digest` before training cannot choose the coins afterwards.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.api import InvalidArgument, Labeled, integer

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
        """Return the plan as text, to be opened after training."""
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
            raise InvalidArgument(f"`text` must be a text that `to_json` wrote: {error!r}") from error
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
    """Return records of the data with labels of other classes: canaries for training observed from outside.

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
