"""The parts of a certificate, which is all that a run found as one JSON document: plan, summary, provenance, digests.

A chain of digests goes through settings, plan and every check, and a seal covers the document; see docs/certificate.md.
"""

import contextlib
import dataclasses
import datetime
import hashlib
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import types
import typing
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from audit import plugins
from audit.certificate.loading import load_json
from audit.certificate.record import TEXTS, is_registry, types_of
from audit.certificate.summary import is_met, standing_of
from audit.checks.base import Basis, Check, DrawBudget, Evidence
from audit.claims import CLAIM_KINDS
from audit.errors import InvalidCertificate, Unwritable
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
from audit.scorers.vocabulary import generalize, unknown_words
from audit.validate import EFFORTS, Budget
from audit.verdict import Verdict, worst

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


class Extension(TypedDict):
    """What the checks need of an extension: its kinds, evidence and methods, and the words of its scorers."""

    version: str
    kinds: Words
    evidence: Words
    methods: Words
    words: Words


class UnreadRecord(TypedDict):
    """The parts that records of all kinds have: all that is read where an extension is not installed."""

    name: Name
    kind: Name
    mechanism: str
    expected: Verdict
    claim: Mapping[str, Any]
    settings: Mapping[str, Any]
    evidence: Mapping[str, Any]
    verdict: Verdict
    basis: Basis
    reason: Name
    scope: Words


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
    extensions: Mapping[str, Extension]
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


SCHEMA_VERSION = "3.0"
JSON_NAME = "certificate.json"
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)  # of what is digested
_LINES = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_NOT_PLANNED = ("budget", "significance", "confirmation", "seed")  # settings that the plan of a run holds apart
_PARTS = ("kinds", "evidence", "methods", "words")  # of an extension, that checks may need
_LIBRARIES = ("numpy", "scipy", "statsmodels", "dp-accounting", "opendp", "diffprivlib", "python-dp")


