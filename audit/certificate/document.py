"""A certificate, which is all that a run found as one JSON document, and the results in memory that it is made of.

Its parts are plan, summary, provenance and digests. A chain of digests goes through settings, plan and every check, and
a seal covers the document; see docs/certificate.md.
"""

import contextlib
import datetime
import hashlib
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

from audit import plugins
from audit.certificate.summary import count_subjects, is_met, standing_of
from audit.errors import InvalidCertificate, MissingCertificate, Unwritable
from audit.evidence.base import Evidence
from audit.validate import Budget
from audit.verdict import AnyResult, Verdict, note_read, standing, worst

SCHEMA_VERSION = "3.0"
JSON_NAME = "certificate.json"
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)  # of digested data
_LINES = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_NOT_PLANNED = ("budget", "significance", "confirmation", "seed")  # settings that the plan of a run holds apart
_PARTS = ("kinds", "evidence", "methods")  # of an extension, that checks may need
_LIBRARIES = ("numpy", "scipy", "statsmodels", "dp-accounting", "opendp", "diffprivlib", "python-dp")


def summarize(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the verdict of the run, the number of checks with each verdict, and how many came out as expected."""
    counts = Counter(record["verdict"] for record in records)
    return {
        "verdict": worst(map(standing_of, records)).value,
        "counts": {verdict.value: counts[verdict.value] for verdict in Verdict},
        "as_expected": sum(map(is_met, records)),
    }


def make_plan(
    significance: float,
    records: Sequence[Mapping[str, Any]],
    evidence: Sequence[Evidence],
    budgets: Iterable[Budget | None],
) -> dict[str, Any]:
    """Return the planned checks, and each check's share of the significance; a budget of None is the run's.

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
                **list_plan(record, found),
            }
            for record, found, budget, share in zip(records, evidence, budgets, shares, strict=True)
        ],
    }


def list_plan(record: Mapping[str, Any], evidence: Evidence) -> dict[str, Any]:
    """Return the settings of a check before it drew anything, beside its budget; null for the result of a search."""
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


def list_spending(record: Mapping[str, Any], evidence: Evidence) -> dict[str, Any]:
    """Return the share of the run's significance that a check had, and the tests that it went to."""
    tests = list(evidence.spends)
    return {"check": record["name"], "allotted": record["settings"]["significance"], "tests": tests}


def list_extensions(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the extensions that the checks need, by name, with the parts of them that they need."""
    found: dict[str, Any] = {}
    for part, key in (need for record in records for need in _needs_of(record)):
        owners = (name for name, plugin in plugins.list_plugins().items() if key in getattr(plugin, part))
        if (name := next(owners, plugins.CORE.name)) != plugins.CORE.name:
            entry = found.setdefault(name, {"version": "", **{listed: [] for listed in _PARTS}})
            entry[part] = sorted({*entry[part], key})
    return {name: {**found[name], "version": plugins.find_version(name)} for name in sorted(found)}


def find_lacking(record: Mapping[str, Any], extensions: Mapping[str, Any]) -> str | None:
    """Return the extension that a check needs and that is not installed; None if there is none."""
    for part, key in _needs_of(record):
        if key not in plugins.list_keys(part):
            named = (name for name, stated in extensions.items() if key in stated[part])
            return next((name for name in named if name not in plugins.list_plugins()), None)
    return None


def _needs_of(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the entries of plugins that a record needs; nothing more of one that does not have its form."""
    yield "kinds", str(record.get("kind"))
    with contextlib.suppress(LookupError, TypeError, AttributeError):
        if isinstance(method := record["settings"].get("method"), Mapping):
            yield "methods", str(method["way"])
        for drawn in (record["evidence"], record["evidence"].get("confirmation") or {}):
            if isinstance(drawn.get("ways"), (list, tuple)):
                yield from (("evidence", str(way["way"])) for way in drawn["ways"])


def describe_run() -> dict[str, Any]:
    """Return versions, git state of the working folder, command line, platform and time of the run."""
    kept = [argument for argument in sys.argv[1:] if argument != "--resume"]  # resuming changes nothing
    called = [*(Path(program).name for program in sys.argv[:1]), *kept]
    return {
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": called,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": list_versions(),
        "git": _read_git(),
    }


def list_versions() -> dict[str, str]:
    """Return the versions of the installed packages that evidence may depend on."""
    found = {}
    for name in ("dp-audit", *_LIBRARIES):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def _read_git() -> dict[str, Any] | None:
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
    return hashlib.sha256(_ENCODER.encode(parts).encode("ascii")).hexdigest()


def chain_checks(
    settings: Mapping[str, Any], records: Iterable[Mapping[str, Any]], plan: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the chain of a run: its start, which is known before anything is drawn, and a link for each check."""
    link = start = digest(settings, plan)
    return {"algorithm": "sha256", "start": start, "links": [link := digest(link, record) for record in records]}


def compute_seal(certificate: Mapping[str, Any]) -> str:
    """Return the digest of a certificate without its seal."""
    return digest({name: part for name, part in certificate.items() if name != "seal"})


def find_certificate(directory: str | os.PathLike[str]) -> Path:
    """Return the path of the certificate in a folder; any other path is that of a certificate itself."""
    path = Path(directory)
    return path / JSON_NAME if path.is_dir() else path


def load_certificate(directory: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the certificate of a folder or of a JSON file, as plain data.

    Nothing that it names is imported or run. It may be anybody's: `verify` returns its contradictions.

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
    path = find_certificate(directory)
    data: dict[str, Any] = load_json(path)
    known = isinstance(data, dict) and data.get("schema_version") == SCHEMA_VERSION
    if not known or not isinstance(data.get("checks"), list) or not data["checks"]:
        raise InvalidCertificate(f"{path} is not a certificate of schema version {SCHEMA_VERSION} with checks in it")
    return data


def load_json(path: Path) -> Any:
    """Return the JSON of a file that anyone may have written, of which all readers read the same.

    Raises
    ------
    MissingCertificate
        If the file cannot be read.
    InvalidCertificate
        If it is not JSON in UTF-8 with finite numbers and without repeated keys.
    """
    try:
        text = path.read_text(encoding="utf-8")
        return json.loads(text, parse_float=_read_number, parse_constant=_read_number, object_pairs_hook=_read_object)
    except OSError as error:
        raise MissingCertificate(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:  # Python refuses integers of thousands of digits itself
        raise InvalidCertificate(f"{path} cannot be read as a certificate: {error}") from error


def _read_number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a number of JSON")
    return number


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object without repeated keys: of those, another reader might take another one."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"a key is repeated among {', '.join(map(repr, found))}"[:200])
    return found


def write_text(certificate: Mapping[str, Any]) -> str:
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


def write_renderings(certificate: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write each rendering of a certificate into a folder; return their paths."""
    from audit.certificate.render import RENDERERS

    for name, renderer in RENDERERS.items():
        write_whole(folder / name, renderer(certificate))
    return [folder / name for name in RENDERERS]


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
        folder = Path(directory)
        write_whole(folder / JSON_NAME, write_text(self.certificate))
        write_renderings(self.certificate, folder)
        return folder / JSON_NAME
