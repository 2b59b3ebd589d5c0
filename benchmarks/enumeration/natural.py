"""Decide samplers in the style in which people write them, and print what each refusal says.

`python -m benchmarks.enumeration.natural [word ...]` prints a row for each sampler: whether its claim PASSes at the
usual settings of `audit.check_privacy`, or else whether its law is enumerated in 20 CPU seconds. Words select by name.
"""

from __future__ import annotations

import bisect
import itertools
import math
import os
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import audit
from benchmarks.enumeration import samplers

SCORES = (3.0, 1.0, 4.0, 2.0)
FOLLOWED = 1e-9  # a law that leaves less is called followed
LIMIT = 20.0  # seconds of the processor for a law


class Sampler(NamedTuple):
    """A sampler, two neighbors, and the (epsilon, delta) that it keeps on them."""

    name: str
    data: Any
    other: Any
    function: Callable[[Any, Any], Any]
    epsilon: float
    delta: float = 0.0
    rng: str = "numpy"

    def draw_from_module(self, data: Any) -> Any:
        """Return an output, drawn from the functions of `random`."""
        return self.function(data, random)

    def check(self, **settings: Any) -> audit.PrivacyResult:
        """Check the claim, as a user would who has no `random.Random` to pass."""
        mechanism = audit.per_call(self.draw_from_module if self.rng == "random" else self.function)
        claim = audit.PrivacyClaim(self.epsilon, self.delta, relation=audit.Local())
        return audit.check_privacy(mechanism, claim, [(self.data, self.other)], workers=0, **settings)


