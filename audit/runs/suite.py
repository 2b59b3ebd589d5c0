"""Collect checks, share out one significance over them, run each, and report.

A run with a folder keeps every finished check there at once, so that one that was killed can be resumed. Each check is
one file, written whole or not at all. A checkpoint belongs to a plan: the checks with their claims, the settings, the
code and the versions. Evidence depends on nothing else, so a resumed run ends in the certificate of an undisturbed one.
Under another plan nothing is resumed.
"""

from __future__ import annotations

import fnmatch
import importlib
import json
import os
import shutil
import sys
import sysconfig
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from audit.base.arguments import positive
from audit.base.defaults import DEFAULT_BUDGET, DEFAULT_EXECUTOR, DEFAULT_SIGNIFICANCE, DEFAULT_TIMEOUT
from audit.base.errors import AuditError, InvalidArgument, InvalidCertificate, OtherCode, UnknownTarget, Unreachable
from audit.base.verdict import Verdict
from audit.checks.base import Allowance, Check, Evidence, Judgment, Result, failed_check, run_check
from audit.checks.kinds import require_check
from audit.checks.privacy.check import PrivacyCheck
from audit.report.certificate import Report, digest, load_certificate, versions, write_whole
from audit.subjects import BLOCK, Stream
from audit.subjects.pool import Place, Pool, open_pool
from audit.subjects.process import loaded_code, loaded_modules

FOLDER = "unfinished"
LEAST_SPREAD = 32 * BLOCK  # outputs per dataset below which the blocks of a check are not worth sending around


