"""The certificate: all that a run found, as one JSON document, and the `Report` that holds it in memory."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from audit.base.errors import InvalidCertificate
from audit.base.verdict import Verdict, standing, worst
from audit.report.chain import chain_of, seal_of
from audit.report.files import write_whole
from audit.report.provenance import calibration_summary, provenance
from audit.report.renderers import report_fragment, write_renderings
from audit.report.terminal import certificate_text
from audit.report.wording import PRIVACY_KINDS, inventory

SCHEMA_VERSION = "1.1"
READABLE_VERSIONS = ("1.0", SCHEMA_VERSION)
JSON_NAME = "certificate.json"


@dataclass(frozen=True, repr=False)
class Report:
    """The results of a run, as `audit.run` returns them.

    `report[name]` is the result of the check of that name. `str(report)` is the table that the command line prints; a
    notebook shows the overview of the certificate.

    Parameters
    ----------
    results : sequence of results, of one kind or several
        In the order of the checks.
    significance : float in (0, 1)
        Probability that any true claim of the run is judged FAIL.
    budget : int >= 2
        Outputs per dataset, or losses and trials in all, of each check that stated no budget of its own.
    seed : int >= 0
        Seed of the run.
    command : sequence of str
        What started the run; the command line of this process unless given.
    targets : sequence of str
        The modules of the checks, if they were named.
    plan : str or None
        Digest of what was to be run, by which a finished run is recognized.

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
    budget: int
    seed: int
    command: Sequence[str] = field(default=())
    targets: Sequence[str] = field(default=())
    plan: str | None = None

    @property
    def verdict(self) -> Verdict:
        """The worst standing of all checks: an expected FAIL that came counts as met; empty is INCONCLUSIVE."""
        return worst(standing(result.verdict, result.check.expected) for result in self.results)

    def __getitem__(self, name: str) -> Any:
        """Return the result of the check of that name."""
        for result in self.results:
            if result.name == name:
                return result
        raise KeyError(name)

    def __repr__(self) -> str:
        """Return the verdict and the number of checks in one line."""
        met = sum(result.met for result in self.results)
        return f"Report({self.verdict}: {met} of {len(self.results)} checks as expected)"

    def __str__(self) -> str:
        """Return the table of the checks, the reasons of unexpected verdicts, and the verdict of the run."""
        return certificate_text(self.certificate)

    def _repr_html_(self) -> str:
        """Return the overview of the certificate for a notebook."""
        return report_fragment(self.certificate)

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """The certificate as plain data; equal for equal seeds but for `timing`, `provenance` and `seal`."""
        records = [result.record() for result in self.results]
        settings = {"significance": self.significance, "budget": self.budget, "seed": self.seed}
        document = {
            "schema_version": SCHEMA_VERSION,
            "kind": "dp-audit certificate",
            **summary_of(records),
            "audited": inventory(records, self.targets),
            "settings": settings,
            "significance_spent": [spending(record) for record in records],
            "checks": records,
            "timing": {result.name: round(result.seconds, 3) for result in self.results},
            "calibration": calibration_summary(),
            "provenance": provenance(self.command, self.plan),
            "chain": chain_of(settings, records),
        }
        document = json.loads(json.dumps(document, allow_nan=False))  # tuples become lists, as whoever reads it sees it
        return {**document, "seal": seal_of(document)}

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
        OSError
            If the folder cannot be written.
        """
        folder = Path(directory)
        write_whole(folder / JSON_NAME, json.dumps(self.certificate, indent=1, allow_nan=False) + "\n")
        write_renderings(self.certificate, folder)
        return folder / JSON_NAME


def summary_of(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Verdict of the run, and how many checks came out how."""
    verdicts = [Verdict(record["verdict"]) for record in records]
    expected = [Verdict(record["expected"]) for record in records]
    counts = Counter(verdict.value for verdict in verdicts)
    stands = [standing(v, e) for v, e in zip(verdicts, expected, strict=True)]
    return {
        "verdict": worst(stands).value,
        "counts": {verdict.value: counts[verdict.value] for verdict in Verdict},
        "as_expected": sum(v is e for v, e in zip(verdicts, expected, strict=True)),
    }


def load_certificate(directory: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a certificate from a folder or a JSON file; nothing in it is imported or run.

    Raises
    ------
    InvalidCertificate
        When there is none, or it is not JSON of a known schema version.
    """
    path = certificate_path(directory)
    try:
        data = json.loads(path.read_text(encoding="utf-8"), parse_float=_finite, parse_constant=_finite)
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidCertificate(f"{path} cannot be read as a certificate: {error}") from error
    known = isinstance(data, dict) and data.get("schema_version") in READABLE_VERSIONS
    if not known or not isinstance(data.get("checks"), list) or not data["checks"]:
        versions = " or ".join(READABLE_VERSIONS)
        raise InvalidCertificate(f"{path} is not a certificate of schema version {versions} with checks in it")
    return data


def certificate_path(directory: str | os.PathLike[str]) -> Path:
    """Where the certificate of a folder is; a path that is no folder is the certificate itself."""
    path = Path(directory)
    return path / JSON_NAME if path.is_dir() else path


def _finite(text: str) -> float:
    """A number as JSON has them: infinities and NaN are told in words."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no number of JSON")
    return number


def schema() -> dict[str, Any]:
    """The JSON Schema that every certificate satisfies."""
    text = resources.files("audit.report").joinpath("schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def spending(record: Mapping[str, Any]) -> dict[str, Any]:
    """Which part of the run's significance a check used for what."""
    allotted, evidence = record["settings"]["significance"], record["evidence"]
    game = fit = utility = randomness = 0.0
    if record["kind"] == "randomness":
        randomness = allotted if evidence["comparisons"] else 0.0
    elif record["kind"] in PRIVACY_KINDS:
        game = allotted if evidence["game"] or evidence["sequential"] else 0.0
        fit = allotted if evidence["exact"] else 0.0
    elif evidence["uses"] == "simulation":
        utility = allotted
    elif evidence.get("compared"):
        fit = allotted
    return {
        "check": record["name"],
        "allotted": allotted,
        "guess_game": game,
        "goodness_of_fit": fit,
        "utility": utility,
        "randomness": randomness,
        "note": "only the guess game, the utility and the randomness tests can decide a FAIL; the goodness of fit bars "
        "a verdict",
    }
