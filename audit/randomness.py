"""The function `check_randomness`: are the outputs of a mechanism independent of each other, or is noise reused?

Every other verdict of this package needs independent releases. Here that is the null hypothesis: all outputs, over all
calls and processes, are independent draws from one law, which may be anything. Then every order of the outputs is as
likely as the one that was seen, so that a permutation test of any statistic is exact in finite samples, for
continuous and discrete outputs alike. A FAIL says that noise is reused or shared; it is no statement about epsilon.
"""

from __future__ import annotations

import math
import multiprocessing
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from audit.arguments import integer, open_probability
from audit.checks import DEFAULT_SIGNIFICANCE
from audit.describe import name_of
from audit.empirical.scorers.atoms import atom_keys
from audit.errors import InvalidArgument
from audit.sampling import BadLength, Block, Outputs, Stream, Subject, SubjectFailed, concatenate
from audit.verdict import Verdict

DEFAULT_RANDOMNESS_BUDGET = 2_048
CALLS = 16
WORKERS = 2
_WORKER_SHARE = 8  # each forked worker draws this part of the budget
_FEWEST = 32 * CALLS  # outputs below which nothing can be said
_MOST = 8_192  # outputs that are examined, whatever the budget
_FEWEST_PERMUTATIONS, _MOST_PERMUTATIONS = 999, 19_999
_MOST_COORDINATES = 8  # beyond these a vector counts as a whole
_LONGEST_LAG = 32  # of the serial correlation
_PATIENCE = 60.0  # seconds that a forked worker may take
_IN_PROCESS, _FORKED, _PERMUTING = 0, 1, 2  # children of the stream

TEXTS = {
    "same noise in every call": "different calls give the same outputs at the same place, whatever generator they get",
    "repeats within a call": "outputs of one call repeat each other",
    "short period": "the outputs repeat themselves at a fixed distance",
    "serial correlation": "successive outputs are correlated",
    "shared within a call": "outputs of one call are more alike than outputs of different calls",
    "same noise in forked workers": "two forked processes give the same outputs",
}


@dataclass(frozen=True)
class Finding:
    """One way in which the outputs are not independent.

    Parameters
    ----------
    kind : str
        A key of `TEXTS`.
    pvalue : float
        Of an exact permutation test, not yet corrected for the number of tests.
    observed, expected : float
        The statistic, and its mean over the permutations.
    """

    kind: str
    pvalue: float
    observed: float
    expected: float

    @property
    def text(self) -> str:
        """What was seen, in words."""
        return f"{TEXTS[self.kind]} ({self.observed:.4g}, by chance {self.expected:.4g}; p = {self.pvalue:.2g})"


@dataclass(frozen=True)
class RandomnessResult:
    """The outcome of a randomness check.

    Parameters
    ----------
    verdict : Verdict
        FAIL: the outputs are not independent; PASS: no test found anything, and a fixed seed would have been found.
    reason : str
        One sentence.
    findings : tuple of Finding
        The tests that rejected.
    tests : tuple of Finding
        All tests, whatever they found.
    samples : int
        Outputs drawn.
    """

    name: str
    verdict: Verdict
    reason: str
    findings: tuple[Finding, ...]
    tests: tuple[Finding, ...]
    samples: int
    budget: int
    significance: float
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "verdict": self.verdict.value}


