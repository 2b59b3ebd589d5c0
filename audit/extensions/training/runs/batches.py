"""The batches of a training run: their sizes, which records are in them, and how often; and their tests.

Poisson sampling makes every size binomial and every record's number of inclusions binomial, all independent. A fixed
size, an epoch and a second look at the same batch show against that with exact or finite-sample probabilities. Cyclic
Poisson sampling is that of its rounds, each of as many steps as there are groups.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from audit.api import InvalidArgument, text
from audit.extensions.training.runs.claim import TrainingClaim
from audit.extensions.training.runs.findings import (
    Finding,
    Missing,
    chernoff_pvalue,
    count_pvalue,
    distance_pvalue,
    double_smaller_tail,
)

_LONGEST, _ROUNDING = 2**24, 1e-13  # sums whose law is computed, and the rounding of its tails
_SMALL = 0.01  # relative change of a rate at which the mean size is compared
_LARGEST_DIVISOR = 64  # of batch sizes: accelerators take multiples of 8 to 64
_CENTRAL = 0.5  # share of the sizes that are central; a fixed size is in the middle at every step

Counts = tuple[tuple[int, int], ...]  # values with how often each occurs


@dataclass
class BatchEvidence:
    """Evidence of the batches of a run, of which some numbers are counted step by step."""

    records: int  # in the training data
    sizes: Counts = ()  # of batches: size, steps
    inclusions: Counts = ()  # number of inclusions, records; empty where only sizes were recorded
    shared: int = 0  # records that two successive batches have in common; each batch is in one such pair
    pairs: Counts = ()  # product of the two sizes, pairs of batches
    repeated: int = 0  # batches that are the same as an earlier one
    twice: int = 0  # records that are more than once in a batch
    again: int = 0  # records in a second batch of their epoch, if the batches have the size of the first one
    last: int = 0  # records of the last batch of an epoch, where it is smaller
    epoch: int = 0  # steps of an epoch that ends so
    close: int = 0  # inclusions of a record too few steps after its last one, or in a step of another group
    together: tuple[int, int] = (0, 0)  # inclusions of records 0 and 1, 2 and 3, ... and of 1 and 2, 3 and 4, ...

    @property
    def steps(self) -> int:
        """The number of batches; of rounds where groups take turns."""
        return sum(times for _, times in self.sizes)

    @property
    def included(self) -> int:
        return sum(size * times for size, times in self.sizes)


class Batches:
    """Collect the batches of a run, step by step."""

    def __init__(self, claim: TrainingClaim, records: int) -> None:
        self._records = records
        self._epoch = max(1, records // claim.batch) if claim.batch else 0  # steps
        self._rest = records % claim.batch if claim.batch else 0
        self.sizes: list[int] = []  # of all steps
        self._kind, self._rounds, self._held = claim.sampling, list[int](), 0
        self._round: Any = np.zeros(records, dtype=bool)
        self._counts, self._has_records = np.zeros(records, dtype=np.int64), True
        self._seen: set[bytes] = set()
        self._in_epoch = np.zeros(records, dtype=bool)
        self._before: Any = None
        self._pairs, self._evidence = Counter[int](), BatchEvidence(records)
        self._separation, self._seen_at = claim.separation or 1, np.full(records, -(10**9))

    def read(self, batch: Any) -> int | np.ndarray:
        """Return the indices of the records of a batch, which may come as a mask of all records; or its size alone."""
        if isinstance(batch, (int, np.integer)) and not isinstance(batch, bool):
            return int(batch)
        places = np.asarray(batch)
        if places.dtype == bool and places.shape == (self._records,):
            places = np.flatnonzero(places)
        are_within = places.dtype.kind in "iu" and bool(np.all((places >= 0) & (places < self._records)))
        if places.ndim != 1 or (places.size and not are_within):
            rule = f"be indices below {self._records}, a mask of {self._records} records, or the size of the batch"
            raise InvalidArgument.of("batch", rule, batch)
        return places.astype(np.int64)

    def add(self, batch: int | np.ndarray) -> None:
        """Add a batch, as `read` returns it."""
        size = batch if isinstance(batch, int) else batch.size
        self._end_epoch(size)
        if isinstance(batch, int):
            self._has_records = False
        else:
            self._add_records(batch)
        self._count(size)

    def _end_epoch(self, size: int) -> None:
        """Note that epochs end with a smaller batch, as most loaders make them, if the first one does."""
        if self._kind == "shuffled" and len(self.sizes) == self._epoch and size == self._rest > 0:
            self._epoch += 1
            self._evidence.last, self._evidence.epoch = size, self._epoch

    def _count(self, size: int) -> None:
        self.sizes.append(size)
        self._held += size
        if self._kind != "cyclic" or len(self.sizes) % self._separation == 0:
            self._rounds.append(self._held)
            self._held = 0

    def _add_records(self, places: np.ndarray) -> None:
        step, mask = len(self.sizes), np.zeros(self._records, dtype=bool)
        mask[places] = True
        distinct = np.flatnonzero(mask)
        self._evidence.twice += places.size - distinct.size
        waited = step - self._seen_at
        close = mask & (waited < self._separation)
        if self._kind != "separated" and self._separation > 1:
            close |= mask & (self._seen_at >= 0) & (waited % self._separation != 0)
        self._evidence.close += int(close.sum())
        self._seen_at[distinct] = step
        if self._kind == "cyclic":
            self._round |= mask
            if (step + 1) % self._separation == 0:
                self._add_round(step // self._separation, self._round.copy())
                self._round[:] = False
        else:
            self._add_round(step, mask)

    def _add_round(self, step: int, mask: np.ndarray) -> None:
        distinct = np.flatnonzero(mask)
        self._counts += mask
        key = distinct.tobytes()
        self._evidence.repeated += key in self._seen
        self._seen.add(key)
        self._epoch = self._epoch or max(1, self._records // max(1, distinct.size))
        if step % self._epoch == 0:
            self._in_epoch[:] = False
        self._evidence.again += int((self._in_epoch & mask).sum())
        self._in_epoch |= mask
        both = mask[:-1] & mask[1:]
        even, odd = self._evidence.together
        self._evidence.together = even + int(both[::2].sum()), odd + int(both[1::2].sum())
        if step % 2 and self._before is not None:
            self._evidence.shared += int((self._before & mask).sum())
            self._pairs[int(self._before.sum()) * distinct.size] += 1
        self._before = mask

    def evidence(self) -> BatchEvidence:
        """Return the collected evidence, as plain data."""
        sizes = _count(self._rounds)
        if not (self._has_records and self.sizes):
            return BatchEvidence(self._records, sizes, last=self._evidence.last, epoch=self._evidence.epoch)
        inclusions, pairs = _count(self._counts.tolist()), tuple(sorted(self._pairs.items()))
        return replace(self._evidence, sizes=sizes, inclusions=inclusions, pairs=pairs)


def _count(values: list[int]) -> Counts:
    return tuple(sorted(Counter(values).items()))


def batch_findings(claim: TrainingClaim, batches: BatchEvidence) -> Iterator[Finding]:
    """Yield the tests of the batches, in the order in which they explain a run."""
    if batches.twice:
        said = f"{batches.twice} records are in a batch more than once; a batch of {claim.summary} holds each once"
        yield Finding("repeats within a batch", 0.0, said)
    if batches.close:
        cyclic = f"records are {batches.close} times in a step of another group"
        other = f"records return {batches.close} times within {claim.separation} steps"
        yield Finding("separation", 0.0, cyclic if claim.sampling == "cyclic" else other)
    if claim.sampling in ("poisson", "cyclic"):
        yield from _poisson(claim, batches)
    elif claim.sampling != "separated":
        yield from _test_fixed_batches(claim, batches)
    if batches.inclusions and claim.sampling != "separated":
        yield _repetition(claim, batches)


def _poisson(claim: TrainingClaim, batches: BatchEvidence) -> Iterator[Finding]:
    n, steps, rate = batches.records, batches.steps, claim.rate_among(batches.records)
    most, deviation = claim.truncation or n, (n * rate * (1 - rate)) ** 0.5
    mean = n * rate if most >= n else size_moments(n, rate, most)[1]
    smallest, largest = batches.sizes[0][0], batches.sizes[-1][0]
    if largest > most:
        said = f"batches have up to {largest} records, and are truncated to {most}"
        yield Finding("size of the batches", 0.0, said)
        return
    found, around = text.number(batches.included / (n * steps)), f"{text.number(n * rate)} with standard deviation"
    due = f"Poisson sampling at rate {text.number(rate)} of {n:,} records gives {around} {text.number(deviation)}"
    yield Finding(
        "sampling rate",
        count_pvalue(batches.included, n * steps, rate) if most >= n else _total_pvalue(batches, rate, most),
        f"records are included at rate {found} in place of {text.number(mean / n)}",
    )
    spread = text.number(np.repeat(*np.array(batches.sizes).T).std())
    said = f"the batch sizes vary with standard deviation {spread}; {due}"
    if smallest == largest:
        said = f"every batch has {smallest} records; {due}"
    inside, chance = central_sizes(n, rate, most)
    central = sum(times for size, times in batches.sizes if inside[0] <= size <= inside[1])
    yield Finding("spread of the batch sizes", count_pvalue(central, steps, chance), said)
    said = f"the smallest batch has {smallest} records, the largest {largest}; {due}"
    yield Finding("smallest and largest batch", _extremes_pvalue(n, rate, batches, most), said)
    if batches.inclusions:
        yield Finding("inclusions of records", *_inclusions(batches, mean / n, are_independent=most >= n))
        yield _test_overlap(n, rate, batches, is_cut=most < n)
    if most >= n:
        yield from [_neighbors(n, rate, batches)] if batches.inclusions else []
        yield _multiples(n, rate, batches)


def _test_overlap(records: int, rate: float, batches: BatchEvidence, is_cut: bool) -> Finding:
    """Test for records that successive batches share."""
    trials = records * sum(times for _, times in batches.pairs)
    due, pvalue = trials * rate**2, count_pvalue(batches.shared, trials, rate**2)
    if is_cut:  # given the sizes, no heavier tails than a binomial count: Hoeffding (1963), theorem 4
        due = sum(product * times for product, times in batches.pairs) / records
        pvalue = chernoff_pvalue(batches.shared, trials, due / max(1, trials))
    said = f"successive batches share {batches.shared} records in place of about {text.number(due)}"
    return Finding("batches that share records", pvalue, said)


def size_moments(records: int, rate: float, most: int) -> tuple[np.ndarray, float, float]:
    """Return the probabilities of sizes 0 to `most` of a truncated Poisson batch, their mean and standard deviation."""
    sizes = np.arange(most + 1)
    below = np.append(special.bdtr(sizes[:-1], records, rate), 1.0)
    law = np.diff(below, prepend=0.0)
    mean = float(law @ sizes)
    return law, mean, float(law @ (sizes - mean) ** 2) ** 0.5


def _total_pvalue(batches: BatchEvidence, rate: float, most: int) -> float:
    """Return the p-value of the number of inclusions with truncation: by the law of the sum, up to its rounding."""
    law, mean, _ = size_moments(batches.records, rate, most)
    reach = batches.steps * most + 1
    if reach > _LONGEST:
        return chernoff_pvalue(batches.included / most, batches.steps, mean / most)
    total = np.fft.irfft(np.fft.rfft(law, 2 * reach) ** batches.steps, 2 * reach)
    at_most, at_least = float(total[: batches.included + 1].sum()), float(total[batches.included : reach].sum())
    return double_smaller_tail(at_most + _ROUNDING, at_least + _ROUNDING)


def _extremes_pvalue(records: int, rate: float, batches: BatchEvidence, cut: int) -> float:
    """Return the p-value of the smallest and the largest size, by their exact laws: sizes are independent."""
    steps, least, most = batches.steps, batches.sizes[0][0], batches.sizes[-1][0]

    def below(size: int) -> float:
        if size >= cut:
            return 1.0
        return float(special.bdtr(size, records, rate)) if size >= 0 else 0.0

    return min(1.0, 4 * min(
        (1 - below(least - 1)) ** steps, -math.expm1(steps * math.log1p(-min(below(least), 1 - 1e-16))),
        below(most) ** steps, -math.expm1(steps * math.log1p(-float(special.bdtrc(most - 1, records, rate)))) if most
        else 1.0,
    ))  # fmt: skip


def central_sizes(records: int, rate: float, most: int) -> tuple[tuple[int, int], float]:
    """Return the narrowest interval around the mean size that has probability 1/2 at least, and its probability.

    Sizes are at most `most`: larger batches are truncated.
    """
    mean = min(records * rate, most)
    for reach in range(records + 2):
        low, high = int(np.floor(mean)) - reach, int(np.ceil(mean)) + reach
        below = float(special.bdtr(low - 1, records, rate)) if low > 0 else 0.0
        chance = (1.0 if high >= most else float(special.bdtr(high, records, rate))) - below
        if chance >= _CENTRAL:
            return (low, high), min(1.0, chance)
    return (0, records), 1.0


def _multiples(records: int, rate: float, batches: BatchEvidence) -> Finding:
    """Test for sizes that are multiples of a number, as of batches that are cut or filled up to one."""
    found = {}
    for divisor in range(2, _LARGEST_DIVISOR + 1):
        roots = np.exp(2j * np.pi * np.arange(divisor) / divisor)
        chance = float(np.mean((1 - rate + rate * roots) ** records).real)
        count = sum(times for size, times in batches.sizes if size % divisor == 0)
        found[divisor] = (special.bdtrc(count - 1, batches.steps, min(1.0, chance)) if count else 1.0), count
    divisor = min(found, key=lambda one: found[one])
    pvalue, count = found[divisor]
    said = f"{count} of {batches.steps} batch sizes are multiples of {divisor}: batches are cut or filled up"
    return Finding("multiples as batch sizes", min(1.0, len(found) * float(pvalue)), said)


def _neighbors(records: int, rate: float, batches: BatchEvidence) -> Finding:
    """Test for records that enter with the one before them: pairs without a record in common are independent."""
    pairs = batches.steps * (records // 2), batches.steps * ((records - 1) // 2)
    pvalues = [count_pvalue(count, of, rate**2) for count, of in zip(batches.together, pairs, strict=True)]
    due = text.number(sum(pairs) * rate**2)
    said = f"records enter with the one before them {sum(batches.together)} times in place of about {due}"
    return Finding("records that enter together", min(1.0, 2 * min(pvalues)), said)


def _inclusions(batches: BatchEvidence, rate: float, are_independent: bool) -> tuple[float, str]:
    """Return the p-value of the records' numbers of inclusions, and their summary: their law and their extremes."""
    counts, records = np.array(batches.inclusions).T
    n, steps = int(records.sum()), batches.steps
    below = np.cumsum(records) / n
    grid = np.arange(steps + 1)
    law = special.bdtr(grid, steps, rate)
    found = np.concatenate([[0.0], below])[np.searchsorted(counts, grid, side="right")]
    by_law = distance_pvalue(float(np.max(np.abs(found - law))), n) if are_independent else 1.0
    least, most = int(counts[0]), int(counts[-1])
    rarest = special.bdtr(least, steps, rate), special.bdtrc(most - 1, steps, rate) if most else 1.0
    by_extremes = min(1.0, n * double_smaller_tail(float(rarest[0]), float(rarest[1])))
    mean, deviation = float(np.average(counts, weights=records)), (steps * rate * (1 - rate)) ** 0.5
    spread = float(np.average((counts - mean) ** 2, weights=records)) ** 0.5
    said = (
        f"records are included {least} to {most} times, with mean {text.number(mean)} and standard deviation "
        f"{text.number(spread)}; each by a coin of its own gives {text.number(steps * rate)} and "
        f"{text.number(deviation)}"
    )
    return min(1.0, 2 * min(by_law, by_extremes)), said


