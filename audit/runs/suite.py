"""A run: collects checks, shares out one significance over them, runs each, and reports."""

from __future__ import annotations

import fnmatch
import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from audit.base.arguments import integer, open_probability, positive
from audit.base.defaults import DEFAULT_BUDGET, DEFAULT_SIGNIFICANCE, DEFAULT_TIMEOUT
from audit.base.errors import AuditError, InvalidArgument, UnknownTarget
from audit.checks.contract import Check, Result
from audit.checks.isolation import run_isolated
from audit.checks.kinds import failed, kind_of
from audit.checks.privacy.check import PrivacyCheck
from audit.report.certificate import Report
from audit.report.provenance import versions
from audit.runs.agreement import require_same_code
from audit.runs.checkpoint import Checkpoint, plan_of
from audit.runs.targets import listed_in
from audit.subjects import BLOCK, Stream
from audit.subjects.workers import DEFAULT_EXECUTOR, Executor, Unreachable, open_executor, require_executor
from audit.subjects.workers.processes import Processes

LEAST_SPREAD = 32 * BLOCK  # outputs a side below which the blocks of a check are not worth sending around

Progress = Callable[[Result], None]
Announce = Callable[[Check], None]


@dataclass(frozen=True)
class Settings:
    """What all checks of a run share.

    Parameters
    ----------
    significance : float in (0, 1)
        Probability that any true claim of the run is judged FAIL; shared out equally.
    budget : int >= 2
        Outputs a side, or losses and trials in all, for each check that states no budget of its own.
    seed : int >= 0
        Every check derives its streams from this and from its name, so that a selection repeats the same draws.
    workers : int >= 0, optional
        Local processes, 2 unless given; 0 means the executor "serial". A cluster has its own.
    timeout : float > 0
        Seconds for a check that states no limit of its own.
    executor : str
        "processes" for processes on this machine, "serial" for this process, where a subject that hangs or dies ends
        the run, or "dask://scheduler:port". The evidence is the same.
    """

    significance: float = DEFAULT_SIGNIFICANCE
    budget: int = DEFAULT_BUDGET
    seed: int = 0
    workers: int | None = None
    timeout: float = DEFAULT_TIMEOUT
    executor: str = DEFAULT_EXECUTOR

    def __post_init__(self) -> None:
        open_probability(self.significance, "significance")
        positive(self.timeout, "timeout")
        for name, least in (("budget", 2), ("seed", 0), ("workers", 0)):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, integer(getattr(self, name), name, at_least=least))
        require_executor(*self.place)

    @property
    def place(self) -> tuple[str, int | None]:
        """Executor and workers, as for `open_executor`."""
        in_this_process = self.workers == 0 and self.executor in (DEFAULT_EXECUTOR, "serial")
        return ("serial", None) if in_this_process else (self.executor, self.workers)


def run(
    checks: Iterable[Check],
    *,
    significance: float = DEFAULT_SIGNIFICANCE,
    budget: int = DEFAULT_BUDGET,
    seed: int = 0,
    workers: int | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    executor: str = DEFAULT_EXECUTOR,
    progress: Progress | None = None,
    announce: Announce | None = None,
    targets: Sequence[str] = (),
    checkpoint: Checkpoint | None = None,
) -> Report:
    """Run checks and report.

    The probability that any true claim is judged FAIL is at most `significance`, over the randomness of all
    draws: each of the k checks gets significance / k. See `Settings` for the other parameters.

    Parameters
    ----------
    checks : iterable of checks, of one kind or several
        At least one; names are unique.
    progress : callable, optional
        Called with every result as it comes, in no particular order.
    announce : callable, optional
        Called with every check when it begins.
    targets : sequence of str
        Where the checks are from, for the certificate.
    checkpoint : Checkpoint, optional
        Keeps every finished check; those that it holds already are not audited again. A check whose workers were
        lost is INCONCLUSIVE, and not kept.

    Raises
    ------
    AuditError
        For arguments outside their admissible sets, no checks, two checks of one name, or a cluster that does not
        answer or runs other code; before anything is drawn.
    """
    listed = require_checks(checks)
    settings = Settings(significance, budget, seed, workers, timeout, executor)
    crew = _Crew(settings, settings.significance / len(listed), progress, announce, checkpoint)
    done = {} if checkpoint is None else {check.name: checkpoint.recorded(check) for check in listed}
    fresh = crew.run([check for check in listed if done.get(check.name) is None], targets)
    results = [done.get(check.name) or fresh[check.name] for check in listed]
    plan = None if checkpoint is None else checkpoint.plan
    return Report(results, settings.significance, settings.budget, settings.seed, targets=targets, plan=plan)


