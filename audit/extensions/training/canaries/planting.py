"""Decide by fair coins which canaries a training set includes, and bind the coins by a digest that is known before.

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

from audit.api import InvalidArgument, integer

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

    @classmethod
    def flip(cls, count: int, *, seed: int | None = None) -> CanaryPlan:
        """Return a plan of fair coins from the system's randomness; a seed is for tests, and hides nothing."""
        many = integer(count, "count", at_least=1)
        if seed is None:
            bits = np.unpackbits(np.frombuffer(secrets.token_bytes(-(-many // 8)), dtype=np.uint8))[:many]
            return cls(tuple(map(bool, bits)), secrets.token_hex(_NONCE))
        rng = np.random.default_rng(integer(seed, "seed", at_least=0))
        return cls(tuple(map(bool, rng.integers(0, 2, many))), rng.bytes(_NONCE).hex())

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
        return json.dumps({"included": coins, "nonce": self.nonce}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str, digest: str | None = None) -> CanaryPlan:
        """Return the plan that `to_json` wrote; with `digest`, raise unless it is the one that was published."""
        try:
            data = json.loads(text)
            coins = str(data["included"])
            plan = cls(tuple(coin == "1" for coin in coins), str(data["nonce"]))
        except (ValueError, LookupError, TypeError) as error:
            raise InvalidArgument(f"`text` must be a text that `to_json` wrote: {error!r}") from error
        if set(coins) - {"0", "1"}:
            raise InvalidArgument.of("text", "hold coins 0 and 1 only", coins)
        if digest is not None and plan.digest != digest:
            raise InvalidArgument.of("digest", f"be that of the plan, {plan.digest}", digest)
        return plan
