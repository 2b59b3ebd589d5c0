"""Check that outputs are independent, as every other verdict needs: a FAIL says nothing about epsilon."""

import os
import pickle
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from audit import Result, SubjectFailed, Verdict
from audit.api import (
    UNNAMED,
    Allowance,
    Evidence,
    Interval,
    Judgment,
    Outputs,
    StatedCheck,
    Stream,
    Subject,
    concatenate,
    defaults,
    document_from,
    errors,
    independence,
    leave_open,
    require_mechanism,
    run_alone,
    sandbox,
    show,
    validate,
)
from audit.extensions.randomness.comparisons import IN_WORKERS, KINDS, OF_GROUPS, compare_all, describe_comparison

DEFAULT_RANDOMNESS_BUDGET = 4_096
_CALLS = 96  # short calls: 48 pairs, with which comparisons of whole calls reach a p-value of 2^-48
_FEWEST, _MOST = 1_024, 8_192  # outputs that a verdict needs; that are drawn at most
_WORKERS = 2  # processes that are forked at the same moment
_LONG_SHARE, _WORKER_SHARE = 4, 16  # the long call, and each worker, draw this part of the budget
_PATIENCE = 60.0  # seconds that a worker may take
_DRAWING, _COMPARING = 0, 1  # children of the stream
_SHORT, _LONG, _WORKER = 0, 1, 2  # children of the stream for drawing


@dataclass(frozen=True)
class RandomnessEvidence(Evidence):
    comparisons: tuple[independence.SwapComparison, ...] = ()  # at most one of each kind
    workers: int = 0  # worker processes that drew outputs; 0 where processes cannot be forked

    @property
    def spends(self) -> tuple[str, ...]:
        return ("randomness",) if self.comparisons else ()


