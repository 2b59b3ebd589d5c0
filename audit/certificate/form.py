"""State the form of a certificate: the types of its parts, from which its schema is made and by which it is read.

The parts of a record that differ from kind to kind are those that its class states (`Check.record_types`).
"""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from audit import plugins
from audit.checks.base import Check, DrawBudget
from audit.claims import CLAIM_KINDS
from audit.limits import (
    Count,
    Digest,
    Limits,
    Name,
    Natural,
    Nonnegative,
    Number,
    OpenProbability,
    Probability,
    object_type,
)
from audit.validate import EFFORTS
from audit.verdict import Verdict

PlannedBudget = DrawBudget | Annotated[str, Limits(pattern="|".join(EFFORTS))]
Words = tuple[str, ...]


class Counts(TypedDict):
    """Number of checks with each verdict."""

    PASS: Count
    FAIL: Count
    INCONCLUSIVE: Count


class AuditRecord(TypedDict):
    """Number and targets of the checks."""

    targets: Words
    checks: Number
    mechanisms: Number
    draws: Count


class RunSettings(TypedDict):
    """Settings of the run; `confirmation` is null where the significance is the probability of a wrong FAIL."""

    significance: OpenProbability
    confirmation: OpenProbability | None
    budget: PlannedBudget
    seed: Natural


class PlanEntry(TypedDict):
    """A check as it was known before anything was drawn; null stands for what a search finds."""

    check: Name
    kind: Name
    mechanism: str
    claim: Digest | None
    pairs: Digest | None
    confirmation: OpenProbability | None
    terms: Mapping[str, Any]
    expected: Verdict
    budget: PlannedBudget | None
    share: OpenProbability


class Plan(TypedDict):
    """Shares of the significance, and what they were shared among."""

    shared: Literal["equally", "by test"]
    unspent: Probability
    checks: Annotated[tuple[PlanEntry, ...], Limits(shortest=1)]


class SpendingEntry(TypedDict):
    """The share of the significance that a check had, and the tests that it went to."""

    check: Name
    allotted: OpenProbability
    tests: Words


class Distribution(TypedDict, total=False):
    """A distribution that was audited, with a digest of its files."""

    distribution: str
    version: str
    files: Count
    subject: Annotated[str, Limits(pattern="([0-9a-f]{64})?")]
    altered: Count


class Source(TypedDict, total=False):
    """The audited code: the file of the mechanism with its SHA-256, the line, and the distributions."""

    file: str
    digest: Digest
    line: Count
    distribution: str
    version: str
    files: Count
    subject: Digest
    altered: Count
    libraries: tuple[Distribution, ...]
    said_by: Literal["process", "program"]


class CalibrationRow(TypedDict):
    """The worst measured rate of false alarms."""

    method: str
    kind: str
    mechanism: str
    audits: Count
    alarms: Count
    rate_lower_bound: Probability
    rate_upper_bound: Probability


class CatalogRow(TypedDict):
    """False alarms over a catalog of mechanisms."""

    checks: Count
    audits: Count
    fails: Count
    significance: OpenProbability


class Calibration(TypedDict):
    """Measured rates of false alarms of tight claims that hold."""

    version: str
    significance: OpenProbability
    confidence: OpenProbability
    rows: Count
    audits: Count
    above: Count
    worst: CalibrationRow
    catalogue: CatalogRow | None


class GitState(TypedDict):
    """State of the working folder."""

    commit: str
    dirty: bool


class Provenance(TypedDict):
    """Where, when and by which command the certificate was made."""

    time: str
    command: Words
    python: str
    platform: str
    packages: Mapping[str, str]
    plan: Digest | None
    git: GitState | None


class DigestChain(TypedDict):
    """Digests through settings, plan and checks."""

    algorithm: Literal["sha256"]
    start: Digest
    links: Annotated[tuple[Digest, ...], Limits(shortest=1)]


class Document(TypedDict):
    """A certificate; the parts from `timing` to `printed` are by check."""

    schema_version: Literal["3.0"]
    kind: Literal["dp-audit certificate"]
    verdict: Verdict
    counts: Counts
    as_expected: Count
    audited: AuditRecord
    settings: RunSettings
    plan: Plan
    significance_spent: Annotated[tuple[SpendingEntry, ...], Limits(shortest=1)]
    checks: Annotated[tuple[Any, ...], Limits(shortest=1)]  # each has the form of its kind
    timing: Mapping[str, Nonnegative]
    isolation: NotRequired[Mapping[str, Literal["process", "caller"]]]
    sources: NotRequired[Mapping[str, Source]]
    printed: NotRequired[Mapping[str, str]]
    calibration: Calibration | None
    provenance: Provenance
    chain: DigestChain
    seal: Digest


def record_form(check: type[Check]) -> Any:
    """Return the type of the record of a kind of check."""
    return _record_form(check, tuple(CLAIM_KINDS))


@cache
def _record_form(check: type[Check], claims: tuple[str, ...]) -> Any:  # a program may define claims of its own
    common = {"name": Name, "kind": Literal[check.kind], "mechanism": str, "expected": Verdict}
    return object_type(f"{check.__name__.removesuffix('Check')}Record", {**common, **check.record_types()})


def record_forms() -> dict[str, Any]:
    """Return the types of records by kind."""
    return {kind: record_form(plugins.find_check(kind)) for kind in plugins.list_keys("kinds")}