def _test_fixed_batches(claim: TrainingClaim, batches: BatchEvidence) -> Iterator[Finding]:
    n, due = batches.records, batches.records if claim.sampling == "all" else int(claim.batch or 0)
    times = dict(batches.sizes)
    ends = batches.epoch and times.get(batches.last) == batches.steps // batches.epoch
    if wrong := [size for size in times if size != due and not (ends and size == batches.last)]:
        said = f"batches have {min(wrong)} to {max(wrong)} records in place of {due}"
        yield Finding("size of the batches", 0.0, said)
    if not batches.inclusions:
        return
    if claim.sampling == "shuffled" and batches.again:
        said = f"{batches.again} records are in a second batch of their epoch; a shuffled epoch has each once"
        yield Finding("inclusions within an epoch", 0.0, said)
    if claim.sampling == "fixed":
        trials = due * sum(times for _, times in batches.pairs)
        said = f"successive batches share {batches.shared} records in place of about {text.number(trials * due / n)}"
        yield Finding("batches that share records", chernoff_pvalue(batches.shared, trials, due / n), said)


def _repetition(claim: TrainingClaim, batches: BatchEvidence) -> Finding:
    """Test for whole batches that return: by the union over all pairs of steps."""
    n, pairs = batches.records, batches.steps * (batches.steps - 1) / 2
    if claim.sampling in ("poisson", "cyclic"):
        rate = claim.rate_among(n)
        same = n * np.log(rate**2 + (1 - rate) ** 2)
        if (most := claim.truncation) is not None:
            same = np.logaddexp(same, special.betaln(most + 1, n - most + 1) + np.log(n + 1))  # of full batches
    else:
        due = batches.last or int(claim.batch or n)
        same = special.betaln(due + 1, n - due + 1) + np.log(n + 1)  # 1 / (n choose batch)
    chance = min(1.0, float(pairs * np.exp(same))) if batches.repeated and claim.sampling != "all" else 1.0
    said = f"{batches.repeated} of {batches.steps} batches are the same as an earlier one"
    return Finding("batches that return", chance, said)


