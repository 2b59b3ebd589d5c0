"""Run comparisons: audit every implementation, sample each, play the games between their laws, and put it all together.

Half of the significance goes to the privacy checks, in equal shares, half to the statements that two laws differ.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from audit.base.defaults import DEFAULT_BUDGET, DEFAULT_SIGNIFICANCE
from audit.base.verdict import Verdict
from audit.checks.privacy.judge import is_dependent
from audit.faces.compare.comparison import Comparison, Implementation, require_comparisons
from audit.faces.compare.same_law import tell_apart
from audit.faces.compare.sample import MISSED, Sample, draw_sample, errors_of
from audit.report.certificate import Report
from audit.runs import suite
from audit.subjects import BadLength, Stream, SubjectFailed
from audit.subjects.workers.worker import Worker

SCHEMA_VERSION = "1.0"


@dataclass(frozen=True)
class Compared:
    """The outcome of a run of comparisons.

    Parameters
    ----------
    comparisons : sequence of Comparison
    report : Report
        Of the privacy checks of all implementations.
    samples : mapping
        (comparison, implementation), by name, to its `Sample`, or to the reason why there is none.
    law_significance : float
        Of each statement that two laws differ.
    """

    comparisons: Sequence[Comparison]
    report: Report
    samples: dict[tuple[str, str], Sample | str]
    law_significance: float

    @property
    def verdict(self) -> Verdict:
        """The worst standing of all privacy checks; errors, speed and laws have no verdict."""
        return self.report.verdict

    @cached_property
    def document(self) -> dict[str, Any]:
        """All that was found, as plain data; the evidence of the verdicts is in the report's certificate."""
        certificate = self.report.certificate
        document = {
            "kind": "dp-audit comparison",
            "schema_version": SCHEMA_VERSION,
            "verdict": self.verdict.value,
            "settings": {
                "significance": 2 * self.report.significance,
                "law_significance": self.law_significance,
                "interval_misses": MISSED,
                "seed": self.report.seed,
            },
            "comparisons": [self._comparison(comparison) for comparison in self.comparisons],
            "provenance": certificate["provenance"],
            "certificate_seal": certificate["seal"],
        }
        plain: dict[str, Any] = _plain(document)
        return plain

    def _comparison(self, comparison: Comparison) -> dict[str, Any]:
        rows = [self._row(comparison, one) for one in comparison.implementations]
        _relate(rows)
        return {
            "name": comparison.name,
            "claim": str(comparison.claim),
            "epsilon": comparison.claim.epsilon,
            "sample": comparison.sample,
            "implementations": rows,
            "laws": list(self._laws(comparison)),
        }

    def _row(self, comparison: Comparison, one: Implementation) -> dict[str, Any]:
        result = self.report[f"{comparison.name}/{one.name}"]
        sample = self.samples[comparison.name, one.name]
        errors = None
        if isinstance(sample, Sample) and self._unusable(comparison, one) is None:
            truth = comparison.truth(comparison.pairs[0][0])
            errors = errors_of(sample.outputs, truth, comparison.largest_error)
        return {
            "name": one.name,
            "note": one.note,
            "verdict": result.verdict.value,
            "expected": one.expected.value,
            "basis": result.judgement.basis,
            "reason": result.reason,
            "certified_epsilon": result.epsilon_lower_bound if _was_played(result) else None,
            "exact_epsilon": result.exact_epsilon,
            "wasted": _wasted(comparison.claim.epsilon, result.epsilon_lower_bound, result.exact_epsilon),
            "errors": None if errors is None else asdict(errors),
            "per_second": sample.per_second if isinstance(sample, Sample) else None,
            "sample_failed": sample if isinstance(sample, str) else None,
        }

    def _laws(self, comparison: Comparison) -> Iterator[dict[str, Any]]:
        """Hold each implementation against the first one of every law that was told from the others so far."""
        known: list[Implementation] = []
        for one in comparison.implementations:
            found: dict[str, Any] = {"name": one.name, "why_not": self._unusable(comparison, one), "tests": []}
            if found["why_not"] is None:
                for other in known:
                    test = self._tell_apart(comparison, other, one)
                    found["tests"].append({"from": other.name, **test})
                    if not test["differ"]:
                        break
                else:
                    known.append(one)
            yield found

    def _unusable(self, comparison: Comparison, one: Implementation) -> str | None:
        """Why nothing can be said about errors and law of an implementation, if that is so."""
        sample = self.samples[comparison.name, one.name]
        if isinstance(sample, str):
            return f"there is no sample: {sample}"
        if is_dependent(self.report[f"{comparison.name}/{one.name}"].evidence):
            return "its outputs are not independent"
        return None

    def _tell_apart(self, comparison: Comparison, first: Implementation, second: Implementation) -> dict[str, Any]:
        sides = [self.samples[comparison.name, one.name] for one in (first, second)]
        outputs = [side.outputs for side in sides if isinstance(side, Sample)]
        stream = _stream(self.report.seed, comparison, second, f"from {first.name}")
        found = tell_apart(outputs[0], outputs[1], self.law_significance, stream)
        return {"differ": False, "unreadable": True} if found is None else {"unreadable": False, **asdict(found)}


