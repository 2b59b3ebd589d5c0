"""Run comparisons: audit every implementation in one run, sample each, and put the findings side by side.

Half of the significance goes to the privacy checks, in equal shares. The other half goes to the statements that two
laws differ.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from audit.base.defaults import DEFAULT_BUDGET, DEFAULT_EXECUTOR, DEFAULT_SIGNIFICANCE, DEFAULT_TIMEOUT
from audit.base.verdict import Verdict
from audit.faces.compare.comparison import Comparison, Implementation, require_comparisons
from audit.faces.compare.comparison_table import TABLE_RENDERERS
from audit.faces.compare.sample_evidence import MISSED, Sample, draw_sample, errors_of, tell_apart
from audit.report.certificate import Report, write_whole
from audit.runs import suite
from audit.subjects import BadLength, Stream, SubjectFailed
from audit.subjects.pool import Place, open_pool

Row = dict[str, Any]


@dataclass(frozen=True)
class ComparisonReport:
    """The outcome of `compare`: the report of the privacy checks, and a sample of every implementation.

    Parameters
    ----------
    comparisons : sequence of Comparison
    report : Report
        Of the privacy checks of all implementations.
    samples : mapping of str to Sample or str
        By the name of the check: the sample, or the reason why there is none.
    law_significance : float in (0, 1)
        Significance of each statement that two laws differ.
    """

    comparisons: Sequence[Comparison]
    report: Report
    samples: Mapping[str, Sample | str]
    law_significance: float

    @property
    def verdict(self) -> Verdict:
        """Verdict of the run of the privacy checks; errors, speeds and laws have none."""
        return self.report.verdict

    @cached_property
    def table(self) -> dict[str, Any]:
        """Everything that the tables show, as plain data; the evidence of the verdicts is in the certificate."""
        certificate = self.report.certificate
        checks = {check["name"]: check for check in certificate["checks"]}
        table = {
            "verdict": certificate["verdict"],
            "settings": {
                "significance": 2 * self.report.significance,
                "law_significance": self.law_significance,
                "interval_misses": MISSED,
                "seed": self.report.seed,
            },
            "comparisons": [self._comparison(comparison, checks) for comparison in self.comparisons],
            "provenance": certificate["provenance"],
            "certificate_seal": certificate["seal"],
        }
        plain: dict[str, Any] = json.loads(json.dumps(table, allow_nan=False))
        return plain

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Write the certificate and `comparison.json`, `.md` and `.html`; return the path of `comparison.json`."""
        self.report.save(directory)
        path = Path(directory) / "comparison.json"
        write_whole(path, json.dumps(self.table, indent=1, allow_nan=False) + "\n")
        for suffix, render in TABLE_RENDERERS.items():
            write_whole(path.with_suffix(suffix), render(self.table))
        return path

    def _comparison(self, comparison: Comparison, checks: Mapping[str, Any]) -> Row:
        rows = [self._row(comparison, one, checks[comparison.check_name(one)]) for one in comparison.implementations]
        not_refuted = [row["errors"]["mean"] for row in rows if row["errors"] and row["verdict"] != Verdict.FAIL.value]
        best = min(not_refuted, default=0.0)
        for row in rows:
            row["relative_error"] = row["errors"]["mean"] / best if row["errors"] and best > 0 else None
        return {
            "name": comparison.name,
            "claim": str(comparison.claim),
            "epsilon": comparison.claim.epsilon,
            "sample": comparison.sample,
            "implementations": rows,
            "laws": list(self._laws(comparison)),
        }

    def _row(self, comparison: Comparison, one: Implementation, check: Mapping[str, Any]) -> Row:
        sample, evidence = self.samples[check["name"]], check["evidence"]
        errors = None
        if isinstance(sample, Sample) and self._unusable(comparison, one) is None:
            errors = errors_of(sample.outputs, comparison.answer, comparison.largest_error)
        certified, exact = check["epsilon_lower_bound"], check["exact_epsilon"]
        return {
            "name": one.name,
            "note": one.note,
            **{key: check[key] for key in ("verdict", "expected", "basis", "reason", "exact_epsilon")},
            "certified_epsilon": certified if evidence["game"] or evidence["sequential"] else None,
            "wasted": _wasted(comparison.claim.epsilon, certified, exact if exact is None else float(exact)),
            "errors": None if errors is None else asdict(errors),
            "per_second": sample.per_second if isinstance(sample, Sample) else None,
            "sample_failed": sample if isinstance(sample, str) else None,
        }

    def _laws(self, comparison: Comparison) -> Iterator[Row]:
        """Test each implementation against the first one of every law found so far."""
        known: list[Implementation] = []
        for one in comparison.implementations:
            found: Row = {"name": one.name, "why_not": self._unusable(comparison, one), "tests": []}
            if found["why_not"] is None:
                for other in known:
                    test = self._law_test(comparison, other, one)
                    found["tests"].append({"from": other.name, **test})
                    if not test["differ"]:
                        break
                else:
                    known.append(one)
            yield found

    def _unusable(self, comparison: Comparison, one: Implementation) -> str | None:
        """Return why nothing can be said about errors and law of an implementation; None when something can."""
        name = comparison.check_name(one)
        sample = self.samples[name]
        if isinstance(sample, str):
            return f"there is no sample: {sample}"
        return "its outputs are not independent" if self.report[name].evidence.is_dependent else None

    def _law_test(self, comparison: Comparison, first: Implementation, second: Implementation) -> Row:
        both = [self.samples[comparison.check_name(one)] for one in (first, second)]
        outputs = [sample.outputs for sample in both if isinstance(sample, Sample)]
        stream = _stream(self.report.seed, comparison, second, f"from {first.name}")
        found = tell_apart(outputs[0], outputs[1], self.law_significance, stream)
        return {"differ": False, "unreadable": True} if found is None else {"unreadable": False, **asdict(found)}


