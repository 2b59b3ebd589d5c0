"""A run: collects checks, shares out one significance over them, runs each, and reports."""

from __future__ import annotations

import fnmatch
import importlib
import queue
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import joblib

from audit.arguments import integer, open_probability, positive
from audit.checks import DEFAULT_BUDGET, DEFAULT_SIGNIFICANCE
from audit.contract import Check, Result
from audit.errors import AuditError, InvalidArgument, UnknownTarget
from audit.isolation import Worker, run_isolated
from audit.kinds import examine, failed, kind_of
from audit.report.certificate import Report
from audit.sampling import Stream

DEFAULT_TIMEOUT = 600.0

Progress = Callable[[Result], None]


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

    Raises
    ------
    AuditError
        For arguments outside their admissible sets, no checks, or two checks of one name; before anything is drawn.
    """
    listed = require_checks(checks)
    settings = Settings(significance, budget, seed, workers, timeout)
    share = settings.significance / len(listed)
    if settings.workers == 0:
        results = [_told(_run_here(check, settings, share), progress) for check in listed]
    else:
        results = _run_on_workers(listed, settings, share, progress)
    return Report(results, settings.significance, settings.budget, settings.seed)


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
    return Stream(seed, (zlib.crc32(check.name.encode()),))


def _run_here(check: Check, settings: Settings, share: float) -> Result:
    try:
        return examine(check, settings.budget, share, stream_of(check, settings.seed))
    except AuditError as error:
        return failed(check, settings.budget, share, "error", str(error), 0.0)


def _run_on_workers(
    checks: list[Check], settings: Settings, share: float, progress: Progress | None
) -> list[Result]:
    count = min(settings.workers, len(checks))
    idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
    crew = [Worker() for _ in range(count)]
    for worker in crew:
        idle.put(worker)

    def one(check: Check) -> Result:
        worker = idle.get()
        try:
            result = run_isolated(
                check,
                settings.budget,
                share,
                stream_of(check, settings.seed),
                check.timeout or settings.timeout,
                worker,
            )
        except AuditError as error:
            result = failed(check, settings.budget, share, "error", str(error), 0.0)
        finally:
            idle.put(worker)
        return _told(result, progress)

    try:
        results: list[Result] = joblib.Parallel(n_jobs=count, prefer="threads")(
            joblib.delayed(one)(check) for check in checks
        )
        return results
    finally:
        for worker in crew:
            worker.close()


def _told(result: Result, progress: Progress | None) -> Result:
    if progress is not None:
        progress(result)
    return result
