"""A run: collects checks, shares out one significance over them, runs each, and reports."""

from __future__ import annotations

import fnmatch
import importlib
import queue
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib

from audit.arguments import integer, open_probability, positive
from audit.checkpoint import Checkpoint, plan_of
from audit.checks import DEFAULT_BUDGET, DEFAULT_SIGNIFICANCE
from audit.contract import Check, Result
from audit.errors import AuditError, InvalidArgument, UnknownTarget
from audit.isolation import Worker, run_isolated
from audit.kinds import examine, failed, kind_of
from audit.report.certificate import Report
from audit.sampling import Stream

DEFAULT_TIMEOUT = 600.0

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
    workers : int >= 0
        Processes; 0 runs every check in this process, where a subject that hangs or dies ends the run.
    timeout : float > 0
        Seconds for a check that states no limit of its own.
    """

    significance: float = DEFAULT_SIGNIFICANCE
    budget: int = DEFAULT_BUDGET
    seed: int = 0
    workers: int = 2
    timeout: float = DEFAULT_TIMEOUT

    def __post_init__(self) -> None:
        open_probability(self.significance, "significance")
        positive(self.timeout, "timeout")
        for name, least in (("budget", 2), ("seed", 0), ("workers", 0)):
            object.__setattr__(self, name, integer(getattr(self, name), name, at_least=least))


def run(
    checks: Iterable[Check],
    *,
    significance: float = DEFAULT_SIGNIFICANCE,
    budget: int = DEFAULT_BUDGET,
    seed: int = 0,
    workers: int = 2,
    timeout: float = DEFAULT_TIMEOUT,
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
        Keeps every finished check; those that it holds already are not audited again.

    Raises
    ------
    AuditError
        For arguments outside their admissible sets, no checks, or two checks of one name; before anything is drawn.
    """
    listed = require_checks(checks)
    settings = Settings(significance, budget, seed, workers, timeout)
    crew = _Crew(settings, settings.significance / len(listed), progress, announce, checkpoint)
    done = {} if checkpoint is None else {check.name: checkpoint.recorded(check) for check in listed}
    fresh = iter(crew.run([check for check in listed if done.get(check.name) is None]))
    results = [done.get(check.name) or next(fresh) for check in listed]
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
        checks += _checks_of(target)
    chosen = [check for check in checks if select is None or fnmatch.fnmatchcase(check.name, select)]
    if not chosen:
        raise UnknownTarget(f"no check of {', '.join(targets)} matches {select!r}; `dp-audit list` shows the names")
    return require_checks(chosen)


def _checks_of(target: str) -> list[Check]:
    try:
        module = importlib.import_module(target)
    except AuditError:
        raise
    except Exception as error:
        raise UnknownTarget(f"target {target!r} cannot be imported: {type(error).__name__}: {error}") from error
    found: Any = getattr(module, "CHECKS", None)
    if not found:
        raise UnknownTarget(f"target {target!r} has no CHECKS, or none in them")
    return list(found)


def stream_of(check: Check, seed: int) -> Stream:
    """The stream of one check: depends on the run's seed and the check's name only."""
    return Stream(seed, (zlib.crc32(check.name.encode(errors="surrogatepass")),))


@dataclass(frozen=True)
class _Crew:
    """Whoever runs the checks: this process, or workers of their own."""

    settings: Settings
    share: float
    progress: Progress | None = None
    announce: Announce | None = None
    checkpoint: Checkpoint | None = None

    def run(self, checks: list[Check]) -> list[Result]:
        """The results of the checks, in their order."""
        if not checks:
            return []
        if self.settings.workers == 0:
            return [self._attended(check, self._here) for check in checks]
        return self._on_workers(checks)

    def _on_workers(self, checks: list[Check]) -> list[Result]:
        count = min(self.settings.workers, len(checks))
        idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        workers = [Worker() for _ in range(count)]
        for worker in workers:
            idle.put(worker)

        def one(check: Check) -> Result:
            worker = idle.get()
            try:
                return self._attended(check, lambda check: self._there(check, worker))
            finally:
                idle.put(worker)

        try:
            results: list[Result] = joblib.Parallel(n_jobs=count, prefer="threads")(
                joblib.delayed(one)(check) for check in checks
            )
            return results
        finally:
            for worker in workers:
                worker.close()

    def _attended(self, check: Check, audited: Callable[[Check], Result]) -> Result:
        """Announce a check, audit it, keep its result, and tell of it."""
        if self.announce is not None:
            self.announce(check)
        try:
            result = audited(check)
        except AuditError as error:
            result = failed(check, self.settings.budget, self.share, "error", str(error), 0.0)
        if self.checkpoint is not None:
            self.checkpoint.keep(result)
        if self.progress is not None:
            self.progress(result)
        return result

    def _here(self, check: Check) -> Result:
        return examine(check, self.settings.budget, self.share, stream_of(check, self.settings.seed))

    def _there(self, check: Check, worker: Worker) -> Result:
        settings = self.settings
        stream = stream_of(check, settings.seed)
        timeout = check.timeout or settings.timeout
        result: Result = run_isolated(check, settings.budget, self.share, stream, timeout, worker)
        return result
