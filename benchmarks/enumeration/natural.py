"""Enumerate samplers in the style in which people write them, and print what each refusal says.

`python -m benchmarks.enumeration.natural [word ...]` prints a row for each sampler: CPU seconds of one law with a limit
of 10, the probability that is left over, and why. Words select samplers by name.
"""

from __future__ import annotations

import bisect
import math
import os
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import audit

SCORES = (3.0, 1.0, 4.0, 2.0)
SAMPLERS: list[tuple[str, Callable[[Any, Any], Any], Any, str]] = []
FOLLOWED = 1e-9  # a law that leaves less is called followed


def sampler(name: str, data: Any = 1, rng: str = "numpy") -> Callable[[Any], Any]:
    """Add a sampler."""

    def add(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        SAMPLERS.append((name, function, data, rng))
        return function

    return add


@sampler("randomized response, `rng.random() < p`")
def _(data: Any, rng: Any) -> Any:
    return data if rng.random() < 0.75 else 1 - data


@sampler("randomized response, `float(rng.random()) < p`")
def _(data: Any, rng: Any) -> Any:
    return data if float(rng.random()) < 0.75 else 1 - data


@sampler("randomized response, `np.float64(rng.random()) < p`")
def _(data: Any, rng: Any) -> Any:
    return data if np.float64(rng.random()) < 0.75 else 1 - data


@sampler("randomized response, `if rng.integers(4)`")
def _(data: Any, rng: Any) -> Any:
    return data if rng.integers(4) else 1 - data


@sampler("randomized response, `rng.binomial(1, p)`")
def _(data: Any, rng: Any) -> Any:
    return data ^ int(rng.binomial(1, 0.25))


@sampler("randomized response, two coins", rng="random")
def _(data: Any, rng: Any) -> Any:
    return data if rng.random() < 0.5 else int(rng.random() < 0.5)


@sampler("randomized response, `rng.choice` with weights")
def _(data: Any, rng: Any) -> Any:
    return int(rng.choice(4, p=[0.4, 0.2, 0.2, 0.2]) + data) % 4


@sampler("randomized response, 6 bits in a comprehension", (0, 1, 0, 1, 1, 0))
def _(data: Any, rng: Any) -> Any:
    return tuple(bit ^ (rng.random() < 0.25) for bit in data)


@sampler("randomized response, 6 bits by an array", (0, 1, 0, 1, 1, 0))
def _(data: Any, rng: Any) -> Any:
    return tuple(np.where(rng.random(6) < 0.75, data, 1 - np.array(data)).tolist())


@sampler("unary encoding, 4 labels", 2)
def _(data: Any, rng: Any) -> Any:
    return [int(rng.random() < (0.5 if label == data else 0.25)) for label in range(4)]


@sampler("local hashing, 4 labels", 2)
def _(data: Any, rng: Any) -> Any:
    a, b = int(rng.integers(1, 5)), int(rng.integers(5))
    value = (a * data + b) % 5 % 2
    return a, b, value if rng.random() < 0.75 else 1 - value


@sampler("subset selection, 2 of 5 labels", 2)
def _(data: Any, rng: Any) -> Any:
    others = [label for label in range(5) if label != data]
    if rng.random() < 0.6:
        return sorted([data, int(rng.choice(others))])
    return sorted(int(label) for label in rng.choice(others, size=2, replace=False))


@sampler("Hadamard response", 2)
def _(data: Any, rng: Any) -> Any:
    row = int(rng.integers(8))
    sign = 1 - 2 * ((row & data).bit_count() % 2)
    return row, sign if rng.random() < 0.75 else -sign


@sampler("two-sided geometric, `rng.geometric`")
def _(data: Any, rng: Any) -> Any:
    return data + int(rng.geometric(0.5)) - int(rng.geometric(0.5))


@sampler("geometric by a loop of coins", rng="random")
def _(data: Any, rng: Any) -> Any:
    while rng.random() < 0.5:
        data += 1
    return data


@sampler("geometric by inversion, `math.log(u)`", rng="random")
def _(data: Any, rng: Any) -> Any:
    return data + math.floor(math.log(1 - rng.random()) / math.log(0.5))


@sampler("two-sided geometric by a sign and a search")
def _(data: Any, rng: Any) -> Any:
    sign = -1 if rng.integers(2) else 1
    return data + sign * bisect.bisect_left([0.5, 0.75, 0.875, 1.0], rng.random())


@sampler("truncated geometric, `min` and `max`")
def _(data: Any, rng: Any) -> Any:
    return max(0, min(5, data + int(rng.geometric(0.5)) - int(rng.geometric(0.5))))


@sampler("binomial noise, 64 coins", 0)
def _(data: Any, rng: Any) -> Any:
    return data + int(rng.binomial(64, 0.5)) - 32


@sampler("Skellam noise", 0)
def _(data: Any, rng: Any) -> Any:
    return data + int(rng.poisson(2.0)) - int(rng.poisson(2.0))


@sampler("Laplace, rounded", 0)
def _(data: Any, rng: Any) -> Any:
    return round(data + rng.laplace(0, 2.0))


@sampler("Laplace, `int(np.clip(np.round(x), 0, 5))`")
def _(data: Any, rng: Any) -> Any:
    return int(np.clip(np.round(data + rng.laplace()), 0, 5))


@sampler("Laplace by inversion, rounded", 0)
def _(data: Any, rng: Any) -> Any:
    u = rng.random() - 0.5
    return round(data - math.copysign(1.0, u) * math.log(1 - 2 * abs(u)))


@sampler("Laplace above a threshold", 2)
def _(data: Any, rng: Any) -> Any:
    return bool(data + rng.laplace() > 3)


@sampler("Laplace, raw output")
def _(data: Any, rng: Any) -> Any:
    return data + rng.laplace()


@sampler("Gaussian, rounded", 0)
def _(data: Any, rng: Any) -> Any:
    return round(data + rng.normal(0, 2.0))


@sampler("Gaussian above a threshold", 2)
def _(data: Any, rng: Any) -> Any:
    return bool(data + 2 * rng.standard_normal() > 3)


@sampler("Gaussian of `random.gauss`, rounded", 0, "random")
def _(data: Any, rng: Any) -> Any:
    return round(data + rng.gauss(0, 2.0))


@sampler("staircase-like noise, a uniform within a step", 0)
def _(data: Any, rng: Any) -> Any:
    return round(data + int(rng.geometric(0.5)) + rng.random(), 1)


@sampler("exponential mechanism, `rng.choice(p=)`", SCORES)
def _(data: Any, rng: Any) -> Any:
    weights = np.exp(np.array(data) / 2)
    return int(rng.choice(len(data), p=weights / weights.sum()))


@sampler("exponential mechanism, `np.searchsorted`", SCORES)
def _(data: Any, rng: Any) -> Any:
    weights = np.exp(np.array(data) / 2)
    return int(np.searchsorted(np.cumsum(weights / weights.sum()), rng.random()))


@sampler("exponential mechanism, `r -= w`", SCORES)
def _(data: Any, rng: Any) -> Any:
    weights = [math.exp(score / 2) for score in data]
    left = rng.random() * sum(weights)
    for index, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return index
    return len(weights) - 1


@sampler("exponential mechanism, `random.choices`", SCORES, "random")
def _(data: Any, rng: Any) -> Any:
    return rng.choices(range(len(data)), weights=[math.exp(score / 2) for score in data])[0]


@sampler("exponential mechanism by rejection", SCORES, "random")
def _(data: Any, rng: Any) -> Any:
    while True:
        index = rng.randrange(len(data))
        if rng.random() < math.exp((data[index] - 4) / 2):
            return index


@sampler("permute-and-flip, 4 candidates", SCORES, "random")
def _(data: Any, rng: Any) -> Any:
    left = list(range(len(data)))
    while True:
        index = left.pop(rng.randrange(len(left)))
        if rng.random() < math.exp((data[index] - 4) / 2):
            return index


@sampler("permute-and-flip, `rng.permutation`", SCORES)
def _(data: Any, rng: Any) -> Any:
    return next(int(index) for index in rng.permutation(len(data)) if rng.random() < math.exp((data[index] - 4) / 2))


@sampler("noisy max, geometric", (3, 1, 2))
def _(data: Any, rng: Any) -> Any:
    noisy = [score + int(rng.geometric(0.5)) for score in data]
    return noisy.index(max(noisy))


@sampler("noisy max, Laplace, `np.argmax`", SCORES)
def _(data: Any, rng: Any) -> Any:
    return int(np.argmax(np.array(data) + rng.laplace(0, 2.0, size=len(data))))


@sampler("noisy max, Gumbel, `np.argmax`", SCORES)
def _(data: Any, rng: Any) -> Any:
    return int(np.argmax(np.array(data) + rng.gumbel(0, 2.0, size=len(data))))


@sampler("sparse vector, Laplace, 3 queries", (0.0, 1.0, 2.0))
def _(data: Any, rng: Any) -> Any:
    level = 1 + rng.laplace(0, 2.0)
    for index, answer in enumerate(data):
        if answer + rng.laplace(0, 4.0) >= level:
            return index
    return None


@sampler("sparse vector, geometric, 2 queries", (0, 2))
def _(data: Any, rng: Any) -> Any:
    level = 1 + int(rng.geometric(0.5))
    for index, answer in enumerate(data):
        if answer + int(rng.geometric(0.5)) >= level:
            return index
    return None


@sampler("two uniforms compared", 0)
def _(data: Any, rng: Any) -> Any:
    return bool(rng.random() < rng.random())


@sampler("20 users of randomized response, a loop", (0, 1) * 10)
@sampler("200 users of randomized response, a loop", (0, 1) * 100)
def _(data: Any, rng: Any) -> Any:
    total = 0
    for bit in data:
        total += bit if rng.random() < 0.75 else 1 - bit
    return total


@sampler("20 users, `sum` of a generator", (0, 1) * 10)
@sampler("200 users, `sum` of a generator", (0, 1) * 100)
def _(data: Any, rng: Any) -> Any:
    return sum(bit ^ (rng.random() < 0.25) for bit in data)


def _reports(data: Any, rng: Any) -> Any:
    for bit in data:
        yield bit ^ (rng.random() < 0.25)


@sampler("20 users, a loop over a generator", (0, 1) * 10)
def _(data: Any, rng: Any) -> Any:
    total = 0
    for report in _reports(data, rng):
        total += report
    return total


@sampler("20 users, a loop over an array of draws", (0, 1) * 10)
def _(data: Any, rng: Any) -> Any:
    total = 0
    for u, bit in zip(rng.random(len(data)), data, strict=True):
        total += bit if u < 0.75 else 1 - bit
    return total


@sampler("8 users, `sum` of a list", (0, 1) * 4)
def _(data: Any, rng: Any) -> Any:
    return sum([bit ^ (rng.random() < 0.25) for bit in data])


@sampler("20 users, an array", (0, 1) * 10)
@sampler("200 users, an array", (0, 1) * 100)
def _(data: Any, rng: Any) -> Any:
    return int(np.sum(np.array(data) ^ (rng.random(len(data)) < 0.25)))


@sampler("200 users, mean of `np.where`", (0, 1) * 100)
def _(data: Any, rng: Any) -> Any:
    reports = np.where(rng.random(len(data)) < 0.75, data, 1 - np.array(data))
    return (float(reports.mean()) - 0.25) / 0.5


@sampler("shuffled randomized response, 6 users", (0, 1) * 3)
def _(data: Any, rng: Any) -> Any:
    reports = [bit if rng.random() < 0.75 else 1 - bit for bit in data]
    rng.shuffle(reports)
    return tuple(reports)


@sampler("shuffled randomized response, 12 users", (0, 1) * 6)
def _(data: Any, rng: Any) -> Any:
    reports = [bit if rng.random() < 0.75 else 1 - bit for bit in data]
    rng.shuffle(reports)
    return tuple(reports)


@sampler("sampling without replacement, then a count", (0, 1, 1, 0, 1))
def _(data: Any, rng: Any) -> Any:
    return int(np.array(data)[rng.choice(5, size=2, replace=False)].sum())


@sampler("Poisson sampling, then a count", (0, 1, 1, 0, 1))
def _(data: Any, rng: Any) -> Any:
    return len([bit for bit in data if rng.random() < 0.25 and bit])


@sampler("squared uniform", 0)
def _(data: Any, rng: Any) -> Any:
    u = rng.random()
    return u * u < 0.25, u**2 < 0.5


@sampler("alias method", 0)
def _(data: Any, rng: Any) -> Any:
    column = int(rng.integers(4))
    return column if rng.random() < (0.5, 1.0, 0.75, 0.25)[column] else (1, 1, 0, 2)[column]


@sampler("Knuth and Yao, a die by bits", 0, "random")
def _(data: Any, rng: Any) -> Any:
    state, size = 0, 1
    while True:
        state, size = 2 * state + rng.getrandbits(1), 2 * size
        if size >= 6:
            if state < 6:
                return state
            state, size = state - 6, size - 6


@sampler("thresholded histogram, 2 keys", (2, 0))
def _(data: Any, rng: Any) -> Any:
    noisy = [count + int(rng.geometric(0.5)) - int(rng.geometric(0.5)) for count in data]
    return {key: count for key, count in enumerate(noisy) if count > 2}


@sampler("bounded uniform noise", 0)
def _(data: Any, rng: Any) -> Any:
    return data + int(rng.integers(-10, 11))


def main(words: list[str]) -> None:
    """Print a row for each sampler, and how many have a law."""
    warnings.simplefilter("ignore")
    followed, number = 0, 0
    print("| sampler | CPU s | left over | why |\n| --- | --- | --- | --- |")
    for name, function, data, rng in SAMPLERS:
        if words and not any(word in name for word in words):
            continue
        started = sum(os.times()[:4])
        law = audit.enumerate_law(audit.per_call(function), data, rng=rng, time_limit=10.0)  # type: ignore[arg-type]
        seconds, left = sum(os.times()[:4]) - started, float(law.residual)
        number, followed = number + 1, followed + (left < FOLLOWED and not law.behind)
        why = "; ".join((*law.behind, *law.not_followed)) if left >= FOLLOWED or law.behind else ""
        print(f"| {name} | {seconds:.1f} | {left:.2g} | {why} |", flush=True)
    print(f"\n{followed} of {number} have a law.")


if __name__ == "__main__":
    random.seed(0)
    main(sys.argv[1:])