def compare(
    comparisons: Iterable[Comparison],
    *,
    significance: float = DEFAULT_SIGNIFICANCE,
    budget: int = DEFAULT_BUDGET,
    seed: int = 0,
    workers: int = 2,
    timeout: float = suite.DEFAULT_TIMEOUT,
    progress: suite.Progress | None = None,
    announce: suite.Announce | None = None,
    targets: Sequence[str] = (),
) -> Compared:
    """Compare implementations of the same claims.

    Parameters
    ----------
    comparisons : iterable of Comparison
        At least one; names are unique.
    significance : float in (0, 1)
        Probability that any true claim is judged FAIL or any two equal laws are called different.
    budget, seed, workers, timeout, progress, announce, targets
        As for `audit.run`. Samples are drawn one implementation after the other, in one process with nothing else of
        this run beside it, so that their speeds can be compared.

    Raises
    ------
    AuditError
        For arguments outside their admissible sets; before anything is drawn.
    """
    listed = require_comparisons(comparisons)
    report = suite.run(
        [check for comparison in listed for check in comparison.checks],
        significance=significance / 2,
        budget=budget,
        seed=seed,
        workers=workers,
        timeout=timeout,
        progress=progress,
        announce=announce,
        targets=targets,
    )
    pairs = sum(math.comb(len(comparison.implementations), 2) for comparison in listed)  # the most that are tested
    return Compared(listed, report, _samples(listed, seed, timeout), significance / 2 / pairs)


def _samples(comparisons: Sequence[Comparison], seed: int, timeout: float) -> dict[tuple[str, str], Sample | str]:
    """Every implementation's sample, or why there is none."""
    worker, found = Worker(), {}
    try:
        for comparison in comparisons:
            for one in comparison.implementations:
                stream = _stream(seed, comparison, one, "sample")
                data, size = comparison.pairs[0][0], comparison.sample
                try:
                    drawn = worker.call(_drawn, one.mechanism, data, size, stream, timeout=timeout)
                except Exception as error:  # it hung, died, or cannot be sent: the others go on
                    drawn = f"the implementation {error}"
                found[comparison.name, one.name] = drawn
    finally:
        worker.close()
    return found


def _plain(value: Any) -> Any:
    """What JSON holds: lists for tuples, and text for numbers that are not finite, as in a certificate."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _drawn(mechanism: Any, dataset: Any, size: int, stream: Stream) -> Sample | str:
    """In the worker: the sample, or what became of it."""
    try:
        return draw_sample(mechanism, dataset, size, stream)
    except (SubjectFailed, BadLength) as failure:
        return f"the implementation {failure}"


def _stream(seed: int, comparison: Comparison, one: Implementation, use: str) -> Stream:
    """Depends on the seed, the two names and the use only."""
    return Stream(seed, (zlib.crc32(f"{use}/{comparison.name}/{one.name}".encode()),))


def _was_played(result: Any) -> bool:
    """Whether a guess game looked at the outputs; an audit by method "exact" plays none."""
    return result.evidence.game is not None or result.evidence.sequential is not None


def _wasted(claimed: float, certified: float, exact: float | None) -> dict[str, Any] | None:
    """Claimed epsilon over what is needed: 1 is tight. From a certified lower bound it is an upper bound."""
    if exact:
        return {"factor": claimed / exact, "at_most": False}
    return {"factor": claimed / certified, "at_most": True} if certified > 0 else None


def _relate(rows: Sequence[dict[str, Any]]) -> None:
    """Add each mean error over the least one of those that are not refuted, since all claim the same epsilon."""
    kept = [row["errors"]["mean"] for row in rows if row["errors"] and row["verdict"] != Verdict.FAIL.value]
    best = min(kept, default=0.0)
    for row in rows:
        row["relative_error"] = row["errors"]["mean"] / best if row["errors"] and best > 0 else None
