"""Enumerate released and reference samplers, and print the table of `docs/proof.md`.

`python -m benchmarks.enumeration.subjects` takes a few minutes; words after it select samplers by name. Those of
pure-ldp are left out where it is not installed (`pip install --no-deps pure-ldp xxhash bitarray bitstring`). Each
sampler is held to the claim of its paper or its library, on one pair at the largest distance that the relation allows.
"""

from __future__ import annotations

import importlib
import importlib.util
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import audit
from audit.extensions.enumeration.enumerated import Enumerated
from benchmarks.enumeration import samplers
from mechanisms.exponential import ExponentialMechanism
from mechanisms.geometric import GeometricMechanism, TruncatedGeometric
from mechanisms.queries import count_positive
from mechanisms.randomized_response import KeepOrResample, NoisyLabels, RandomizedResponse

SECURE = random.SystemRandom()
Case = tuple[str, Any, float, float, Any, Any]  # name, mechanism, epsilon, delta, left, right


def drawing(function: Callable[..., Any]) -> Any:
    """Return a mechanism that draws from the system's source, for which a stand-in is put in place."""
    return audit.per_call(lambda data: function(data, SECURE))


def own_samplers() -> Iterator[Case]:
    """Yield the samplers that are written from their papers."""
    laplace, gaussian = samplers.discrete_laplace, samplers.discrete_gaussian
    yield "CKS discrete Laplace, scale 1", drawing(lambda d, rng: d + laplace(1, rng)), 1.0, 0.0, 0, 1
    yield "CKS discrete Laplace, scale 10", drawing(lambda d, rng: d + laplace(10, rng)), 0.1, 0.0, 0, 1
    yield "CKS discrete Gaussian, sigma 1", drawing(lambda d, rng: d + gaussian(1, rng)), 1.0, 0.13, 0, 1
    yield "two-sided geometric, by coins", drawing(lambda d, rng: d + samplers.geometric(1.0, rng)), 1.0, 0.0, 0, 1
    yield "clamped count", drawing(lambda d, rng: samplers.noisy_count(d, 1, rng)), 1.0, 0.0, (0, 0, 1), (0, 1, 1)
    flip = drawing(lambda d, rng: samplers.permute_and_flip(d, 1.0, rng))
    yield "permute-and-flip, 5 candidates", flip, 1.0, 0.0, (3, 1, 4, 1, 5), (2, 2, 3, 2, 4)
    choose = drawing(lambda d, rng: samplers.exponential(d, 1.0, rng))
    yield "exponential mechanism, by rejection", choose, 1.0, 0.0, (3, 1, 4, 1, 5), (2, 2, 3, 2, 4)
    response = drawing(lambda d, rng: samplers.randomized_response(d, 4, 1.0, rng))
    yield "randomized response, 4 labels", response, 1.0, 0.0, 0, 2
    vector = drawing(lambda d, rng: samplers.sparse_vector(d, 1, 1, rng))
    yield "sparse vector, 1 query", vector, 2.0, 0.0, (1,), (0,)


def catalog() -> Iterator[Case]:
    """Yield mechanisms of this project's catalog, as they are called in calls of one output."""
    ones, changed = np.ones(3), np.r_[0.0, np.ones(2)]
    yield "catalog: randomized response, 2 labels", RandomizedResponse(("no", "yes"), 1.0), 1.0, 0.0, "no", "yes"
    yield "catalog: randomized response, 4 labels", RandomizedResponse((0, 1, 2, 3), 1.0), 1.0, 0.0, 0, 2
    yield "catalog: keep or resample, 4 labels", KeepOrResample((0, 1, 2, 3), 1.0), 1.0, 0.0, 0, 2
    labels, flipped = (audit.Labeled(np.arange(2), np.array(y)) for y in ((0, 1), (1, 1)))
    yield "catalog: noisy labels", NoisyLabels((0, 1), 1.0), 1.0, 0.0, labels, flipped
    yield "catalog: geometric count", GeometricMechanism(count_positive, 1, 1.0), 1.0, 0.0, ones, changed
    yield "catalog: truncated geometric", TruncatedGeometric(count_positive, 1, 1.0, most=4), 1.0, 0.0, ones, changed

    def errors(data: Any, candidates: Any) -> Any:
        return [abs(int(data) - candidate) for candidate in candidates]

    yield "catalog: exponential mechanism", ExponentialMechanism(errors, (0, 1, 2, 3), 1.0, 1.0), 1.0, 0.0, 1, 2


def diffprivlib() -> Iterator[Case]:
    """Yield mechanisms of diffprivlib; each draws from `secrets.SystemRandom`."""
    from diffprivlib import mechanisms as library

    made = {d: library.Exponential(epsilon=1.0, sensitivity=1, utility=list(d)) for d in ((0, 1, 2), (1, 0, 1))}
    yield "diffprivlib Exponential", audit.per_call(lambda d: made[d].randomise()), 1.0, 0.0, *made
    utility = [["a", "b", 1], ["a", "c", 2], ["b", "c", 1]]
    categorical = library.ExponentialCategorical(epsilon=1.0, utility_list=utility)
    yield "diffprivlib Categorical", audit.per_call(lambda d: categorical.randomise(d)), 1.0, 0.0, "a", "c"


def pure_ldp() -> Iterator[Case]:
    """Yield clients of pure-ldp, which draw from the global sources of `random` and NumPy."""
    if importlib.util.find_spec("pure_ldp") is None:
        return
    oracles: list[tuple[str, str, str, dict[str, Any]]] = [
        ("DE", "direct_encoding.de_client", "DEClient", {}),
        ("SUE", "unary_encoding.ue_client", "UEClient", {"use_oue": False}),
        ("OUE", "unary_encoding.ue_client", "UEClient", {"use_oue": True}),
        ("HR", "hadamard_response.hr_client", "HadamardResponseClient", {"hash_funcs": [hash]}),
    ]
    for name, module, kind, settings in oracles:
        made = getattr(importlib.import_module(f"pure_ldp.frequency_oracles.{module}"), kind)
        client = made(epsilon=1.0, d=4, **settings)
        yield f"pure-ldp {name}", audit.per_call(lambda d, client=client: client.privatise(d)), 1.0, 0.0, 1, 2


def main() -> None:
    """Print one row per sampler."""
    words = sys.argv[1:]
    warnings.simplefilter("ignore")
    print("| sampler | claim | verdict | states |\n| --- | --- | --- | --- |")
    for make in (own_samplers, catalog, diffprivlib, pure_ldp):
        for name, mechanism, epsilon, delta, left, right in make():
            if words and not any(word in name for word in words):
                continue
            claim = audit.PrivacyClaim(epsilon, delta, audit.Local())
            result = audit.check_privacy(mechanism, claim, [(left, right)], method="enumerate", name=name, workers=0)
            states = sum(proof.states for proof in result.evidence.by(Enumerated).laws)
            row = (
                name,
                f"({epsilon:g}, {delta:g})",
                f"{result.verdict} ({result.basis}): {result.reason}",
                f"{states:,}",
            )
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
