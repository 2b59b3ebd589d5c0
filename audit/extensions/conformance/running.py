"""Ask a library the questions of the suite: each cell in a process that can be killed, one table for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from audit import AuditError, Verdict
from audit.api import Allowance, InvalidArgument, Place, Pool, Stream, open_pool, run_check, validate
from audit.extensions.conformance.cells import MANY, Cell, CellPart, FirstLook, LawfulCall, cells_of, probe
from audit.extensions.conformance.findings import Finding, judge_looks, judge_parts, list_missing, settle
from audit.extensions.conformance.library import Library
from audit.extensions.conformance.queries import QUERIES

SUSPECTED = 0.01  # probability that any cell of a library without faults is looked at twice, or seems to leave its law


def conform(
    library: Library,
    *,
    queries: Iterable[str] = (),
    cases: Iterable[str] = (),
    seed: int = 0,
    workers: int | None = None,
    timeout: float = 60.0,
    draws: int = MANY,
    confirmation: float = 1e-6,
    progress: Callable[[Finding], object] | None = None,
) -> list[Finding]:
    """Return the finding of each cell of a library.

    Parameters
    ----------
    library : Library
        Which.
    queries, cases : iterable of str
        Names; all by default.
    seed : int >= 0
        Of all draws that take the audit's generator.
    workers : int >= 1, optional
        Processes at a time, by default one for each core.
    timeout : float > 0
        Seconds for the inputs of one cell at one setting of the parameters.
    draws : int >= 2
        Most outputs per dataset.
    confirmation : float in (0, 1)
        Probability that a library without faults has a cell that fails by its outputs. A failure by the noiseless
        values depends on no chance.
    progress : callable, optional
        Called with each finding.

    Returns
    -------
    list of Finding
        Those of the cells in the order of the table, and one for each query that is not offered.

    Raises
    ------
    InvalidArgument
        For a name that is none of the table, or a value outside its admissible set.

    References
    ----------
    Mironov 2012, On significance of the least significant bits; Casacuberta, Shoemate, Vadhan & Wagaman 2022,
    Widespread underestimation of sensitivity in differentially private libraries: attacks among the cases.

    Examples
    --------
    >>> from audit.extensions.conformance import Library, conform
    >>> library = Library("mine", relation="add/remove")
    >>> @library.query("count")
    ... def _(p):
    ...     return lambda data: len(data)
    >>> [(found.status, found.claimed) for found in conform(library, queries=["count"], cases=["ordinary"], workers=1)]
    [('FAIL A', 1.0)]
    """
    chosen = set(queries) or set(QUERIES)
    asked = [(cell, cell.parts()) for cell in cells_of(library, chosen, cases)]
    parts = [part for _, found in asked if not isinstance(found, str) for part in found]
    share = Allowance.of(2, SUSPECTED, seed, confirmation=confirmation).share(max(1, len(parts)))
    inherited = [*parts, *(part.mechanism for part in parts)]  # whether they can be pickled or not
    found = []
    with open_pool(Place(workers=workers), inherited) as pool, ThreadPoolExecutor(pool.width) as threads:
        ask = partial(_ask, _Terms(pool, share, timeout, validate.integer(draws, "draws", at_least=2)))
        for future in [threads.submit(ask, *each) for each in asked]:
            found.append(future.result())
            if progress is not None:
                progress(found[-1])
    return [*found, *list_missing(library, [name for name in QUERIES if name in chosen])]


class _Terms(NamedTuple):
    """Say where cells are asked, and what each part of one may spend."""

    pool: Pool
    share: Allowance
    timeout: float
    draws: int


def _ask(terms: _Terms, cell: Cell, parts: list[CellPart] | str) -> Finding:
    """Return the finding of a cell."""
    if isinstance(parts, str):
        return settle(cell, "does not apply", parts)
    looks = [_look(terms, part) for part in parts]
    if (settled := judge_looks(cell, looks)) is not None:
        return settled
    seen = [(part, look) for part, look in zip(parts, looks, strict=True) if isinstance(look, FirstLook)]
    taken = [(part, look) for part, look in seen if not (look.refused or look.raises)]
    results = [(part, look, _check(terms, part, number)) for number, (part, look) in enumerate(taken)]
    return judge_parts(results, refused=len(parts) - len(taken))


def _look(terms: _Terms, part: CellPart) -> FirstLook | str:
    try:
        part.claim()
    except (ArithmeticError, InvalidArgument) as error:  # of a function that computes it
        return f"its claim cannot be stated at these parameters: {error}"
    except AuditError:
        raise
    except Exception as error:  # the library computes it
        return FirstLook(refused=f"{type(error).__name__}: {error}"[:300])
    try:
        return FirstLook(*terms.pool.call(probe, part, timeout=terms.timeout))
    except AuditError:
        raise
    except Exception as error:  # it took too long, or its process died: the error says which
        return str(error)


def _check(terms: _Terms, part: CellPart, number: int) -> Any:
    """Return the result of a part: by its law alone where outputs follow it, by a game as well where not."""
    check = part.check(f"{part.cell.library.name}/{part.cell.id}/{number}", terms.draws)
    share = replace(terms.share, stream=Stream.of(terms.share.stream.entropy, check.name))
    if isinstance(part.mechanism, LawfulCall):
        by_law = run_check(replace(check, method="exact"), share, terms.timeout, terms.pool)
        if by_law.verdict is Verdict.PASS:
            return by_law
    return run_check(check, share, terms.timeout, terms.pool)
