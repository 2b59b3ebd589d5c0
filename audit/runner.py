"""Collect checks, share out one significance over them, run each, and report.

Each finished check is one file, written whole or not at all, so that a run that was killed can be resumed. A checkpoint
belongs to a plan: the checks with their claims, the settings, the code and the versions. Evidence depends on nothing
else, so a resumed run ends in the certificate of an undisturbed one. Under another plan nothing is resumed.
"""

from __future__ import annotations

import fnmatch
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

from audit.certificate.document import Report, digest, list_versions, write_whole
from audit.certificate.verify import read_evidence
from audit.checks.base import Check, Result, failed_check, run_check
from audit.checks.privacy import PrivacyCheck
from audit.defaults import DEFAULT_BUDGET, DEFAULT_CONFIRMATION, DEFAULT_EXECUTOR, DEFAULT_SIGNIFICANCE, DEFAULT_TIMEOUT
from audit.discover import read_list
from audit.errors import AuditError, InvalidArgument, InvalidCertificate, OtherCode, UnknownTarget, Unreachable
from audit.evidence.base import Allowance, Evidence, Judgment
from audit.execution.seeds import BLOCK, Place, Stream
from audit.execution.workers import Pool, describe_code, open_pool
from audit.validate import Budget, positive
from audit.verdict import Verdict, note_result

FOLDER = "unfinished"


@dataclass(frozen=True, repr=False, eq=False)
class Recorded(Result):
    """The result of a check that another process has run: its record stands for the evidence."""

    document: Mapping[str, Any]

    @classmethod
    def of_record(cls, document: Mapping[str, Any], seconds: float, check: Any = None, **apart: Any) -> Recorded:
        """Return the result that a record tells; `check` is the check itself where it is at hand."""
        check = check or SimpleNamespace(name=document["name"], expected=Verdict(document["expected"]))
        settings = document["settings"]
        try:
            evidence = read_evidence(document)
        except (LookupError, InvalidCertificate):  # of no kind that is known here, which no certificate can hold
            evidence = Evidence(int(document["evidence"]["samples"]))
        judgment = Judgment(Verdict(document["verdict"]), str(document.get("basis")), str(document["reason"]))
        budget, significance = settings.get("budget", 0), settings["significance"]
        return cls(check, budget, significance, evidence, judgment, seconds, dict(document), **apart)

    def record(self) -> dict[str, Any]:
        return dict(self.document)


class Checkpoint:
    """The finished checks of one run, in the folder `unfinished` beside its certificate."""

    def __init__(
        self, directory: Path, checks: Sequence[Check], settings: Sequence[Any], targets: Iterable[str]
    ) -> None:
        self.directory, self.folder = directory, directory / FOLDER
        self._checks = {f"{index:05d}.json": check for index, check in enumerate(checks)}
        self._plan_file = self.folder / "plan.json"
        stated = [
            [check.name, type(check).__qualname__, check.stated, check.expected.value, check.budget, check.timeout]
            for check in checks
        ]
        self._plan = digest(stated, list(settings), describe_code(list_code(checks, targets)))

    def begin(self, resume: bool) -> dict[str, Recorded]:
        """Return the results that an earlier process has left, by name of the check; raise if they cannot be used."""
        found, kept = _read(self._plan_file), count_finished_checks(self.directory)
        if found and kept and not resume:
            raise InvalidArgument(
                f"{self.folder} holds an unfinished run, {kept} of {found['checks']} checks done; add --resume "
                "(in Python: resume=True) to go on with it, or delete that folder"
            )
        is_ours = found.get("plan") == self._plan
        if kept and not is_ours:
            raise InvalidArgument(
                f"{self.folder} holds an unfinished run of other checks, settings, code or versions; delete that "
                "folder to start anew"
            )
        if not is_ours:
            shutil.rmtree(self.folder, ignore_errors=True)
        write_whole(self._plan_file, json.dumps({"plan": self._plan, "checks": len(self._checks)}))
        files = ((check, _read(self.folder / name)) for name, check in self._checks.items())
        return {check.name: Recorded.of_record(check=check, **file) for check, file in files if file}

    def keep(self, result: Result) -> None:
        """Write the file of a finished check."""
        name = next(name for name, check in self._checks.items() if check.name == result.name)
        parts = {"isolation": result.isolation, "printed": result.printed, "source": result.audited_source}
        document = {"document": result.record(), "seconds": result.seconds, **parts}
        write_whole(self.folder / name, json.dumps(document, allow_nan=False))

    def end(self) -> None:
        """Remove the folder unless a check is missing in it."""
        if all((self.folder / name).exists() for name in self._checks):
            shutil.rmtree(self.folder, ignore_errors=True)