def batch_gaps(claim: TrainingClaim, batches: BatchEvidence, level: float, tolerance: float) -> Iterator[Missing]:
    """Yield the deviations that the recorded batches could not have shown at the level of one test."""
    if not batches.sizes:
        yield Missing("batches", "give `batch` at each step")
        return
    if not batches.inclusions:
        yield Missing("which records are in the batches", "give `batch` as indices, not as a size")
    if claim.sampling not in ("poisson", "cyclic"):
        return
    n, rate = batches.records, claim.rate_among(batches.records)
    if (fewest := 2 * central_sizes(n, rate, claim.truncation or n)[1] ** batches.steps) > level:
        yield Missing(
            "Poisson against fixed size",
            f"{batches.steps} batches of one size have probability {fewest:.2g}; record more",
        )
    seen = rate_resolution(claim, batches, level)
    if seen > tolerance:
        yield Missing("the sampling rate", f"these steps show only a change by {seen:.2g}; record more steps")


def rate_resolution(claim: TrainingClaim, batches: BatchEvidence, level: float) -> float:
    """Return the relative change of the sampling rate that shows with power 0.8, by the normal approximation."""
    n, rate = batches.records, claim.rate_among(batches.records)
    deviations = float(special.ndtri(1 - level / 2) + special.ndtri(0.8))
    if claim.truncation is None:
        return deviations * float((1 - rate) / (rate * n * batches.steps)) ** 0.5
    _, mean, spread = size_moments(n, rate, claim.truncation)
    moved = abs(size_moments(n, rate * (1 - _SMALL), claim.truncation)[1] - mean) / _SMALL  # by a change of 1
    return deviations * spread / (max(moved, 1e-300) * batches.steps**0.5)
