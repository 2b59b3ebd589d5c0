"""Hold the results of a run in memory, make its certificate of them, and save it with its renderings."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from audit.certificate.document import (
    JSON_NAME,
    SCHEMA_VERSION,
    chain_checks,
    compute_seal,
    describe_run,
    list_extensions,
    list_spending,
    make_plan,
    summarize,
    write_text,
    write_whole,
)
from audit.certificate.summary import count_subjects
from audit.validate import Budget
from audit.verdict import AnyResult, Verdict, note_read, standing, worst


@dataclass(frozen=True, repr=False, eq=False)
class Report(AnyResult):
    """The results of a run, as `audit.run` returns them.

    `report[name]` is the result of the check of that name. `str(report)` is the table that the command line prints; a
    notebook shows the overview of the certificate.

    Parameters
    ----------
    results : sequence of results, of one kind or several
        In the order of the checks.
    significance : float in (0, 1)
        Probability that any true claim of the run is suspected, and tested again on fresh outputs.
    budget : int >= 2 or name
        Outputs per dataset, or losses and trials in all, of each check that stated no budget of its own.
    seed : int >= 0
        Seed of the run.
    targets : sequence of str
        The modules of the checks, if they were named.
    confirmation : float in (0, 1), optional
        Probability that any true claim of the run is judged FAIL; None where it is the significance.

    Examples
    --------
    >>> import numpy as np
    >>> import audit
    >>> def noisy_sum(data, size, rng):
    ...     return data.sum() + rng.laplace(size=size)
    >>> check = audit.PrivacyCheck(
    ...     name="noisy sum",
    ...     mechanism=noisy_sum,
    ...     claim=audit.PrivacyClaim(epsilon=0.5),
    ...     pairs=[(np.zeros(3), np.array([1.0, 0.0, 0.0]))],
    ... )
    >>> report = audit.run([check], budget=20_000, seed=0, workers=0)
    >>> report.verdict
    <Verdict.FAIL: 'FAIL'>
    >>> report["noisy sum"].epsilon_lower_bound > 0.5
    True
    >>> report
    Report(FAIL: 0 of 1 checks as expected)
    >>> report.certificate["counts"]
    {'PASS': 0, 'INCONCLUSIVE': 0, 'FAIL': 1}
    """

    results: Sequence[Any]
    significance: float
    budget: Budget
    seed: int
    targets: Sequence[str] = field(default=())
    confirmation: float | None = None

    @property
    def verdict(self) -> Verdict:
        """The worst standing of all checks: an expected FAIL counts as met; no checks are INCONCLUSIVE."""
        return worst(standing(result.verdict, result.check.expected) for result in self.results)

    def __getitem__(self, name: str) -> Any:
        """Return the result of the check of that name."""
        note_read(self)
        for result in self.results:
            if result.name == name:
                return result
        raise KeyError(name)

    def __repr__(self) -> str:
        met = sum(result.met for result in self.results)
        return f"Report({self.verdict}: {met} of {len(self.results)} checks as expected)"

    def __str__(self) -> str:
        from audit.certificate.terminal import certificate_text

        return certificate_text(self.certificate)

    def _repr_html_(self) -> str:
        from audit.certificate.render import report_fragment

        return report_fragment(self.certificate)

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """The certificate as plain data; equal for equal seeds but for times, places, printed text, and `seal`."""
        records = [result.record() for result in self.results]
        settings = {
            "significance": self.significance,
            "confirmation": self.confirmation,
            "budget": self.budget,
            "seed": self.seed,
        }
        budgets = [getattr(result.check, "budget", result.budget) for result in self.results]
        evidence = [result.evidence for result in self.results]
        plan = make_plan(self.significance, records, evidence, budgets)
        document = {
            "schema_version": SCHEMA_VERSION,
            "kind": "dp-audit certificate",
            **summarize(records),
            "audited": count_subjects(records, self.targets),
            "settings": settings,
            "plan": plan,
            "significance_spent": [list_spending(*each) for each in zip(records, evidence, strict=True)],
            "extensions": list_extensions(records),
            "checks": records,
            "timing": {result.name: round(result.seconds, 3) for result in self.results},
            "isolation": {result.name: result.isolation for result in self.results},
            "sources": {result.name: result.audited_source for result in self.results},
            "printed": {result.name: result.printed for result in self.results if result.printed},
            "provenance": describe_run(),
            "chain": chain_checks(settings, records, plan),
        }
        document = json.loads(json.dumps(document, allow_nan=False))  # tuples become lists, as whoever reads it sees it
        return {**document, "seal": compute_seal(document)}

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Write `certificate.json` and its renderings; no half-written file ever has its final name.

        Parameters
        ----------
        directory : str or path
            Folder of the certificate, created if it is missing.

        Returns
        -------
        Path
            Path of `certificate.json`, which is written first: `dp-audit report` makes the renderings from it.

        Raises
        ------
        AuditError
            If the folder cannot be written; it is an OSError as well.
        """
        from audit.certificate.render import write_renderings

        folder = Path(directory)
        write_whole(folder / JSON_NAME, write_text(self.certificate))
        write_renderings(self.certificate, folder)
        return folder / JSON_NAME