@dataclass(frozen=True, kw_only=True)
class RandomnessCheck(StatedCheck):
    """The claim that outputs on one dataset are independent draws from one law, over all calls and processes.

    Looks for a fixed seed (the same outputs in every call), a stream reused between calls, repeats within a call, noise
    shared by one call, a short period over the calls or within one, serial correlation, and forked processes that
    share their noise. A law with few values is not a fault: swapping cancels the collisions that it causes.

    Parameters
    ----------
    mechanism : callable
        `(dataset, size, rng) -> array-like`; every call gets a generator with a seed of its own.
    dataset : object
        The dataset on which it runs.
    budget : int >= 2, optional
        Outputs; a verdict needs at least 1,024, and at most 8,192 are drawn. None takes the run's budget.
    name, source, statement, expected, timeout
        As for `audit.InequalityCheck`.

    Raises
    ------
    InvalidArgument
        For a parameter outside its admissible set.

    References
    ----------
    Lehmann and Romano (2005), Testing statistical hypotheses, section 15.2 (tests by randomization).

    Examples
    --------
    >>> import numpy as np
    >>> from audit import RandomnessCheck, run
    >>> def reseeded(data, size, rng):
    ...     return np.random.default_rng(1).laplace(size=size)
    >>> check = RandomnessCheck(name="reseeded", mechanism=reseeded, dataset=np.zeros(3))
    >>> print(run([check], budget=2_000, workers=0).verdict)
    FAIL
    """

    mechanism: Any
    dataset: Any

    kind: ClassVar[str] = "randomness"
    noun: ClassVar[str] = "the mechanism"
    unit: ClassVar[str] = "outputs"
    callables: ClassVar = {"mechanism": "(dataset, size, rng)"}
    evidence_type: ClassVar[type[Evidence]] = RandomnessEvidence
    input_names: ClassVar[tuple[str, ...]] = ("dataset",)

    def _validate(self) -> None:
        require_mechanism(self.mechanism)

    @property
    def uses(self) -> str:
        return "outputs"

    @property
    def summary(self) -> str:
        return "independent outputs, over calls and processes"

    def gather(self, allowance: Allowance) -> RandomnessEvidence:
        """Draw outputs and compare them; the outputs of the calls are judged even if a worker process fails."""
        drawn, failure = _draw_all(self.mechanism, self.dataset, allowance.budget, allowance.stream.child(_DRAWING))
        ends, workers = np.cumsum([0, *map(len, drawn)]), len(drawn[_CALLS + 1 :])
        if len(drawn) <= _CALLS:
            return RandomnessEvidence(int(ends[-1]), failure=failure)
        values, (start, end) = independence.Values.of(concatenate(drawn)), ends[_CALLS : _CALLS + 2]
        parts = values[:start], values[start:end], values[end:] if workers else None
        found = compare_all(*parts, _CALLS, allowance.stream.child(_COMPARING).rng())
        return RandomnessEvidence(int(ends[-1]), found, workers, failure=failure)

    @classmethod
    def judge(cls, terms: Any, evidence: RandomnessEvidence, significance: float) -> Judgment:
        """Return the judgment; independent draws from one law FAIL with probability <= significance."""
        kinds = [part.kind for part in evidence.comparisons]
        if unknown := set(kinds) - set(KINDS):
            raise errors.InvalidCertificate(f"comparisons of kinds {sorted(unknown)} are not known")
        if len(set(kinds)) < len(kinds):
            raise errors.InvalidCertificate("a kind of comparison occurs twice")
        for part in evidence.comparisons:
            if min(part.won, part.lost, part.tied, part.able) < 0 or part.able > part.won + part.lost + part.tied:
                raise errors.InvalidCertificate(f"the counts of {part.kind!r} contradict each other")
            if part.kind in OF_GROUPS and part.won + part.lost + part.tied != _CALLS // 2:
                raise errors.InvalidCertificate(f"{part.kind!r} does not compare {_CALLS // 2} pairs of calls")
        if IN_WORKERS in kinds and not evidence.workers:
            raise errors.InvalidCertificate("its comparisons and its number of worker processes contradict each other")
        share = significance / len(KINDS)  # of each comparison
        rejected = (part for part in evidence.comparisons if part.pvalue <= share)
        findings = tuple(sorted(rejected, key=lambda part: part.pvalue))
        if findings:
            more = f"; also {', '.join(found.kind for found in findings[1:])}" if len(findings) > 1 else ""
            said = f"the outputs are not independent: {describe_comparison(findings[0])}{more}"
            reason = f"{said} (error probability {significance:.2g})"
            pvalues = (Interval(f"p-value, {part.kind}", part.pvalue, part.pvalue) for part in findings)
            return Judgment(Verdict.FAIL, "outputs", reason, found=tuple(pvalues))
        if why_open := _find_obstacle(evidence, share):
            return leave_open(why_open)
        smallest = min(part.pvalue for part in evidence.comparisons)
        unseen = "" if evidence.workers else "; worker processes were not examined: nothing can be forked here"
        reason = f"no sign of reused or shared noise (smallest p of {len(evidence.comparisons)}: {smallest:.2g})"
        return Judgment(Verdict.PASS, "outputs", reason + unseen)

    decide = judge

    def recorded_inputs(self) -> dict[str, Any]:
        return {"dataset": show(self.dataset)}


def _find_obstacle(evidence: RandomnessEvidence, share: float) -> str | None:
    """Return the obstacle to a PASS, or None: every comparison must have been able to find noise reused throughout."""
    if evidence.failure is not None:
        return evidence.failure
    due = [kind for kind in KINDS if kind != IN_WORKERS or evidence.workers]
    if missing := [kind for kind in due if kind not in {part.kind for part in evidence.comparisons}]:
        return f"not examined: {', '.join(missing)}"
    blind = [part for part in evidence.comparisons if 0.5**part.able > share]  # the p-value if each Q repeated its P
    if not blind:
        return None
    worst = min(blind, key=lambda part: part.able)
    able = f"{worst.kind}: {worst.able} comparisons could tell, at a share of {share:.2g} of the significance"
    return f"its outputs are so much alike, or so few, that reused noise would not show ({able})"