def compare(
    comparisons: Iterable[Comparison],
    *,
    significance: float = DEFAULT_SIGNIFICANCE,
    budget: int = DEFAULT_BUDGET,
    seed: int = 0,
    workers: int | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    executor: str = DEFAULT_EXECUTOR,
    progress: suite.Progress | None = None,
    announce: suite.Announce | None = None,
    targets: Sequence[str] = (),
) -> ComparisonReport:
    """Run the checks of the comparisons, then sample every implementation.

    Samples are drawn one implementation after the other, in one process with nothing else of this run beside it, to
    make their speeds comparable.

    Parameters
    ----------
    comparisons : iterable of Comparison
        At least one, with unique names.
    significance : float in (0, 1)
        Probability that any true claim is judged FAIL or any two equal laws are called different.
    budget, seed, workers, timeout, executor, progress, announce, targets
        As for `audit.run`.

    Raises
    ------
    AuditError
        If an argument lies outside its admissible set; before anything is drawn.
    """
    listed = require_comparisons(comparisons)
    report = suite.run(
        [check for comparison in listed for check in comparison.checks],
        significance=significance / 2,
        budget=budget,
        seed=seed,
        workers=workers,
        timeout=timeout,
        executor=executor,
        progress=progress,
        announce=announce,
        targets=targets,
    )
    pairs = sum(math.comb(len(comparison.implementations), 2) for comparison in listed)  # the most that are tested
    return ComparisonReport(listed, report, _samples(listed, seed, timeout), significance / 2 / pairs)


def _samples(comparisons: Sequence[Comparison], seed: int, timeout: float) -> dict[str, Sample | str]:
    """Return the sample of every implementation, or why there is none."""
    found = {}
    with open_pool(Place(workers=1)) as pool:
        for comparison in comparisons:
            for one in comparison.implementations:
                stream = _stream(seed, comparison, one, "sample")
                work = one.mechanism, comparison.pairs[0][0], comparison.sample, stream
                try:
                    drawn = pool.call(_drawn, *work, timeout=timeout)
                except Exception as error:  # it hung, died, or cannot be sent: the others go on
                    drawn = f"the implementation {error}"
                found[comparison.check_name(one)] = drawn
    return found


def _drawn(mechanism: Any, dataset: Any, size: int, stream: Stream) -> Sample | str:
    """Return, in the worker, the sample or what became of it."""
    try:
        return draw_sample(mechanism, dataset, size, stream)
    except (SubjectFailed, BadLength) as failure:
        return f"the implementation {failure}"


def _stream(seed: int, comparison: Comparison, one: Implementation, use: str) -> Stream:
    """Return a stream that depends on the seed, the two names and the use only."""
    return Stream(seed, (zlib.crc32(f"{use}/{comparison.check_name(one)}".encode()),))


def _wasted(claimed: float, certified: float, exact: float | None) -> Row | None:
    """Return claimed epsilon over what is needed: 1 is tight. From a certified lower bound it is an upper bound."""
    if exact:
        return {"factor": claimed / exact, "at_most": False}
    return {"factor": claimed / certified, "at_most": True} if certified > 0 else None