def check_randomness(
    mechanism: Any,
    dataset: Any,
    *,
    budget: int = DEFAULT_RANDOMNESS_BUDGET,
    significance: float = DEFAULT_SIGNIFICANCE,
    seed: int = 0,
    name: str | None = None,
) -> RandomnessResult:
    """Test whether the outputs of a mechanism on one dataset are independent.

    Looks for a fixed seed and a stream that is reused (the same outputs in different calls), repeats within a call, a
    short period, serial correlation, noise shared by one call, and forked processes that share their noise.

    Parameters
    ----------
    mechanism : callable
        `(dataset, size, rng) -> array-like`; every call gets a generator with a seed of its own.
    dataset : object
        The one dataset on which it runs.
    budget : int >= 2
        Outputs; 512 at least are needed in the calls for a verdict, and beyond 8192 none are drawn.
    significance : float in (0, 1)
        Probability of a FAIL when all outputs are independent draws from one law, whatever that law: each of the six
        tests spends a sixth of it.
    seed : int >= 0
        Seeds the calls and the permutations.
    name : str, optional
        Shown in messages; the mechanism's own name unless given.
    """
    if not callable(mechanism):
        raise InvalidArgument.of("mechanism", "be callable as (dataset, size, rng)", mechanism)
    budget = integer(budget, "budget", at_least=2)
    significance = open_probability(significance, "significance")
    stream = Stream(integer(seed, "seed", at_least=0))
    started = time.perf_counter()
    drawn = _Drawn(Subject(mechanism), dataset, min(budget, _MOST), stream)
    tests: tuple[Finding, ...] = ()
    try:
        drawn.draw()
        tests = _examine(drawn.calls, drawn.workers, significance, stream.child(_PERMUTING).rng())
        verdict, reason, findings = _decide(tests, significance, bool(drawn.workers))
    except (SubjectFailed, BadLength) as failure:
        verdict, reason, findings = Verdict.INCONCLUSIVE, f"the mechanism {failure}", ()
    except _Undecided as cause:
        verdict, reason, findings = Verdict.INCONCLUSIVE, str(cause), ()
    seconds = time.perf_counter() - started
    return RandomnessResult(
        name or name_of(mechanism), verdict, reason, findings, tests, drawn.samples, budget, significance, seconds
    )


class _Undecided(Exception):
    """Why no verdict is possible."""


@dataclass
class _Drawn:
    """The outputs of the calls in this process and of the forked workers."""

    subject: Subject
    dataset: Any
    budget: int
    stream: Stream
    samples: int = 0

    def draw(self) -> None:
        """Draw everything; raises when the budget is too small or the mechanism gives nothing."""
        worker_size = self.budget // _WORKER_SHARE
        size = (self.budget - WORKERS * worker_size) // CALLS
        if size * CALLS < _FEWEST:
            raise _Undecided(f"{size * CALLS} outputs in {CALLS} calls say nothing: raise the budget")
        calls = self.stream.child(_IN_PROCESS)
        self.calls = [_draw(self.subject, self.dataset, size, calls.child(call)) for call in range(CALLS)]
        self.samples += size * CALLS
        self.workers = _forked(self.subject, self.dataset, worker_size, self.stream.child(_FORKED))
        self.samples += worker_size * len(self.workers)


def _decide(tests: tuple[Finding, ...], significance: float, forked: bool) -> tuple[Verdict, str, tuple[Finding, ...]]:
    findings = tuple(test for test in tests if test.pvalue <= significance / len(TEXTS))
    if findings:
        more = f"; also {', '.join(found.kind for found in findings[1:])}" if len(findings) > 1 else ""
        return Verdict.FAIL, f"the outputs are not independent: {findings[0].text}{more}", findings
    unseen = "" if forked else "; forked processes were not examined here"
    smallest = min(test.pvalue for test in tests)
    return Verdict.PASS, f"no sign of reused or shared noise (smallest p of {len(tests)}: {smallest:.2g}){unseen}", ()