SAMPLERS: list[Sampler] = [
    Sampler("randomized response, `rng.random() < p`", 1, 0,
            lambda data, rng: data if rng.random() < 0.75 else 1 - data, 1.1),
    Sampler("randomized response, `float(rng.random()) < p`", 1, 0,
            lambda data, rng: data if float(rng.random()) < 0.75 else 1 - data, 1.1),
    Sampler("randomized response, `np.float64(rng.random()) < p`", 1, 0,
            lambda data, rng: data if np.float64(rng.random()) < 0.75 else 1 - data, 1.1),
    Sampler("randomized response, `if rng.integers(4)`", 1, 0,
            lambda data, rng: data if rng.integers(4) else 1 - data, 1.1),
    Sampler("randomized response, `rng.binomial(1, p)`", 1, 0,
            lambda data, rng: data ^ int(rng.binomial(1, 0.25)), 1.1),
    Sampler("randomized response, two coins", 1, 0,
            lambda data, rng: data if rng.random() < 0.5 else int(rng.random() < 0.5), 1.1, rng="random"),
    Sampler("randomized response, `rng.choice` with weights", 1, 2,
            lambda data, rng: int(rng.choice(4, p=[0.4, 0.2, 0.2, 0.2]) + data) % 4, 0.7),
    Sampler("randomized response, 6 bits in a comprehension", (0, 1, 0, 1, 1, 0), (1, 1, 0, 1, 1, 0),
            lambda data, rng: tuple(bit ^ (rng.random() < 0.25) for bit in data), 1.1),
    Sampler("randomized response, 6 bits by an array", (0, 1, 0, 1, 1, 0), (1, 1, 0, 1, 1, 0),
            lambda data, rng: tuple(np.where(rng.random(6) < 0.75, data, 1 - np.array(data)).tolist()), 1.1),
    Sampler("two-sided geometric, `rng.geometric`", 1, 2,
            lambda data, rng: data + int(rng.geometric(0.5)) - int(rng.geometric(0.5)), 0.7),
    Sampler("geometric by inversion, `math.log(u)`", 1, 2,
            lambda data, rng: data + math.floor(math.log(1 - rng.random()) / math.log(0.5)), 0.7, 0.5, rng="random"),
    Sampler("truncated geometric, `min` and `max`", 1, 2,
            lambda data, rng: max(0, min(5, data + int(rng.geometric(0.5)) - int(rng.geometric(0.5)))), 0.7),
    Sampler("binomial noise, 64 coins", 0, 1, lambda data, rng: data + int(rng.binomial(64, 0.5)) - 32, 1.0, 1e-5),
    Sampler("Skellam noise", 0, 1, lambda data, rng: data + int(rng.poisson(2.0)) - int(rng.poisson(2.0)), 1.0, 0.0036),
    Sampler("Laplace, rounded", 0, 1, lambda data, rng: round(data + rng.laplace(0, 2.0)), 0.5),
    Sampler("Laplace, `int(np.clip(np.round(x), 0, 5))`", 1, 2,
            lambda data, rng: int(np.clip(np.round(data + rng.laplace()), 0, 5)), 1.0),
    Sampler("Laplace above a threshold", 2, 3, lambda data, rng: bool(data + rng.laplace() > 3), 1.0),
    Sampler("Laplace, raw output", 1, 2, lambda data, rng: data + rng.laplace(), 1.0),
    Sampler("Gaussian, rounded", 0, 1, lambda data, rng: round(data + rng.normal(0, 2.0)), 0.5, 0.053),
    Sampler("Gaussian above a threshold", 2, 3,
            lambda data, rng: bool(data + 2 * rng.standard_normal() > 3), 0.5, 0.053),
    Sampler("Gaussian of `random.gauss`, rounded", 0, 1,
            lambda data, rng: round(data + rng.gauss(0, 2.0)), 0.5, 0.053, rng="random"),
    Sampler("staircase-like noise, a uniform within a step", 0, 1,
            lambda data, rng: round(data + int(rng.geometric(0.5)) + rng.random(), 1), 0.7, 0.5),
    Sampler("noisy max, Laplace, `np.argmax`", SCORES, (2.0, 2.0, 3.0, 3.0),
            lambda data, rng: int(np.argmax(np.array(data) + rng.laplace(0, 2.0, size=len(data)))), 1.0),
    Sampler("noisy max, Gumbel, `np.argmax`", SCORES, (2.0, 2.0, 3.0, 3.0),
            lambda data, rng: int(np.argmax(np.array(data) + rng.gumbel(0, 2.0, size=len(data)))), 1.0),
    Sampler("two uniforms compared", 0, 1, lambda data, rng: bool(rng.random() < rng.random()), 0.1),
    Sampler("20 users, `sum` of a generator", (0, 1) * 10, (0, 0) + (0, 1) * 9,
            lambda data, rng: sum(bit ^ (rng.random() < 0.25) for bit in data), 1.1),
    Sampler("200 users, `sum` of a generator", (0, 1) * 100, (0, 0) + (0, 1) * 99,
            lambda data, rng: sum(bit ^ (rng.random() < 0.25) for bit in data), 1.1),
    Sampler("8 users, `sum` of a list", (0, 1) * 4, (0, 0) + (0, 1) * 3,
            lambda data, rng: sum([bit ^ (rng.random() < 0.25) for bit in data]), 1.1),
    Sampler("20 users, an array", (0, 1) * 10, (0, 0) + (0, 1) * 9,
            lambda data, rng: int(np.sum(np.array(data) ^ (rng.random(len(data)) < 0.25))), 1.1),
    Sampler("200 users, an array", (0, 1) * 100, (0, 0) + (0, 1) * 99,
            lambda data, rng: int(np.sum(np.array(data) ^ (rng.random(len(data)) < 0.25))), 1.1),
    Sampler("sampling without replacement, then a count", (0, 1, 1, 0, 1), (1, 1, 1, 0, 1),
            lambda data, rng: int(np.array(data)[rng.choice(5, size=2, replace=False)].sum()), 0.1, 0.4),
    Sampler("Poisson sampling, then a count", (0, 1, 1, 0, 1), (1, 1, 1, 0, 1),
            lambda data, rng: len([bit for bit in data if rng.random() < 0.25 and bit]), 0.1, 0.25),
    Sampler("bounded uniform noise", 0, 1, lambda data, rng: data + int(rng.integers(-10, 11)), 0.1, 0.048),
    Sampler("discrete Gaussian of Canonne, Kamath and Steinke, sigma 2", 0, 1,
            lambda data, rng: data + samplers.discrete_gaussian(2, rng), 0.5, 0.053, rng="random"),
    Sampler("sparse vector, 3 queries, discrete Laplace noise", (0, 2, 0), (1, 1, 1),
            lambda data, rng: samplers.sparse_vector(data, 2, 1, rng), 2.0, rng="random"),
]  # fmt: skip


