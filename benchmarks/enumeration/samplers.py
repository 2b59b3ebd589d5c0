"""Discrete samplers, written from their papers: subjects of the enumeration, and of its mutants.

Canonne, Kamath & Steinke (2020), The discrete Gaussian for differential privacy: algorithms 1 to 3. McKenna & Sheldon
(2020), Permute-and-flip. Lyu, Su & Li (2017), Understanding the sparse vector technique, algorithm 1. Each draws from a
`random.Random`, on whose integers and 53-bit uniforms it relies.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction


def bernoulli(p: Fraction, rng: random.Random) -> bool:
    """Return True with probability p."""
    return rng.randrange(p.denominator) < p.numerator


def bernoulli_exp_small(gamma: Fraction, rng: random.Random) -> bool:
    """Return True with probability e^-gamma, for gamma in [0, 1]."""
    k = 1
    while bernoulli(gamma / k, rng):
        k += 1
    return k % 2 == 1


def bernoulli_exp(gamma: Fraction, rng: random.Random) -> bool:
    """Return True with probability e^-gamma, for gamma >= 0."""
    while gamma > 1:
        if not bernoulli_exp_small(Fraction(1), rng):
            return False
        gamma -= 1
    return bernoulli_exp_small(gamma, rng)


def discrete_laplace(scale: int, rng: random.Random) -> int:
    """Return x with probability proportional to e^(-|x| / scale)."""
    while True:
        u = rng.randrange(scale)
        if not bernoulli_exp_small(Fraction(u, scale), rng):
            continue
        v = 0
        while bernoulli_exp_small(Fraction(1), rng):
            v += 1
        x = u + scale * v
        is_negative = bernoulli(Fraction(1, 2), rng)
        if is_negative and x == 0:
            continue
        return -x if is_negative else x


def discrete_gaussian(sigma: int, rng: random.Random) -> int:
    """Return x with probability proportional to e^(-x^2 / 2 sigma^2)."""
    scale = sigma + 1
    while True:
        candidate = discrete_laplace(scale, rng)
        distance = abs(candidate) - Fraction(sigma * sigma, scale)
        if bernoulli_exp(distance * distance / (2 * sigma * sigma), rng):
            return candidate


def geometric(epsilon: float, rng: random.Random) -> int:
    """Return two-sided geometric noise, by flips of coins."""
    r = math.exp(-epsilon)
    value = 0
    while rng.random() < r:
        value += 1
    while rng.random() < r:
        value -= 1
    return value


def randomized_response(value: int, labels: int, epsilon: float, rng: random.Random) -> int:
    """Return the value, or one of the other labels."""
    keep = math.exp(epsilon) / (math.exp(epsilon) + labels - 1)
    if rng.random() < keep:
        return value
    return (value + 1 + rng.randrange(labels - 1)) % labels


def permute_and_flip(scores: Sequence[int], epsilon: float, rng: random.Random) -> int:
    """Return the index of a large score; scores have sensitivity 1."""
    best = max(scores)
    left = list(range(len(scores)))
    while left:
        index = left.pop(rng.randrange(len(left)))
        if rng.random() < math.exp(epsilon * (scores[index] - best) / 2):
            return index
    raise AssertionError("a best score is always accepted")


def exponential(scores: Sequence[int], epsilon: float, rng: random.Random) -> int:
    """Return the index of a large score, by the exponential mechanism and rejection."""
    best = max(scores)
    while True:
        index = rng.randrange(len(scores))
        if rng.random() < math.exp(epsilon * (scores[index] - best) / 2):
            return index


def sparse_vector(answers: Sequence[int], threshold: int, scale: int, rng: random.Random) -> int:
    """Return the index of the first answer above the noisy threshold, or the number of answers."""
    level = threshold + discrete_laplace(scale, rng)
    for index, answer in enumerate(answers):
        if answer + discrete_laplace(2 * scale, rng) >= level:
            return index
    return len(answers)


def noisy_count(values: Sequence[int], scale: int, rng: random.Random) -> int:
    """Return a count with discrete Laplace noise, kept between 0 and the largest count."""
    return min(len(values), max(0, sum(values) + discrete_laplace(scale, rng)))