def _examine(
    calls: list[Outputs], workers: list[Outputs], significance: float, rng: np.random.Generator
) -> tuple[Finding, ...]:
    """All tests; raises `_Undecided` when the outputs are too alike, or too few permutations are affordable."""
    permutations = max(_FEWEST_PERMUTATIONS, math.ceil(4 * len(TEXTS) / significance))
    if (permutations := min(permutations, _MOST_PERMUTATIONS)) + 1 < len(TEXTS) / significance:
        raise _Undecided(f"a significance of {significance:g} is beyond what {permutations} permutations can reach")
    sequence = CallSequence.of(concatenate(calls), rng)
    found = _permuted(sequence.statistics, len(sequence.ranks), permutations, rng)
    if found[0].expected_at_most >= sequence.fixed_seed():
        raise _Undecided("its outputs are so much alike that reused noise would not show")
    tests = [Finding(kind, *part.numbers) for kind, part in zip(TEXTS, found, strict=False)]
    if workers:
        parts = [codes.reshape(WORKERS, -1) for codes in _codes(concatenate(workers))]

        def agreement(order: np.ndarray) -> np.ndarray:
            return np.array(
                [sum(np.sum((first >= 0) & (first == second[order])) for first, second in parts)], dtype=float
            )

        forked = _permuted(agreement, len(workers[0]), permutations, rng)[0]
        tests.append(Finding("same noise in forked workers", *forked.numbers))
    return tuple(tests)


@dataclass(frozen=True)
class _Permuted:
    """A statistic and its permutation law."""

    numbers: tuple[float, float, float]
    expected_at_most: float


def _permuted(
    statistics: Callable[[np.ndarray], np.ndarray], size: int, permutations: int, rng: np.random.Generator
) -> list[_Permuted]:
    """Exact p-values (1 + permutations at least as large) / (1 + permutations), for several statistics at once."""
    observed = statistics(np.arange(size))
    drawn = np.array([statistics(rng.permutation(size)) for _ in range(permutations)])
    pvalues = (1 + np.sum(drawn >= observed, axis=0)) / (1 + permutations)
    means, most = drawn.mean(axis=0), drawn.max(axis=0)
    return [
        _Permuted((float(p), float(o), float(m)), float(top))
        for p, o, m, top in zip(pvalues, observed, means, most, strict=True)
    ]