def checkpoint_for(checks: Sequence[Check], settings: Settings, targets: Sequence[str], directory: Path) -> Checkpoint:
    """The checkpoint of a run whose certificate goes to a folder; nothing is read or written yet."""
    decisive = {name: getattr(settings, name) for name in ("significance", "budget", "seed", "timeout")}
    return Checkpoint(directory, plan_of(checks, decisive, targets), [check.name for check in checks])


def require_checks(checks: Iterable[Check]) -> list[Check]:
    """Return the checks as a list; raise unless there is one at least, all are checks, and names are unique."""
    listed = list(checks)
    if not listed:
        raise InvalidArgument("`checks` must hold at least one check, got none")
    for check in listed:
        kind_of(check).require(check)
    repeated = [name for name, count in Counter(check.name for check in listed).items() if count > 1]
    if repeated:
        raise InvalidArgument.of("checks", "have unique names", repeated[0])
    return listed


def collect(targets: Sequence[str], select: str | None = None) -> list[Check]:
    """The checks of importable packages or modules, `target.CHECKS`; `select` is a shell pattern for names.

    Raises
    ------
    UnknownTarget
        When a target cannot be imported, has no `CHECKS`, or nothing matches.
    """
    checks: list[Check] = []
    for target in targets:
        checks += listed_in(target, "CHECKS")
    chosen = [check for check in checks if select is None or fnmatch.fnmatchcase(check.name, select)]
    if not chosen:
        raise UnknownTarget(f"no check of {', '.join(targets)} matches {select!r}; `dp-audit list` shows the names")
    return require_checks(chosen)


def stream_of(check: Check, seed: int) -> Stream:
    """The stream of one check: depends on the run's seed and the check's name only."""
    return Stream(seed, (zlib.crc32(check.name.encode(errors="surrogatepass")),))


@dataclass(frozen=True)
class _Crew:
    """Has the checks audited wherever the settings say, and keeps what comes back."""

    settings: Settings
    share: float
    progress: Progress | None = None
    announce: Announce | None = None
    checkpoint: Checkpoint | None = None

    def run(self, checks: Sequence[Check], targets: Sequence[str]) -> dict[str, Result]:
        """The results of the checks, by name."""
        if not checks:
            return {}
        with open_executor(*self.settings.place) as executor:
            require_same_code(executor, checks, targets, versions)
            large = self._large(checks, executor.width)
            crew = executor.crew_of_each(len(large)) if large else None
            spread = [check for check in checks if crew is not None and check.name in large]
            whole = [check for check in checks if crew is None or check.name not in large]
            results = self._side_by_side(whole, executor.width, lambda check: self._there(check, executor))
            with Processes(workers=min(len(spread), os.cpu_count() or 1)) as here:
                return results | self._side_by_side(spread, here.width, lambda check: self._there(check, here, crew))

    def _large(self, checks: Sequence[Check], width: int) -> set[str]:
        """The checks that take more than one worker's share of the outputs: their blocks go to many workers."""
        budgets = {check.name: check.budget or self.settings.budget for check in checks}
        least = max(LEAST_SPREAD, sum(budgets.values()) / width + 1)
        return {check.name for check in checks if isinstance(check, PrivacyCheck) and budgets[check.name] >= least}

    def _side_by_side(
        self, checks: Sequence[Check], width: int, audited: Callable[[Check], Result]
    ) -> dict[str, Result]:
        if width <= 1:  # in this thread: a subject may be one that can be called from no other
            return {check.name: self._attended(check, audited) for check in checks}
        threads = ThreadPoolExecutor(width)
        try:
            found = [threads.submit(self._attended, check, audited) for check in checks]
            return {check.name: result.result() for check, result in zip(checks, found, strict=True)}
        finally:
            threads.shutdown(wait=False, cancel_futures=True)

    def _attended(self, check: Check, audited: Callable[[Check], Result]) -> Result:
        """Announce a check, audit it, keep its result, and tell of it."""
        if self.announce is not None:
            self.announce(check)
        lost = False
        try:
            result = audited(check)
        except AuditError as error:
            lost = isinstance(error, Unreachable)
            result = failed(check, self.settings.budget, self.share, "lost" if lost else "error", str(error), 0.0)
        if self.checkpoint is not None and not lost:
            self.checkpoint.keep(result)
        if self.progress is not None:
            self.progress(result)
        return result

    def _there(self, check: Check, worker: Executor, crew: Callable[[], Executor] | None = None) -> Result:
        """Audit on a worker, which may have the blocks drawn by a crew."""
        settings = self.settings
        stream, timeout = stream_of(check, settings.seed), check.timeout or settings.timeout
        result: Result = run_isolated(check, settings.budget, self.share, stream, timeout, worker, crew)
        return result
