"""The ledger names the line of a mistake: the dearest draw, the dearest observation, or what no shift explains.

Each program has one wrong line, marked, for the claim of epsilon 1 on two datasets of bits that differ in one of them.
"""

import inspect
import math

import numpy as np
import pytest

import audit

LEFT = np.array([1.0, 0, 1, 1, 0, 1, 0, 0])
RIGHT = np.array([1.0, 0, 1, 1, 0, 1, 0, 1])


def half_the_noise(data, rng):
    count = data.sum() + rng.laplace(scale=2.0)
    squares = (data**2).sum() + rng.laplace(scale=0.5)  # wrong
    return count, squares


def sensitivity_of_ten(data, rng):
    return (10 * data).sum() / 10 + rng.laplace(scale=0.1)  # wrong


def asked_four_times(data, rng):
    first, others = data.sum() + rng.laplace(scale=2), []
    for _ in range(4):
        answer = data.sum() + rng.laplace(scale=2)  # wrong
        others.append(answer)
    return first, others


def exact_value(data, rng):
    noisy = data.sum() + rng.laplace()
    return (noisy, float(data.sum())) if noisy > 3 else (noisy, 0.0)  # wrong


def no_stop(data, rng):
    threshold, answers = 2 + rng.laplace(scale=2), []
    for sign in (1, -1, 1, -1, 1, -1):
        answer = sign * data.sum() + rng.laplace(scale=4) > threshold  # wrong
        answers.append(answer)
    return answers


def exact_queries(data, rng):
    threshold = 2 + rng.laplace(scale=0.5)
    for query in range(6):
        if data.sum() > threshold:  # wrong
            return query
    return -1


def mean_of_too_many(data, rng):
    return np.clip(data, 0, 1).mean() + rng.laplace(scale=1 / (4 * len(data)))  # wrong


def histogram(data, rng):
    counts = np.bincount(data.astype(int), minlength=2)
    return counts + rng.laplace(scale=0.5, size=2)  # wrong


def small_deviation(data, rng):
    first = data.sum() + rng.normal(scale=5.0)
    second = data.sum() + rng.normal(scale=math.sqrt(0.25))  # wrong
    return first, second


def scores_of_two(data, rng):
    scores = np.array([data.sum(), 8 - data.sum(), 4.0])
    noisy = scores + rng.laplace(scale=0.5, size=3)  # wrong
    return int(np.argmax(noisy))


def noise_on_one_branch(data, rng):
    noisy = data.sum() + rng.laplace(scale=2)
    return noisy if noisy > 4 else data.sum()  # wrong


def three_times_the_sum(data, rng):
    total = data.sum()
    return total + rng.laplace(scale=4), total / 2 + rng.laplace(scale=4), [
        3 * total + rng.laplace(scale=2)  # wrong
    ]  # fmt: skip


def exponential_mechanism(data, rng):
    utilities = np.array([data.sum(), 8 - data.sum()])
    return int(np.argmax(4 * utilities + rng.gumbel(size=2)))  # wrong


def randomized_response(data, rng):
    return [bool(bit) ^ (rng.random() < 0.05) for bit in data]  # wrong


def rounded_before_the_sum(data, rng):
    return int(data.sum()) + int(rng.geometric(0.9) - rng.geometric(0.9))  # wrong


def gradient_steps(data, rng):
    weight = 0.0
    for _ in range(5):
        gradient = np.clip(data - weight, -1, 1).sum()
        weight -= 0.1 * (gradient + rng.laplace(scale=0.5))  # wrong
    return weight


def variance(data, rng):
    mean = data.sum() + rng.laplace(scale=2)
    squares = ((data - data.mean()) ** 2).sum() + rng.laplace(scale=0.2)  # wrong
    return mean, squares


def median(data, rng):
    return np.median(data) + rng.laplace(scale=1 / len(data))  # wrong


def prefixes(data, rng):
    sums = []
    for end in range(1, 9):
        released = data[-end:].sum() + rng.laplace(scale=2.0)  # wrong
        sums.append(released)
    return sums


def scaled_afterwards(data, rng):
    first = (data.sum() + rng.laplace(scale=2)) * 2
    second = data.sum() * 2 + rng.laplace(scale=1)  # wrong
    return first, second


MISTAKES = [
    half_the_noise, sensitivity_of_ten, asked_four_times, exact_value, no_stop, exact_queries, mean_of_too_many,
    histogram, small_deviation, scores_of_two, noise_on_one_branch, three_times_the_sum, exponential_mechanism,
    randomized_response, rounded_before_the_sum, gradient_steps, variance, median, prefixes, scaled_afterwards,
]  # fmt: skip


@pytest.mark.parametrize("program", MISTAKES, ids=lambda program: program.__name__)
def test_the_ledger_names_the_wrong_line(program):
    lines, first = inspect.getsourcelines(program)
    (wrong,) = (first + number for number, line in enumerate(lines) if line.rstrip().endswith("# wrong"))
    ledger = audit.explain(audit.per_call(program), LEFT, RIGHT, claimed=1.0)
    draw = max(ledger.draws, key=lambda entry: entry.spends, default=None)
    seen = max(ledger.observations, key=lambda entry: entry.price, default=None)
    named = [*(entry.place for entry in (draw, seen) if entry is not None), ledger.left_out]
    assert any(f"test_seeded_mistakes.py:{wrong}" in place for place in named), ledger
    assert ledger.reason or ledger.left_out or max(ledger.epsilon, ledger.mu) > 1