def run(
    checks: Iterable[Check],
    *,
    significance: float = DEFAULT_SIGNIFICANCE,
    budget: int = DEFAULT_BUDGET,
    seed: int = 0,
    workers: int | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    executor: str | Executor = DEFAULT_EXECUTOR,
    progress: Callable[[Result], None] | None = None,
    announce: Callable[[Check], None] | None = None,
    targets: Sequence[str] = (),
    directory: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Report:
    """Run checks and return their report.

    The probability that any true claim is judged FAIL is at most `significance`, over the randomness of all
    draws: each of the k checks gets significance / k.

    Parameters
    ----------
    checks : iterable of checks, of one kind or several
        At least one; names are unique.
    significance : float in (0, 1)
        Probability that any true claim of the run is judged FAIL; shared out equally.
    budget : int >= 2
        What each check without a budget of its own may draw: outputs per dataset for privacy and precision checks;
        outputs, losses or trials in all for the others.
    seed : int >= 0
        Every check derives its seeds from this and from its name, so that a selection repeats the same draws.
    workers : int >= 0, optional
        Calls that run at a time, by default one for each available core, or for each worker of an executor object.
        0 means this process. A cluster has its own number.
    timeout : float > 0
        Seconds for a check without a limit of its own. A check that takes longer is killed and INCONCLUSIVE.
    executor : {"processes", "serial", "dask://host:port"} or concurrent.futures.Executor
        Processes of this machine; this process, where a mechanism that hangs or dies ends the run; a Dask cluster; or
        your own executor, each of whose workers starts a process for the checks it runs. The evidence is the same.
    progress, announce : callable, optional
        Called with every result as it comes, in no particular order; called with every check when it begins.
    targets : sequence of str
        Modules that the checks are from, for the certificate.
    directory : path, optional
        Folder for the certificate. Each finished check is kept there until the certificate is written. A check
        whose workers were lost is INCONCLUSIVE and not kept.
    resume : bool
        Resume an unfinished run in `directory`: no finished check runs twice. After a finished run of the same checks,
        settings and code, return what it found.

    Returns
    -------
    Report
        Its results are in the order of the checks.

    Raises
    ------
    InvalidArgument
        If an argument is outside its admissible set, there are no checks or two of one name, `directory` holds an
        unfinished run that is not to be resumed or is of other checks, settings or code, or workers have other code.
    AuditError
        If a cluster does not answer.

    Examples
    --------
    >>> import numpy as np
    >>> import audit
    >>> def count(data, size, rng):
    ...     return len(data) + rng.laplace(size=size)
    >>> pair = (np.zeros(2), np.zeros(3))
    >>> claims = {"tight": audit.PrivacyClaim(1.0, 0.0, audit.AddRemove()),
    ...           "too small": audit.PrivacyClaim(0.5, 0.0, audit.AddRemove())}
    >>> checks = [audit.PrivacyCheck(name=name, mechanism=count, claim=claim, pairs=[pair])
    ...           for name, claim in claims.items()]
    >>> report = audit.run(checks, budget=80_000, executor="serial")
    >>> [str(result.verdict) for result in report.results], str(report.verdict)
    (['PASS', 'FAIL'], 'FAIL')
    """
    listed, place, timeout = require_checks(checks), Place(executor, workers), positive(timeout, "timeout")
    whole = Allowance.of(budget, significance, seed)
    if resume and directory is None:
        raise InvalidArgument("`resume` needs `directory`, the folder of the unfinished run")
    settings = (whole.budget, whole.significance, whole.stream.entropy, timeout)
    checkpoint = None if directory is None else Checkpoint(Path(directory), listed, settings, targets)
    results: dict[str, Result] = {} if checkpoint is None else dict(checkpoint.begin(resume))
    if fresh := [check for check in listed if check.name not in results]:
        share = replace(whole, significance=whole.significance / len(listed))
        place = replace(place, code=_code(fresh, targets))
        results |= _Run(share, timeout, place, progress, announce, checkpoint).on(fresh)
    report = Report(
        [results[check.name] for check in listed],
        whole.significance,
        whole.budget,
        whole.stream.entropy,
        targets=targets,
        plan=None if checkpoint is None else checkpoint.plan,
    )
    if checkpoint is not None and not checkpoint.is_finished:
        report.save(checkpoint.directory)
        checkpoint.end()
    return report


def require_checks(checks: Iterable[Check]) -> list[Check]:
    """Return the checks as a list; raise unless there is at least one, all are checks, and names are unique."""
    listed = list(checks)
    if not listed:
        raise InvalidArgument("`checks` must hold at least one check, got none")
    for check in listed:
        require_check(check)
    repeated = [name for name, count in Counter(check.name for check in listed).items() if count > 1]
    if repeated:
        raise InvalidArgument.of("checks", "have unique names", repeated[0])
    return listed


def collect(targets: Sequence[str], select: str | None = None) -> list[Check]:
    """Return the checks of importable packages or modules, `target.CHECKS`, whose names match a shell pattern."""
    checks = [check for target in targets for check in listed_in(target, "CHECKS")]
    chosen = [check for check in checks if select is None or fnmatch.fnmatchcase(check.name, select)]
    if not chosen:
        raise UnknownTarget(f"no check of {', '.join(targets)} matches {select!r}; `dp-audit list` shows the names")
    return require_checks(chosen)


def listed_in(target: str, name: str) -> list[Any]:
    """Return the list `name` of an importable module; raise `UnknownTarget` if there is no such list."""
    try:
        module = importlib.import_module(target)
    except AuditError:
        raise
    except Exception as error:
        raise UnknownTarget(f"target {target!r} cannot be imported: {type(error).__name__}: {error}") from error
    if not (found := getattr(module, name, None)):
        raise UnknownTarget(f"target {target!r} has no {name}, or none in them")
    return list(found)


def stream_of(check: Check, seed: int) -> Stream:
    """Return the stream of a check, which depends on the run's seed and the check's name only."""
    return Stream(seed, (zlib.crc32(check.name.encode(errors="surrogatepass")),))


@dataclass(frozen=True)
class _Run:
    """Runs checks at a place, and keeps what comes back."""

    share: Allowance
    timeout: float
    place: Place
    progress: Callable[[Result], None] | None = None
    announce: Callable[[Check], None] | None = None
    checkpoint: Checkpoint | None = None

    def on(self, checks: Sequence[Check]) -> dict[str, Result]:
        """Return the results of the checks by name."""
        with open_pool(self.place) as pool:
            large = self._large(checks, pool.width)
            blocks = self.place.share(len(large), pool.width) if large else None
            spread = [check for check in checks if blocks is not None and check.name in large]
            whole = [check for check in checks if blocks is None or check.name not in large]
            found = self._side_by_side(whole, pool)
            if spread:
                with open_pool(Place(workers=min(len(spread), os.cpu_count() or 1), code=self.place.code)) as here:
                    found |= self._side_by_side(spread, here, blocks)
        return found

    def _large(self, checks: Sequence[Check], width: int) -> set[str]:
        """Return the checks that take more than one worker's share of the outputs: their blocks go to many workers."""
        budgets = {check.name: check.budget or self.share.budget for check in checks}
        least = max(LEAST_SPREAD, sum(budgets.values()) / width + 1)
        return {check.name for check in checks if isinstance(check, PrivacyCheck) and budgets[check.name] >= least}

    def _side_by_side(self, checks: Sequence[Check], pool: Pool, blocks: Place | None = None) -> dict[str, Result]:
        if pool.width <= 1:  # in this thread: some mechanisms can be called from no other
            return {check.name: self._one(check, pool, blocks) for check in checks}
        threads = ThreadPoolExecutor(pool.width)
        try:
            found = [threads.submit(self._one, check, pool, blocks) for check in checks]
            return {check.name: result.result() for check, result in zip(checks, found, strict=True)}
        finally:
            threads.shutdown(wait=False, cancel_futures=True)

    def _one(self, check: Check, pool: Pool, blocks: Place | None) -> Result:
        """Announce a check, run it, keep its result, and tell of it."""
        if self.announce is not None:
            self.announce(check)
        share, lost = replace(self.share, stream=stream_of(check, self.share.stream.entropy)), False
        try:
            result: Result = run_check(check, share, check.timeout or self.timeout, pool, blocks)
        except OtherCode:
            raise
        except AuditError as error:
            lost = isinstance(error, Unreachable)
            result = failed_check(check, share, "lost" if lost else "error", str(error))
        if self.checkpoint is not None and not lost:
            self.checkpoint.keep(result)
        if self.progress is not None:
            self.progress(result)
        return result


def _code(checks: Iterable[Check], targets: Iterable[str]) -> dict[str, str]:
    """Return the code that evidence depends on: Python, packages, this package, and where checks are from."""
    homes = [getattr(getattr(check, "mechanism", check), "__module__", None) or __name__ for check in checks]
    tops = {name.partition(".")[0] for name in (*homes, *targets, __name__)}
    modules = loaded_modules(lambda top, file: top in tops and os.path.exists(file))
    return loaded_code(["Python", *(f"package {name}" for name in versions()), *modules])


@dataclass(frozen=True, repr=False)
class Recorded(Result):
    """The result of a check that another process has run: its record stands for the evidence."""

    document: Mapping[str, Any]

    @classmethod
    def of_record(cls, document: Mapping[str, Any], seconds: float, check: Any = None) -> Recorded:
        """Return the result that a record tells; `check` is the check itself where it is at hand."""
        check = check or SimpleNamespace(name=document["name"], expected=Verdict(document["expected"]))
        settings, evidence = document["settings"], Evidence(int(document["evidence"]["samples"]))
        judgment = Judgment(Verdict(document["verdict"]), str(document.get("basis")), str(document["reason"]))
        budget, significance = settings.get("budget", 0), settings["significance"]
        return cls(check, budget, significance, evidence, judgment, seconds, dict(document))

    def record(self) -> dict[str, Any]:
        return dict(self.document)


class Checkpoint:
    """The finished checks of one run, in the folder `unfinished` beside its certificate."""

    def __init__(
        self, directory: Path, checks: Sequence[Check], settings: Sequence[float], targets: Iterable[str]
    ) -> None:
        self.directory, self.folder = directory, directory / FOLDER
        self.is_finished = False
        self._checks = checks
        self._files = {check.name: self.folder / f"{index:05d}.json" for index, check in enumerate(checks)}
        self._plan_file = self.folder / "plan.json"
        stated = [
            [check.name, type(check).__qualname__, check.stated, check.expected.value, check.budget, check.timeout]
            for check in checks
        ]
        tops, paths = {target.partition(".")[0] for target in targets}, sysconfig.get_paths()
        folders = (paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib"))
        installed = tuple(os.path.realpath(folder) + os.sep for folder in folders)
        modules = loaded_modules(lambda top, file: top in tops or not os.path.realpath(file).startswith(installed))
        self.plan = digest(stated, list(settings), loaded_code(modules), versions(), sys.version.split()[0])

    def begin(self, resume: bool) -> dict[str, Recorded]:
        """Return the results that an earlier process has left, by name of the check; raise if they cannot be used."""
        found, kept = _read(self._plan_file), finished_checks(self.directory)
        if found is not None and kept and not resume:
            raise InvalidArgument(
                f"{self.folder} holds an unfinished run, {kept} of {found['checks']} checks done; add --resume "
                "(in Python: resume=True) to go on with it, or delete that folder"
            )
        is_ours = found is not None and found["plan"] == self.plan
        if found is not None and kept and not is_ours:
            raise InvalidArgument(
                f"{self.folder} holds an unfinished run of other checks, settings, code or versions; delete that "
                "folder to start anew"
            )
        if resume and not self.folder.exists() and (results := self._certified()):
            self.is_finished = True
            return results
        if not is_ours:
            shutil.rmtree(self.folder, ignore_errors=True)
            write_whole(self._plan_file, json.dumps({"plan": self.plan, "checks": len(self._checks)}))
        files = zip(self._checks, map(_read, self._files.values()), strict=True)
        return {
            check.name: Recorded.of_record(file["record"], file["seconds"], check)
            for check, file in files
            if file is not None and file.get("plan") == self.plan and file["record"]["name"] == check.name
        }

    def keep(self, result: Result) -> None:
        document = {"plan": self.plan, "record": result.record(), "seconds": result.seconds}
        write_whole(self._files[result.name], json.dumps(document, allow_nan=False))

    def end(self) -> None:
        """Remove the folder unless a check is missing in it; it is gone at once, or still whole."""
        if all(file.exists() for file in self._files.values()):
            gone = tempfile.mkdtemp(dir=self.directory, prefix=f".{FOLDER}.")
            os.replace(self.folder, gone)
            shutil.rmtree(gone, ignore_errors=True)

    def _certified(self) -> dict[str, Recorded]:
        """Return the results in the certificate of this very run; none when there is no such certificate."""
        try:
            found = load_certificate(self.directory)
        except InvalidCertificate:
            return {}
        if found["provenance"].get("plan") != self.plan:
            return {}
        return {
            check.name: Recorded.of_record(record, found["timing"].get(check.name, 0.0), check)
            for check, record in zip(self._checks, found["checks"], strict=True)
        }


def finished_checks(directory: Path) -> int:
    """Return how many checks of an unfinished run are kept in a folder."""
    return len(list((directory / FOLDER).glob("[0-9]*.json")))


def _read(path: Path) -> dict[str, Any] | None:
    """Return a file of the checkpoint; None when there is none that can be read."""
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return data
