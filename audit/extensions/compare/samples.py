"""Compare samples of implementations on one dataset: errors, speed, and a test whether two laws differ.

The interval of a median lies between order statistics: fewer than k of n errors lie at or below the median with
probability at most P(Binomial(n, 1/2) < k). Two laws play the guess game of the claim epsilon = 0, delta = 0, with
implementations in place of neighboring datasets. A game of R guesses needs a Binomial(R, 1/2) number of outputs of each
side; R is chosen so that the sample falls short with probability below 2e-12, and no statement is made where it does.

The form of outputs, such as their types, is apart from their law: a list and an array of the same numbers share one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from scipy import special

from audit import SubjectFailed
from audit.api import (
    Outputs,
    Side,
    Stream,
    Subject,
    TestDesign,
    Texts,
    bounds,
    choose_events,
    concatenate,
    errors,
    scorers,
    validate,
)

MISSED = 0.05  # probability that an interval misses
_CLOCKED = 0.2  # least seconds of drawing that a speed is measured over
_TRAINING = 0.25  # share of the outputs that choose the events of the game
_MARGIN = 5.0  # times sqrt(outputs): 7 standard deviations of the number of guesses on one side


@dataclass(frozen=True)
class Sample:
    """Independent outputs of one implementation on one dataset, and an estimate of its speed in one process."""

    outputs: Outputs
    per_second: float


@dataclass(frozen=True)
class Errors:
    """Absolute errors of outputs; the error of a vector is the mean over its entries."""

    count: int
    mean: float  # an estimate
    standard_error: float  # of the mean; an estimate
    median_interval: tuple[float, float]  # valid in finite samples, for every law


@dataclass(frozen=True)
class LawTest:
    """Statements about two laws, each wrong with probability at most the significance."""

    differ: bool
    ratio: float  # on some event the probabilities are at least e^ratio apart; 0 for none
    variation: float  # lower bound of the total variation
    runs: int  # guesses
    event: str  # that the guess "first" was based on
    ratio_resolution: float | None  # smallest log-ratio certified with power 0.8 on an event of probability 0.01
    variation_resolution: float  # smallest total variation certified with power 0.8 by the best events


def draw_sample(mechanism: Any, dataset: Any, size: int, stream: Stream) -> Sample:
    """Return `size` outputs and the speed; a start on the first call (a program, an object) is not timed."""
    subject = Subject(mechanism)

    def draw(count: int, key: int) -> list[Outputs]:
        return [subject.draw(*block)[0] for block in Side(dataset, count, stream.child(key)).blocks()]

    draw(1, 0)
    begun, rounds = time.perf_counter(), 1
    drawn = draw(size, rounds)
    while (seconds := time.perf_counter() - begun) < _CLOCKED:
        rounds += 1
        draw(size, rounds)
    outputs = concatenate(drawn)
    return Sample(replace(outputs, raw=outputs.numbers), size * rounds / seconds)


def draw_plain(mechanism: Any, dataset: Any, size: int, stream: Stream) -> dict[str, Any]:
    """Return the sample of `draw_sample` as plain data, for `sample_of`: it comes from the process of the mechanism."""
    try:
        sample = draw_sample(mechanism, dataset, size, stream)
    except (SubjectFailed, errors.BadLength) as failure:
        return {"failure": str(failure)}
    outputs = sample.outputs
    return {
        "per_second": sample.per_second,
        "shape": outputs.numbers.shape,
        "numbers": outputs.numbers.ravel().tolist(),
        "symbols": None if outputs.symbols is None else _plain_texts(outputs.symbols),
        "texts": {name: _plain_texts(texts) for name, texts in outputs.texts.items()},
    }


def sample_of(data: Mapping[str, Any]) -> Sample | str:
    """Return the sample that `draw_plain` made plain, or why there is none."""
    if "failure" in data:
        return f"the implementation {data['failure']}"
    numbers = np.array(data["numbers"], dtype=float).reshape(data["shape"])
    symbols = None if data["symbols"] is None else _texts_of(data["symbols"])
    texts = {str(name): _texts_of(kept) for name, kept in data["texts"].items()}
    return Sample(Outputs(numbers, numbers, symbols, texts=texts), float(data["per_second"]))


def _plain_texts(texts: Texts) -> list[Any]:
    return [list(texts.table), texts.codes.tolist()]


def _texts_of(data: Any) -> Texts:
    table, codes = data
    return Texts(tuple(map(str, table)), np.array(codes))


def errors_of(outputs: Outputs, truth: Any) -> Errors | None:
    """Return the errors of outputs; None when they are not numbers in the form of the truth."""
    answer = np.asarray(truth, dtype=float)
    if not outputs.is_plain or outputs.numbers.shape[1:] != answer.shape:
        return None
    away = np.abs(outputs.numbers - answer)
    errors = away if away.ndim == 1 else away.mean(axis=1)
    size = len(errors)
    # the least with P(Binomial(n, 1/2) <= rank) >= 0.025
    rank = max(1, int(scipy.stats.binom.ppf(MISSED / 2, size, 0.5)))
    ordered = np.sort(errors)
    return Errors(
        count=size,
        mean=float(errors.mean()),
        standard_error=float(errors.std() / math.sqrt(size)),
        median_interval=(float(ordered[rank - 1]), float(ordered[-rank])),
    )


def tell_apart(first: Outputs, second: Outputs, significance: float, stream: Stream) -> LawTest | None:
    """Play the game between two independent samples; return None when they cannot be read, or do not suffice.

    Types and shapes that do not vary are not compared, nor are the low-order bits of numbers.
    """
    level = validate.open_probability(significance, "significance")
    size = min(len(first), len(second))
    training = int(_TRAINING * size)
    left_out = size - training
    first, second = without_forms(first, second, training)
    runs = 2 * (left_out - math.ceil(_MARGIN * math.sqrt(left_out)))
    on_first = int(stream.child(0).rng().binomial(runs, 0.5)) if runs > 0 else 0
    if runs < 2 or max(on_first, runs - on_first) > left_out:
        return None
    design = TestDesign(0.0, 0.0, training, runs, level)
    events = choose_events(scorers.Training(first[:training], second[:training], None, (None, None)), [design])[0]
    if events is None:
        return None
    played = first[training : training + on_first], second[training : training + runs - on_first]
    said = [events.guess(outputs) for outputs in played]
    counts = bounds.GameCounts(*(int((guessed == value).sum()) for guessed in said for value in (1, -1, 0)))
    ratio, resolved = bounds.game_epsilon_lower_bound(counts, 0.0, level), bounds.game_resolution(0.0, 0.0, runs, level)
    guesses = counts.correct + counts.wrong
    one_sided, coins = events.thresholds.used < 2, stream.child(1).seed()
    variation = bounds.game_delta_lower_bound(counts.correct, guesses, counts.abstained, 0.0, level, coins, one_sided)
    # the best events guess every time, right with probability (1 + variation) / 2
    needed = scipy.stats.binom.isf(level, runs, 0.5)
    certain = float(special.betaincinv(needed + 1, runs - needed, bounds.POWER)) if needed < runs else 1.0
    return LawTest(
        differ=ratio > 0,
        ratio=ratio,
        variation=variation,
        runs=runs,
        event=events.describe()[1 if math.isnan(events.thresholds.upper) else 0],
        ratio_resolution=resolved if math.isfinite(resolved) else None,
        variation_resolution=2 * certain - 1,
    )


def without_forms(first: Outputs, second: Outputs, rows: int) -> tuple[Outputs, Outputs]:
    """Return numbers and symbols, with the texts that vary in the first rows of either side.

    Where one side has more columns than the other, both keep the columns that vary. Where single precision holds the
    numbers of one side alone, both are rounded to it.
    """
    sides = (first, second)
    told = {name for side in sides for name, text in side.texts.items() if len(np.unique(text.codes[:rows])) > 1}
    numbers = [side.numbers.reshape(len(side), -1) for side in sides]
    if numbers[0].shape[1] != numbers[1].shape[1]:
        plain = (~side.symbolic[:rows] for side in sides)
        numbers = [x[:, np.ptp(x[:rows][kept], axis=0) > 0] for x, kept in zip(numbers, plain, strict=True)]
    if len({_are_single(x[:rows]) for x in numbers}) == 2:
        numbers = [np.where(np.isfinite(_single(x)), _single(x), x) for x in numbers]
    left, right = (
        replace(
            side,
            numbers=x[:, 0] if x.shape[1] == 1 else x,
            names=None,
            texts={name: text for name, text in side.texts.items() if name in told},
        )
        for side, x in zip(sides, numbers, strict=True)
    )
    return left, right


def _are_single(numbers: np.ndarray) -> bool:
    """Test whether single precision holds all finite numbers, and half precision, as of whole ones, not most."""
    finite = numbers[np.isfinite(numbers)]
    if not len(finite) or not np.all(_single(finite) == finite):
        return False
    with np.errstate(over="ignore"):
        return bool(np.mean(finite.astype(np.float16) == finite) < 0.5)


def _single(numbers: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32).astype(float)