def summary_of(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the verdict of the run, the number of checks with each verdict, and how many came out as expected."""
    counts = Counter(record["verdict"] for record in records)
    return {
        "verdict": worst(map(standing_of, records)).value,
        "counts": {verdict.value: counts[verdict.value] for verdict in Verdict},
        "as_expected": sum(map(is_met, records)),
    }


def plan_of(
    significance: float,
    records: Sequence[Mapping[str, Any]],
    evidence: Sequence[Evidence],
    budgets: Iterable[Budget | None],
) -> dict[str, Any]:
    """Return what was to be checked, and each check's share of the significance; a budget of None is the run's.

    A run shares its significance out equally. In a session of pytest every test has a share, whether it audits or not.
    """
    shares = [record["settings"]["significance"] for record in records]
    is_equal = all(math.isclose(share * len(shares), significance, rel_tol=1e-9) for share in shares)
    return {
        "shared": "equally" if is_equal else "by test",
        "unspent": 0.0 if is_equal else max(0.0, significance - sum(shares)),
        "checks": [
            {
                "check": record["name"],
                "kind": record["kind"],
                "expected": record["expected"],
                "budget": budget,
                "share": share,
                **planned_terms(record, found),
            }
            for record, found, budget, share in zip(records, evidence, budgets, shares, strict=True)
        ],
    }


def planned_terms(record: Mapping[str, Any], evidence: Evidence) -> dict[str, Any]:
    """Return what was known of a check before it drew anything, beside its budget; null for what a search found."""
    settings, searched = record["settings"], evidence.searched
    terms = {key: value for key, value in settings.items() if key not in _NOT_PLANNED}
    pairs, by_setting = record.get("pairs"), bool(searched and searched.setting)
    if by_setting:
        terms["tolerance"] = None
    return {
        "mechanism": record["mechanism"],
        "claim": None if by_setting else digest(record["claim"]),
        "pairs": None if searched or pairs is None else digest(pairs),
        "confirmation": settings["confirmation"],
        "terms": terms,
    }


def spending(record: Mapping[str, Any], evidence: Evidence) -> dict[str, Any]:
    """Return the share of the run's significance that a check had, and the tests that it went to."""
    tests = list(evidence.spends)
    return {"check": record["name"], "allotted": record["settings"]["significance"], "tests": tests}


def extensions_of(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the extensions that the checks need, by name, with the parts of them that they need."""
    found: dict[str, Any] = {}
    for part, key in (need for record in records for need in _needs_of(record)):
        if (name := _owner_of(part, key)) not in (None, plugins.CORE.name):
            entry = found.setdefault(name, {"version": "", **{listed: [] for listed in _PARTS}})
            entry[part] = sorted({*entry[part], key})
    return {name: {**found[name], "version": plugins.find_version(name)} for name in sorted(found)}


def lacking(record: Mapping[str, Any], extensions: Mapping[str, Any]) -> str | None:
    """Return the extension that a check needs and that is not installed; None if there is none."""
    for part, key in _needs_of(record):
        if not _is_known(part, key):
            named = (name for name, stated in extensions.items() if key in stated[part])
            return next((name for name in named if name not in plugins.list_plugins()), None)
    return None


def _needs_of(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the entries of plugins that a record needs; it may be anybody's."""
    evidence, method = _part(record, "evidence"), _part(_part(record, "settings"), "method")
    yield "kinds", str(record.get("kind"))
    if method:
        yield "methods", str(method.get("way"))
    for way in (way for drawn in (evidence, _part(evidence, "confirmation")) for way in _list(drawn.get("ways"))):
        if isinstance(way, Mapping):
            yield "evidence", str(way.get("way"))
            yield from (("words", generalize(str(words))) for words in _list(way.get("looked_for")))


def _part(record: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = record.get(key)
    return found if isinstance(found, Mapping) else {}


def _list(part: Any) -> Sequence[Any]:
    return part if isinstance(part, (list, tuple)) else ()


def _is_known(part: str, key: str) -> bool:
    return not unknown_words([key]) if part == "words" else key in plugins.list_keys(part)


def _owner_of(part: str, key: str) -> str | None:
    """Return the plugin that has an entry; the core where it is that of words, which no extension adds."""
    if part != "words":
        return plugins.find_owner(part, key)
    others = (plugin for plugin in plugins.list_plugins().values() if plugin is not plugins.CORE)
    own = (each.name for each in others if any(key in plugins.load(text).seeks for text in each.scorers))
    return next(own, None)


def provenance(command: Sequence[str] = (), plan: str | None = None) -> dict[str, Any]:
    """Return versions, git state of the working folder, command line, platform, time and plan of the run."""
    kept = [argument for argument in sys.argv[1:] if argument != "--resume"]  # resuming changes nothing
    called = [*(Path(program).name for program in sys.argv[:1]), *kept]
    return {
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": list(command) or called,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": versions(),
        "git": _git_state(),
        "plan": plan,
    }


def versions() -> dict[str, str]:
    """Return the versions of the installed packages that evidence may depend on."""
    found = {}
    for name in ("dp-audit", *_LIBRARIES):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


@cache
def calibration_summary() -> dict[str, Any] | None:
    """Return the worst measured rate of false alarms of tight claims that hold; None if nothing was measured."""
    file = resources.files("audit.certificate").joinpath("calibration.json")
    data = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {"rows": []}
    rows = [row for row in data["rows"] if row["method"] != "exact"]  # whose alarms refute no claim
    if not rows:
        return None
    worst = max(rows, key=lambda row: row["alarms"] / row["audits"])
    shown = ("method", "kind", "mechanism", "audits", "alarms", "rate_lower_bound", "rate_upper_bound")
    catalogue = data.get("catalogue")
    return {
        "version": data["version"],
        "significance": data["significance"],
        "confidence": data["confidence"],
        "rows": len(rows),
        "audits": sum(row["audits"] for row in rows),
        "above": sum(row["rate_lower_bound"] > data["significance"] for row in rows),
        "worst": {name: worst[name] for name in shown},
        "catalogue": catalogue and {key: catalogue[key] for key in ("checks", "audits", "fails", "significance")},
    }


def _git_state() -> dict[str, Any] | None:
    """Return the commit of the working folder, and whether there are other changes; None outside a repository."""
    try:
        commit, status = (
            subprocess.run(["git", *arguments], capture_output=True, text=True, timeout=10, check=True).stdout.strip()
            for arguments in (("rev-parse", "HEAD"), ("status", "--porcelain"))
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit, "dirty": bool(status)}


def digest(*parts: Any) -> str:
    """Return the SHA-256 of plain data: JSON with sorted keys and no spaces, numbers as Python writes them, ASCII."""
    return _hashed(map(_text_of, parts))


def _text_of(part: Any) -> str:
    return _ENCODER.encode(part)


def _hashed(texts: Iterable[str]) -> str:
    return hashlib.sha256(f"[{','.join(texts)}]".encode("ascii")).hexdigest()


def chain_of(
    settings: Mapping[str, Any], records: Iterable[Mapping[str, Any]], plan: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the chain of a run: its start, which is known before anything is drawn, and a link for each check."""
    return _chained(digest(settings, plan), map(_text_of, records))


def _chained(start: str, texts: Iterable[str]) -> dict[str, Any]:
    link = start
    links = [link := _hashed((f'"{link}"', text)) for text in texts]
    return {"algorithm": "sha256", "start": start, "links": links}


def seal_of(certificate: Mapping[str, Any]) -> str:
    """Return the digest of a certificate without its seal."""
    return digest({name: part for name, part in certificate.items() if name != "seal"})


def digests_of(certificate: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the chain and the seal that a certificate should have: its checks, which are long, are written once."""
    checks = [_text_of(record) for record in certificate["checks"]]
    texts = {name: _text_of(part) for name, part in certificate.items() if name not in ("seal", "checks")}
    texts["checks"] = f"[{','.join(checks)}]"
    document = ",".join(f"{_text_of(name)}:{texts[name]}" for name in sorted(texts))
    return _chained(digest(certificate["settings"], certificate["plan"]), checks), _hashed([f"{{{document}}}"])


def certificate_path(directory: str | os.PathLike[str]) -> Path:
    """Return the path of the certificate in a folder; any other path is that of a certificate itself."""
    path = Path(directory)
    return path / JSON_NAME if path.is_dir() else path


def load_certificate(directory: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the certificate of a folder or of a JSON file, as plain data.

    Nothing that it names is imported or run. It may be anybody's: `verify` returns what contradicts itself in it.

    Parameters
    ----------
    directory : str or path
        The folder that a run wrote, or the JSON file.

    Returns
    -------
    dict
        The certificate; docs/certificate.md lists its keys.

    Raises
    ------
    AuditError
        If there is none, or none of this version.

    Examples
    --------
    >>> import tempfile
    >>> import audit
    >>> def noisy_count(data, size, rng):
    ...     return len(data) + rng.laplace(size=size)
    >>> claim = audit.PrivacyClaim(epsilon=1.0, relation=audit.AddRemove())
    >>> check = audit.PrivacyCheck(name="count", mechanism=noisy_count, claim=claim, pairs=[([], [0])])
    >>> folder = tempfile.mkdtemp()
    >>> path = audit.run([check], budget=2_000, workers=0).save(folder)
    >>> [record["name"] for record in audit.load_certificate(folder)["checks"]]
    ['count']
    """
    path = certificate_path(directory)
    data: dict[str, Any] = load_json(path)
    known = isinstance(data, dict) and data.get("schema_version") == SCHEMA_VERSION
    if not known or not isinstance(data.get("checks"), list) or not data["checks"]:
        raise InvalidCertificate(f"{path} is not a certificate of schema version {SCHEMA_VERSION} with checks in it")
    return data


def text_of(certificate: Mapping[str, Any]) -> str:
    """Return a certificate as JSON with one line for each check and for each other part, so that versions compare."""
    parts = {name: _LINES.encode(part) for name, part in certificate.items()}
    parts["checks"] = "[\n{}\n]".format(",\n".join(map(_LINES.encode, certificate["checks"])))
    return "{{\n{}\n}}\n".format(",\n".join(f'"{name}":{part}' for name, part in parts.items()))


def write_whole(path: Path, text: str) -> None:
    """Write a text file under a temporary name, then rename it: no partial file ever has the final name."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise Unwritable.of(path.parent, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "replace"))  # the message of an exception may hold lone surrogates
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError):
            raise Unwritable.of(path, error) from error
        raise
    with contextlib.suppress(OSError):  # bring the renaming onto the disk, where the system can
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


Schema = dict[str, Any]


def schema() -> Schema:
    """Return the JSON Schema of certificates, draft 2020-12; a class is a definition of its name."""
    named: dict[str, Schema] = {}
    records = [_form(form, named) for form in record_forms().values()]
    _form(Document, named)
    document = named.pop(Document.__name__)
    document["properties"]["checks"]["items"] = {"oneOf": records}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "dp-audit certificate"}
    return {**head, **document, "$defs": dict(sorted(named.items()))}


def _form(kind: Any, named: dict[str, Schema], limits: Limits | None = None) -> Schema:
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return {}
    if origin is Annotated:
        return _form(parts[0], named, next(part for part in parts[1:] if isinstance(part, Limits)))
    if origin in (typing.NotRequired, typing.Required):
        return _form(parts[0], named)
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (types.UnionType, typing.Union):
        return {"anyOf": [{"type": "null"} if part is type(None) else _form(part, named) for part in parts]}
    if origin is tuple:
        return _tuple(parts, named, limits)
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _form(parts[1], named)}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [option.value for option in kind]}
    if is_registry(kind):
        return {"anyOf": [_form(kind.find(way), named) for way in kind.list_ways()] or [{"not": {}}]}
    if typing.is_typeddict(kind) or dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"):
        return _object(kind, named)
    return _scalar(kind, limits)


def _tuple(parts: tuple[Any, ...], named: dict[str, Schema], limits: Limits | None) -> Schema:
    if parts[1:] == (Ellipsis,):
        said = limits.schema("Items") if limits else {}
        return {"type": "array", "items": _form(parts[0], named), **said}
    prefix = [_form(part, named) for part in parts]
    return {"type": "array", "prefixItems": prefix, "minItems": len(parts), "maxItems": len(parts)}


def _object(kind: Any, named: dict[str, Schema]) -> Schema:
    """Return a reference to the definition of a class, made where it is met first."""
    name = kind.__name__
    if named.get(name, {}).get("$comment", kind.__module__) != kind.__module__:
        raise TypeError(f"two classes of records are called {name}: rename that of {kind.__module__}")
    if name not in named:
        named[name] = {"$comment": kind.__module__}  # a class may hold itself
        parts, way = types_of(kind), getattr(kind, "way", None)
        properties = {key: _form(part, named) for key, part in parts.items()}
        required = list(getattr(kind, "__required_keys__", parts))
        if way:
            properties, required = {"way": {"enum": [way]}, **properties}, ["way", *required]
        said = {"description": " ".join(kind.__doc__.split())} if _says_more(kind) else {}
        shape = {
            "type": "object",
            "properties": properties,
            "required": sorted(required),
            "additionalProperties": False,
        }
        named[name] |= {**said, **shape}
    return {"$ref": f"#/$defs/{name}"}


def _says_more(kind: Any) -> bool:
    """Return whether a class has a docstring of its own; that of a dataclass may be made from its fields."""
    return bool(kind.__doc__) and not kind.__doc__.startswith((f"{kind.__name__}(", "dict("))


def _scalar(kind: Any, limits: Limits | None) -> Schema:
    if kind is int:
        return {"type": "integer", **(limits or Count.__metadata__[0]).schema()}  # type: ignore[attr-defined]
    if kind is float:
        texts = [text for text, value in TEXTS.items() if limits is None or limits.admits(value)]
        number = {"type": "number", **(limits.schema() if limits else {})}
        return {"anyOf": [number, {"enum": texts}]} if texts else number
    said = limits.schema() if limits else {}
    return {"type": {str: "string", bool: "boolean"}[kind], **said}
