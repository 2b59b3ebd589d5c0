"""RAPPOR: randomized response on the bits of a Bloom filter (Erlingsson, Pihur & Korolova, CCS 2014).

With the parameters of DP-Sniper (S&P 2021). The hash functions are bytes of SHA-256 of "salt/function/value", with
the first salt for which six bits differ between the values 0 and 1. Departure from the text: each run draws its
permanent response anew, as a first report does; memoization links the reports of one user, not the runs of an audit.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

_SALT = 3


@dataclass(frozen=True)
class Rappor:
    """The noisy Bloom filter of one value.

    Parameters
    ----------
    f : float in [0, 1]
        A bit of the permanent response is a coin flip with this probability, else the true bit.
    instantaneous : (float, float) or None
        Probabilities of sending a set and an unset bit of the permanent response as 1; None sends it as it is.
    bits, hashes : int >= 1
        Size of the filter, and number of hash functions.
    """

    f: float
    instantaneous: tuple[float, float] | None
    bits: int = 20
    hashes: int = 4

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        set_bits = self.bloom(int(dataset[0]))
        chance = np.where(set_bits, 1 - self.f / 2, self.f / 2)
        if self.instantaneous is not None:
            sent_set, sent_unset = self.instantaneous
            permanent = rng.random((size, self.bits)) < chance
            chance = np.where(permanent, sent_set, sent_unset)
        return (rng.random((size, self.bits)) < chance).astype(np.int8)

    def bloom(self, value: int) -> np.ndarray:
        """The bits of the filter that holds one value; boolean, shape (bits,)."""
        filled = np.zeros(self.bits, dtype=bool)
        filled[[_hash(function, value) % self.bits for function in range(self.hashes)]] = True
        return filled


def _hash(function: int, value: int) -> int:
    digest = hashlib.sha256(f"{_SALT}/{function}/{value}".encode()).digest()
    return int.from_bytes(digest[:4], "big")