@dataclass(frozen=True)
class CallSequence:
    """The outputs of all calls in the order of time.

    Parameters
    ----------
    codes : list of int arrays, shape (CALLS * m,) each
        Equal outputs have equal codes, -1 for an output that occurs once; one array a coordinate.
    hashed : list of float arrays
        A random number for each code, centred; 0 for an output that occurs once.
    ranks : float array
        Centred ranks of the outputs, of the sums of vectors, of the codes of symbols.
    """

    codes: list[np.ndarray]
    hashed: list[np.ndarray]
    ranks: np.ndarray

    @classmethod
    def of(cls, outputs: Outputs, rng: np.random.Generator) -> CallSequence:
        """Code, hash and rank."""
        codes = _codes(outputs)
        hashed = [np.where(part < 0, 0.0, rng.standard_normal(part.max() + 2)[part]) for part in codes]
        numbers = outputs.numbers if outputs.is_scalar else outputs.numbers.sum(axis=1)
        ranks = _codes_of(np.where(np.isfinite(numbers), numbers, _codes_of(atom_keys(outputs)))).astype(float)
        return cls(codes, [part - part.mean() for part in hashed], ranks - ranks.mean())

    def statistics(self, order: np.ndarray) -> np.ndarray:
        """The first five statistics of `TEXTS`, after reordering."""
        place, size = np.arange(len(order)), len(order) // CALLS
        repeats = np.sum([_autocorrelation(part[order]) for part in self.hashed if part.any()] or [0 * place], axis=0)
        serial = _autocorrelation(self.ranks[order])[1 : _LONGEST_LAG + 1]
        means = self.ranks[order].reshape(CALLS, size).mean(axis=1)
        same_place = sum(equal_pairs(place % size, part[order]) for part in self.codes)
        same_call = sum(equal_pairs(place // size, part[order]) for part in self.codes)
        longest = repeats[1 : len(order) // 2].max()
        return np.array([same_place, same_call, longest, np.abs(serial).max(), np.sqrt(np.mean(means**2))])

    def fixed_seed(self) -> float:
        """The first statistic, had every call given the outputs of the first."""
        size = len(self.ranks) // CALLS
        place = np.tile(np.arange(size), CALLS)
        return sum(equal_pairs(place, np.tile(_codes_of(part[:size]), CALLS)) for part in self.codes)


def equal_pairs(groups: np.ndarray, codes: np.ndarray) -> float:
    """Number of pairs of equal codes in the same group; negative codes equal nothing."""
    seen = codes >= 0
    if not seen.any():
        return 0.0
    counts = np.bincount(groups[seen] * (int(codes.max()) + 1) + codes[seen])
    return float(np.sum(counts * (counts - 1)) / 2)


def _autocorrelation(values: np.ndarray) -> np.ndarray:
    """Sum of x_t x_(t + lag) over t, relative to lag 0, for every lag; by the fast Fourier transform."""
    spectrum = np.fft.rfft(values, 2 * len(values))
    sums = np.fft.irfft(np.abs(spectrum) ** 2)[: len(values)]
    return np.asarray(sums / sums[0] if sums[0] > 0 else np.zeros(len(values)))


def _codes(outputs: Outputs) -> list[np.ndarray]:
    """Codes of the coordinates when all outputs are vectors, else of the outputs as they are."""
    whole = _repeated(atom_keys(outputs))
    if outputs.is_scalar or outputs.symbolic.any():
        return [whole]
    parts = [_repeated(column) for column in outputs.numbers.T[:_MOST_COORDINATES]]
    return parts if len(parts) == outputs.numbers.shape[1] else [*parts, whole]


def _repeated(values: np.ndarray) -> np.ndarray:
    """Codes of the values that occur more than once; -1 for the others."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    codes = codes.reshape(-1)
    renumbered = np.where(counts > 1, np.cumsum(counts > 1) - 1, -1)
    return np.asarray(renumbered[codes])


def _codes_of(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.unique(values, return_inverse=True)[1]).reshape(-1)


def _draw(subject: Subject, dataset: Any, size: int, stream: Stream) -> Outputs:
    outputs, odd = subject.draw(Block(dataset, size, stream.seed()))
    for kind in ("raised", "nan"):
        if odd[kind] == size:
            raise SubjectFailed(kind, "raised in every run" if kind == "raised" else "returned nothing but NaN")
    return outputs


def _forked(subject: Subject, dataset: Any, size: int, stream: Stream) -> list[Outputs]:
    """Outputs of two processes forked from this one at the same moment; none where processes cannot be forked."""
    if "fork" not in multiprocessing.get_all_start_methods():
        return []
    context = multiprocessing.get_context("fork")
    pipes = [context.Pipe(duplex=False) for _ in range(WORKERS)]
    seeds = [stream.child(worker) for worker in range(WORKERS)]
    jobs = [
        context.Process(target=_work, args=(pipe[1], subject, dataset, size, seed), daemon=True)
        for pipe, seed in zip(pipes, seeds, strict=True)
    ]
    for job in jobs:
        job.start()
    try:
        return [_received(pipe[0]) for pipe in pipes]
    finally:
        for job in jobs:
            job.kill()
            job.join()


def _received(pipe: Connection) -> Outputs:
    if not pipe.poll(_PATIENCE):
        raise _Undecided(f"a forked worker gave no outputs within {_PATIENCE:g} s")
    try:
        answer = pipe.recv()
    except EOFError:
        raise _Undecided("a forked worker died") from None
    if isinstance(answer, str):
        raise _Undecided(f"in a forked worker the mechanism {answer}")
    return Outputs(*answer)


def _work(pipe: Connection, subject: Subject, dataset: Any, size: int, stream: Stream) -> None:
    """Draw in a worker and send numbers and symbols, without the raw outputs."""
    try:
        outputs = _draw(subject, dataset, size, stream)
        pipe.send((outputs.numbers, outputs.numbers, outputs.symbols))
    except (SubjectFailed, BadLength) as failure:
        pipe.send(str(failure))