def _draw_all(mechanism: Any, dataset: Any, budget: int, stream: Stream) -> tuple[list[Outputs], str | None]:
    """Return the outputs of short calls, a long call and forked workers, until something failed, and the failure."""
    if budget < _FEWEST:
        return [], f"{budget} outputs say nothing: raise the budget to {_FEWEST} at least"
    budget, subject = min(budget, _MOST), Subject(mechanism)
    long, worker = 2 * (budget // (2 * _LONG_SHARE)), 2 * (budget // (2 * _WORKER_SHARE))
    call = 2 * ((budget - long - _WORKERS * worker) // (2 * _CALLS))
    drawn: list[Outputs] = []
    try:
        for index in range(_CALLS):
            drawn += [_draw(subject, dataset, call, stream.child(_SHORT, index))]  # kept if a later call fails
        drawn.append(_draw(subject, dataset, long, stream.child(_LONG)))
    except (SubjectFailed, errors.BadLength) as failed:
        return drawn, f"the mechanism {failed}"
    if not hasattr(os, "fork"):
        return drawn, None
    streams = [stream.child(_WORKER, index) for index in range(_WORKERS)]
    forked, failure = _draw_in_forks(subject, dataset, worker, streams)
    return drawn + forked, failure


def _draw(subject: Subject, dataset: Any, size: int, stream: Stream) -> Outputs:
    outputs, odd = subject.draw(dataset, size, stream.seed())
    for kind in ("raised", "nan"):
        if odd[kind] == size:
            raise SubjectFailed(kind, "raised in every run" if kind == "raised" else "returned nothing but NaN")
    return outputs


def _draw_in_forks(
    subject: Subject, dataset: Any, size: int, streams: list[Stream]
) -> tuple[list[Outputs], str | None]:
    """Return the outputs of forked processes, or what failed; a generator that the mechanism keeps is copied to all."""
    workers = [sandbox.fork(partial(_work, subject, dataset, size, stream)) for stream in streams]
    until, found = time.monotonic() + _PATIENCE, []
    try:
        for worker in workers:
            answer = pickle.loads(worker.line.receive(until - time.monotonic()))
            if isinstance(answer, str):
                return [], f"in a worker process the mechanism {answer}"
            found.append(answer)
        return found, None
    except TimeoutError:
        return [], f"a worker process gave no outputs within {_PATIENCE:g} s"
    except EOFError:
        return [], "a worker process died"
    finally:
        for worker in workers:
            worker.kill()


def _work(subject: Subject, dataset: Any, size: int, stream: Stream, line: sandbox.ProcessLine) -> None:
    """Draw in a worker and send numbers and symbols, without the raw outputs."""
    try:
        outputs = _draw(subject, dataset, size, stream)
        line.send(pickle.dumps(replace(outputs, raw=outputs.numbers)))
    except (SubjectFailed, errors.BadLength) as failure:
        line.send(pickle.dumps(str(failure)))


@document_from(RandomnessCheck)
def check_randomness(
    mechanism: Any,
    dataset: Any,
    *,
    source: str = "", statement: str = "", expected: Verdict = Verdict.PASS, name: str | None = None,
    budget: validate.Budget = DEFAULT_RANDOMNESS_BUDGET, significance: float = defaults.DEFAULT_SIGNIFICANCE,
    confirmation: float | None = defaults.DEFAULT_CONFIRMATION, seed: int = 0, timeout: float | None = None,
) -> Result:  # fmt: skip
    """Test whether the outputs of a mechanism on one dataset are independent.

    Examples
    --------
    >>> from audit import check_randomness
    >>> result = check_randomness(lambda data, size, rng: data + rng.laplace(size=size), 0.0, budget=1_024)
    >>> print(result.verdict)
    PASS
    """
    return run_alone(
        RandomnessCheck(
            name=name or UNNAMED, mechanism=mechanism, dataset=dataset, source=source, statement=statement,
            expected=expected, timeout=timeout,
        ),
        budget=budget, significance=significance, confirmation=confirmation, seed=seed,
    )  # fmt: skip