def sampler(name: str, data: Any, other: Any, *given: Any, **more: Any) -> Callable[[Any], Any]:
    """Add a sampler."""

    def add(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        SAMPLERS.append(Sampler(name, data, other, function, *given, **more))
        return function

    return add


@sampler("unary encoding, 4 labels", 2, 1, 1.1)
def _(data: Any, rng: Any) -> Any:
    return [int(rng.random() < (0.5 if label == data else 0.25)) for label in range(4)]


@sampler("local hashing, 4 labels", 2, 1, 1.1)
def _(data: Any, rng: Any) -> Any:
    a, b = int(rng.integers(1, 5)), int(rng.integers(5))
    value = (a * data + b) % 5 % 2
    return a, b, value if rng.random() < 0.75 else 1 - value


@sampler("subset selection, 2 of 5 labels", 2, 1, 0.82)
def _(data: Any, rng: Any) -> Any:
    others = [label for label in range(5) if label != data]
    if rng.random() < 0.6:
        return sorted([data, int(rng.choice(others))])
    return sorted(int(label) for label in rng.choice(others, size=2, replace=False))


@sampler("Hadamard response", 2, 1, 1.1)
def _(data: Any, rng: Any) -> Any:
    row = int(rng.integers(8))
    sign = 1 - 2 * ((row & data).bit_count() % 2)
    return row, sign if rng.random() < 0.75 else -sign


@sampler("geometric by a loop of coins", 1, 2, 0.7, 0.5, rng="random")
def _(data: Any, rng: Any) -> Any:
    while rng.random() < 0.5:
        data += 1
    return data


@sampler("two-sided geometric by a sign and a search", 1, 2, 1.4, 0.063)
def _(data: Any, rng: Any) -> Any:
    sign = -1 if rng.integers(2) else 1
    return data + sign * bisect.bisect_left([0.5, 0.75, 0.875, 1.0], rng.random())


@sampler("Laplace by inversion, rounded", 0, 1, 1.0)
def _(data: Any, rng: Any) -> Any:
    u = rng.random() - 0.5
    return round(data - math.copysign(1.0, u) * math.log(1 - 2 * abs(u)))


@sampler("exponential mechanism, `rng.choice(p=)`", SCORES, (2.0, 2.0, 3.0, 3.0), 1.0)
def _(data: Any, rng: Any) -> Any:
    weights = np.exp(np.array(data) / 2)
    return int(rng.choice(len(data), p=weights / weights.sum()))


@sampler("exponential mechanism, `np.searchsorted`", SCORES, (2.0, 2.0, 3.0, 3.0), 1.0)
def _(data: Any, rng: Any) -> Any:
    weights = np.exp(np.array(data) / 2)
    return int(np.searchsorted(np.cumsum(weights / weights.sum()), rng.random()))


@sampler("exponential mechanism, `r -= w`", SCORES, (2.0, 2.0, 3.0, 3.0), 1.0)
def _(data: Any, rng: Any) -> Any:
    weights = [math.exp(score / 2) for score in data]
    left = rng.random() * sum(weights)
    for index, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return index
    return len(weights) - 1


@sampler("exponential mechanism, `random.choices`", SCORES, (2.0, 2.0, 3.0, 3.0), 1.0, rng="random")
def _(data: Any, rng: Any) -> Any:
    return rng.choices(range(len(data)), weights=[math.exp(score / 2) for score in data])[0]


@sampler("exponential mechanism by rejection", SCORES, (2.0, 2.0, 3.0, 3.0), 1.0, rng="random")
def _(data: Any, rng: Any) -> Any:
    while True:
        index = rng.randrange(len(data))
        if rng.random() < math.exp((data[index] - 4) / 2):
            return index


@sampler("permute-and-flip, 4 candidates", SCORES, (2.0, 2.0, 4.0, 3.0), 1.0, rng="random")
def _(data: Any, rng: Any) -> Any:
    left = list(range(len(data)))
    while True:
        index = left.pop(rng.randrange(len(left)))
        if rng.random() < math.exp((data[index] - 4) / 2):
            return index


@sampler("permute-and-flip, `rng.permutation`", SCORES, (2.0, 2.0, 4.0, 3.0), 1.0)
def _(data: Any, rng: Any) -> Any:
    return next(int(index) for index in rng.permutation(len(data)) if rng.random() < math.exp((data[index] - 4) / 2))


@sampler("noisy max, geometric", (3, 1, 2), (2, 2, 2), 1.4)
def _(data: Any, rng: Any) -> Any:
    noisy = [score + int(rng.geometric(0.5)) for score in data]
    return noisy.index(max(noisy))


@sampler("sparse vector, Laplace, 3 queries", (0.0, 1.0, 2.0), (1.0, 0.0, 1.0), 1.0)
def _(data: Any, rng: Any) -> Any:
    level = 1 + rng.laplace(0, 2.0)
    for index, answer in enumerate(data):
        if answer + rng.laplace(0, 4.0) >= level:
            return index
    return None


@sampler("sparse vector, geometric, 2 queries", (0, 2), (1, 1), 2.1)
def _(data: Any, rng: Any) -> Any:
    level = 1 + int(rng.geometric(0.5))
    for index, answer in enumerate(data):
        if answer + int(rng.geometric(0.5)) >= level:
            return index
    return None


@sampler("20 users of randomized response, a loop", (0, 1) * 10, (0, 0) + (0, 1) * 9, 1.1)
@sampler("200 users of randomized response, a loop", (0, 1) * 100, (0, 0) + (0, 1) * 99, 1.1)
def _(data: Any, rng: Any) -> Any:
    total = 0
    for bit in data:
        total += bit if rng.random() < 0.75 else 1 - bit
    return total


def _reports(data: Any, rng: Any) -> Any:
    for bit in data:
        yield bit ^ (rng.random() < 0.25)


@sampler("20 users, a loop over a generator", (0, 1) * 10, (0, 0) + (0, 1) * 9, 1.1)
def _(data: Any, rng: Any) -> Any:
    total = 0
    for report in _reports(data, rng):
        total += report
    return total


@sampler("20 users, a loop over an array of draws", (0, 1) * 10, (0, 0) + (0, 1) * 9, 1.1)
def _(data: Any, rng: Any) -> Any:
    total = 0
    for u, bit in zip(rng.random(len(data)), data, strict=True):
        total += bit if u < 0.75 else 1 - bit
    return total


@sampler("200 users, mean of `np.where`", (0, 1) * 100, (0, 0) + (0, 1) * 99, 1.1)
def _(data: Any, rng: Any) -> Any:
    reports = np.where(rng.random(len(data)) < 0.75, data, 1 - np.array(data))
    return (float(reports.mean()) - 0.25) / 0.5


@sampler("shuffled randomized response, 6 users", (0, 1) * 3, (0, 0) + (0, 1) * 2, 1.1)
def _(data: Any, rng: Any) -> Any:
    reports = [bit if rng.random() < 0.75 else 1 - bit for bit in data]
    rng.shuffle(reports)
    return tuple(reports)


@sampler("shuffled randomized response, 12 users", (0, 1) * 6, (0, 0) + (0, 1) * 5, 1.1)
def _(data: Any, rng: Any) -> Any:
    reports = [bit if rng.random() < 0.75 else 1 - bit for bit in data]
    rng.shuffle(reports)
    return tuple(reports)


@sampler("squared uniform", 0, 1, 0.1)
def _(data: Any, rng: Any) -> Any:
    u = rng.random()
    return u * u < 0.25, u**2 < 0.5


@sampler("alias method", 0, 1, 0.1)
def _(data: Any, rng: Any) -> Any:
    column = int(rng.integers(4))
    return column if rng.random() < (0.5, 1.0, 0.75, 0.25)[column] else (1, 1, 0, 2)[column]


@sampler("Knuth and Yao, a die by bits", 0, 1, 0.1, rng="random")
def _(data: Any, rng: Any) -> Any:
    state, size = 0, 1
    while True:
        state, size = 2 * state + rng.getrandbits(1), 2 * size
        if size >= 6:
            if state < 6:
                return state
            state, size = state - 6, size - 6


@sampler("thresholded histogram, 2 keys", (2, 0), (3, 0), 0.7)
def _(data: Any, rng: Any) -> Any:
    noisy = [count + int(rng.geometric(0.5)) - int(rng.geometric(0.5)) for count in data]
    return {key: count for key, count in enumerate(noisy) if count > 2}


@sampler("optimal unary encoding, 8 labels", 2, 1, 1.0)
def _(data: Any, rng: Any) -> Any:
    return "".join("1" if rng.random() < (0.5 if label == data else 1 / (math.e + 1)) else "0" for label in range(8))


@sampler("one bit of a mean (Duchi)", 1.0, -1.0, 1.0)
def _(data: Any, rng: Any) -> Any:
    size = (math.e + 1) / (math.e - 1)
    return size if rng.random() < 0.5 + data / (2 * size) else -size


@sampler("piecewise mechanism, rounded", 0.5, -0.5, 1.0, rng="random")
def _(data: Any, rng: Any) -> Any:
    half = math.exp(0.5)
    end = (half + 1) / (half - 1)
    left = (end + 1) / 2 * data - (end - 1) / 2
    right = left + end - 1
    if rng.random() < half / (half + 1):
        return round(rng.uniform(left, right), 1)
    u = rng.uniform(0, end + 1)
    return round(-end + u if u < left + end else right + u - (left + end), 1)


@sampler("base-2 exponential mechanism, `randrange(total)`", (3, 1, 4, 2), (2, 2, 3, 3), 1.4, rng="random")
def _(data: Any, rng: Any) -> Any:
    left = rng.randrange(sum(2**score for score in data))
    for index, score in enumerate(data):
        left -= 2**score
        if left < 0:
            return index
    return None


@sampler("exponential mechanism, `bisect` of `accumulate`", SCORES, (2.0, 2.0, 3.0, 3.0), 1.0, rng="random")
def _(data: Any, rng: Any) -> Any:
    ends = list(itertools.accumulate(math.exp(score / 2) for score in data))
    return bisect.bisect(ends, rng.random() * ends[-1], hi=len(ends) - 1)


@sampler("secure geometric by halving", 0, 1, 0.5, rng="random")
def _(data: Any, rng: Any) -> Any:
    while True:
        left, right = 0, 64
        while left + 1 < right:
            middle = (left + right) // 2
            if rng.random() <= math.expm1((left - middle) * 0.5) / math.expm1((left - right) * 0.5):
                right = middle
            else:
                left = middle
        is_negative = rng.random() < 0.5
        if not (is_negative and right == 1):
            return data + (1 - right if is_negative else right - 1)


@sampler("teachers' vote, geometric noise", (3, 1, 2), (2, 2, 2), 1.4)
def _(data: Any, rng: Any) -> Any:
    return int(np.argmax([votes + int(rng.geometric(0.5)) - int(rng.geometric(0.5)) for votes in data]))


@sampler("teachers' vote, `votes += rng.laplace(size=3)`", (3.0, 1.0, 2.0), (2.0, 2.0, 2.0), 2.0)
def _(data: Any, rng: Any) -> Any:
    votes = np.array(data)
    votes += rng.laplace(size=3)
    return int(votes.argmax())


@sampler("counter by a tree, 4 steps", (1, 0, 1, 0), (1, 1, 1, 0), 2.1)
def _(data: Any, rng: Any) -> Any:
    nodes: dict[Any, int] = {}
    for start, end in ((0, 1), (0, 2), (2, 3), (0, 4)):
        nodes[start, end] = sum(data[start:end]) + int(rng.geometric(0.5)) - int(rng.geometric(0.5))
    return nodes[0, 1], nodes[0, 2], nodes[0, 2] + nodes[2, 3], nodes[0, 4]


@sampler("histogram of 3 bins, clipped", (2, 0, 1), (3, 0, 1), 0.7)
def _(data: Any, rng: Any) -> Any:
    return tuple(min(4, max(0, count + int(rng.geometric(0.5)) - int(rng.geometric(0.5)))) for count in data)


@sampler("RAPPOR, 6 bits, `np.where`", 2, 1, 0.54)
def _(data: Any, rng: Any) -> Any:
    bits = np.arange(6) == data
    u = rng.random(6)
    permanent = np.where(u < 0.25, True, np.where(u < 0.5, False, bits))
    return (rng.random(6) < np.where(permanent, 0.75, 0.5)).tolist()


@sampler("vector of 8 bits, `np.where`", (0, 1) * 4, (0, 0) + (0, 1) * 3, 1.1)
def _(data: Any, rng: Any) -> Any:
    bits = np.array(data)
    return np.where(rng.random(8) < 0.25, 1 - bits, bits).tolist()


@sampler("best two of 4, `np.argsort` of Gumbel noise", SCORES, (2.0, 2.0, 3.0, 3.0), 2.0)
def _(data: Any, rng: Any) -> Any:
    return np.argsort(-(np.array(data) + rng.gumbel(0, 2.0, size=len(data))))[:2].tolist()


@sampler("above a threshold, 12 queries, Laplace", (0.0, 1.0, 0.0, 2.0) * 3, (1.0, 0.0, 1.0, 1.0) * 3, 1.0)
def _(data: Any, rng: Any) -> Any:
    level = 3 + rng.laplace(0, 2.0)
    return next((index for index, answer in enumerate(data) if answer + rng.laplace(0, 4.0) >= level), None)


@sampler("best of a random number of candidates", (3, 1, 2), (2, 2, 2), 2.1)
def _(data: Any, rng: Any) -> Any:
    best: Any = None
    while best is None or rng.random() < 0.5:
        index = int(rng.integers(len(data)))
        noisy = data[index] + int(rng.geometric(0.5)) - int(rng.geometric(0.5))
        if best is None or noisy > best[1]:
            best = index, noisy
    return best


def _reach(sampler: Sampler) -> tuple[str, str]:
    """Return how a sampler is decided, by usual settings or by its law; else why not."""
    result = sampler.check()
    if result.verdict == "PASS":
        return f"PASS ({result.basis})", ""
    call = audit.per_call(sampler.function)
    law = audit.enumerate_law(call, sampler.data, rng=sampler.rng, time_limit=LIMIT)  # type: ignore[arg-type]
    if law.residual < FOLLOWED and not law.behind:
        return "law", ""
    return f"{result.verdict}", f"{result.reason} // {'; '.join((*law.behind, *law.not_followed))}"


def main(words: list[str]) -> None:
    """Print a row for each sampler, and how many are decided."""
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    print("| sampler | decided by | CPU s | why not |\n| --- | --- | --- | --- |")
    for each in SAMPLERS:
        if words and not any(word in each.name for word in words):
            continue
        started = sum(os.times()[:4])
        found, why = _reach(each)
        counts[found] += 1
        print(f"| {each.name} | {found} | {sum(os.times()[:4]) - started:.1f} | {why} |", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    random.seed(0)
    main(sys.argv[1:])