def list_code(checks: Iterable[Check], targets: Iterable[str]) -> list[str]:
    """Return the names of the code that evidence depends on: Python, packages, this one, and where checks are from."""
    homes = [getattr(getattr(check, "mechanism", check), "__module__", None) or __name__ for check in checks]
    tops = dict.fromkeys(name.partition(".")[0] for name in (__name__, *targets, *homes))
    return ["Python", *(f"package {name}" for name in list_versions()), *(f"code {top}" for top in tops)]


def count_finished_checks(directory: Path) -> int:
    """Return how many checks of an unfinished run are kept in a folder."""
    return len(list((directory / FOLDER).glob("[0-9]*.json")))


def read_unfinished_run(directory: Path) -> tuple[list[dict[str, Any]], int] | None:
    """Return the records of an unfinished run in a folder, and how many checks were planned; None if there is none."""
    plan = _read(directory / FOLDER / "plan.json")
    if not plan:
        return None
    files = map(_read, sorted((directory / FOLDER).glob("[0-9]*.json")))
    return [file["document"] for file in files if file], int(plan["checks"])


def _read(path: Path) -> dict[str, Any]:
    """Return a file of the checkpoint; nothing when there is none that can be read."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


LEAST_SPREAD = 32 * BLOCK  # outputs per dataset below which the blocks of a check are not worth sending around


def run(
    checks: Iterable[Check],
    *,
    significance: float = DEFAULT_SIGNIFICANCE,
    budget: Budget = DEFAULT_BUDGET,
    confirmation: float | None = DEFAULT_CONFIRMATION,
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

    The probability that any true claim is judged FAIL is at most `confirmation`, over the randomness of all draws. A
    claim that the first outputs refute, with a probability of `significance` for any true one, is tested again on
    fresh outputs. Each of the k checks gets the k-th part of both.

    Parameters
    ----------
    checks : iterable of checks, of one kind or several
        At least one; names are unique.
    significance : float in (0, 1)
        Probability that any true claim of the run is suspected; shared out equally.
    budget : {"auto", "quick", "deep"} or int >= 2
        Draws of each check without a budget of its own: outputs per dataset for privacy and precision checks;
        outputs, losses or trials in all for the others. By default as many as resolve its claim.
    confirmation : float in (0, 1), optional
        Probability that any true claim of the run is judged FAIL; shared out equally. None: no claim is tested again,
        and the probability is `significance`.
    seed : int >= 0
        Every check derives its seeds from this and from its name, so that a selection repeats the same draws.
    workers : int >= 0, optional
        Calls that run at a time, by default one for each available core, or for each worker of an executor object.
        0 means this process. A cluster has its own number.
    timeout : float > 0
        Seconds for a check without a limit of its own. The limit ends the drawing, and the outputs so far are judged;
        a check that does not end by itself is killed and INCONCLUSIVE.
    executor : {"processes", "serial", "dask://host:port", "tls://host:port"} or concurrent.futures.Executor
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
        Resume an unfinished run in `directory`: no finished check runs twice.

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
    whole = Allowance.of(budget, significance, seed, confirmation=confirmation)
    if resume and directory is None:
        raise InvalidArgument("`resume` needs `directory`, the folder of the unfinished run")
    settings = (whole.budget, whole.significance, whole.confirmation, whole.stream.entropy, timeout)
    checkpoint = None if directory is None else Checkpoint(Path(directory), listed, settings, targets)
    results: dict[str, Result] = {} if checkpoint is None else dict(checkpoint.begin(resume))
    if fresh := [check for check in listed if check.name not in results]:
        share = whole.share(len(listed))
        if targets:  # modules: the command line runs them
            share = replace(share, setting="--timeout {:g}")
        if not place.is_here:  # a worker must have the same code
            place = replace(place, code=describe_code(list_code(fresh, targets)))
        results |= _Runner(share, timeout, place, progress, announce, checkpoint).on(fresh)
    report = Report(
        [results[check.name] for check in listed],
        whole.significance,
        whole.budget,
        whole.stream.entropy,
        confirmation=whole.confirmation,
        targets=targets,
    )
    if checkpoint is not None:
        report.save(checkpoint.directory)
        checkpoint.end()
    if directory is None:  # a certificate says it elsewhere
        note_result(report)
    return report


def require_checks(checks: Iterable[Check]) -> list[Check]:
    """Return the checks as a list; raise unless there is at least one, all are checks, and names are unique."""
    listed = list(checks)
    if not listed:
        raise InvalidArgument("`checks` must hold at least one check, got none")
    for check in listed:
        if not isinstance(check, Check):
            raise InvalidArgument.of("checks", "hold checks only, such as PrivacyCheck or RateCheck", check)
        check.recorded_claim()  # raises for a claim that no certificate can hold
    repeated = [name for name, count in Counter(check.name for check in listed).items() if count > 1]
    if repeated:
        raise InvalidArgument.of("checks", "have unique names", repeated[0])
    return listed


def collect(targets: Sequence[str], select: str | None = None) -> list[Check]:
    """Return the checks of importable packages or modules, `target.CHECKS`, whose names match a shell pattern."""
    checks = [check for target in targets for check in read_list(target, "CHECKS")]
    chosen = [check for check in checks if select is None or fnmatch.fnmatchcase(check.name, select)]
    if not chosen:
        raise UnknownTarget(f"no check of {', '.join(targets)} matches {select!r}; `dp-audit list` shows the names")
    return require_checks(chosen)


@dataclass(frozen=True)
class _Runner:
    """Runs checks at a place, and keeps their results."""

    share: Allowance
    timeout: float
    place: Place
    progress: Callable[[Result], None] | None = None
    announce: Callable[[Check], None] | None = None
    checkpoint: Checkpoint | None = None
    has_ended: Event = field(default_factory=Event)  # before all checks had

    def on(self, checks: Sequence[Check]) -> dict[str, Result]:
        """Return the results of the checks by name."""
        with ExitStack() as opened:
            home = self.place if self.place.is_local else Place(code=self.place.code)  # for checks with large parts
            # forks, so it comes before the threads of a cluster's client
            here = opened.enter_context(open_pool(home, checks))
            pool = here if self.place.is_local else opened.enter_context(open_pool(self.place))
            large = self._large(checks, pool.width)
            blocks = self.place.share(len(large), pool.width) if large else None
            spread = [check for check in checks if blocks is not None and check.name in large]
            whole = [check for check in checks if blocks is None or check.name not in large]
            return self._side_by_side(whole, pool) | self._side_by_side(spread, here, blocks)

    def _large(self, checks: Sequence[Check], width: int) -> set[str]:
        """Return the checks that take more than one worker's share of the outputs: their blocks go to many workers."""
        budgets = {check.name: check.plan(self.share)[1].budget for check in checks}
        least = max(LEAST_SPREAD, sum(budgets.values()) / width + 1)
        return {check.name for check in checks if isinstance(check, PrivacyCheck) and budgets[check.name] >= least}

    def _side_by_side(self, checks: Sequence[Check], pool: Pool, blocks: Place | None = None) -> dict[str, Result]:
        if min(pool.width, len(checks)) <= 1:  # in this thread: some mechanisms can be called from no other
            return {check.name: self._one(check, pool, blocks) for check in checks}
        threads = ThreadPoolExecutor(pool.width)
        try:
            found = [threads.submit(self._one, check, pool, blocks) for check in checks]
            return {check.name: result.result() for check, result in zip(checks, found, strict=True)}
        except BaseException:
            self.has_ended.set()
            raise
        finally:
            threads.shutdown(wait=False, cancel_futures=True)

    def _one(self, check: Check, pool: Pool, blocks: Place | None) -> Result:
        """Announce a check, run it, keep its result, and tell of it."""
        if self.announce is not None:
            self.announce(check)
        share, lost = replace(self.share, stream=Stream.of(self.share.stream.entropy, check.name)), False
        if check.timeout is not None:
            share = replace(share, setting="timeout={:g}")
        try:
            result: Result = run_check(check, share, check.timeout or self.timeout, pool, blocks)
        except OtherCode:
            raise
        except AuditError as error:
            lost = isinstance(error, Unreachable)
            result = failed_check(check, share, "lost" if lost else "error", str(error))
            if self.has_ended.is_set():
                return result
        if self.checkpoint is not None and not lost:
            self.checkpoint.keep(result)
        if self.progress is not None:
            self.progress(result)
        return result
