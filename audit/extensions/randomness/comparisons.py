"""Compare calls, one long call and two workers: the kinds of dependence of a check of randomness.

Distances (of a period, of a correlation) are chosen on outputs that are not compared.
"""

from __future__ import annotations

import numpy as np

from audit.api import independence

SAME_PLACE, *OF_GROUPS = (
    "same noise in every call",
    "reused between calls",
    "repeats within a call",
    "shared within a call",
)
PERIOD, PERIOD_WITHIN = "short period", "short period within a call"
IN_WORKERS = "same noise in workers"
KINDS = {
    **{kind: independence.OF_CALLS[kind] for kind in (SAME_PLACE, *OF_GROUPS, PERIOD, PERIOD_WITHIN)},
    "serial correlation": "outputs at a fixed distance in a call are correlated",
    IN_WORKERS: "two worker processes give the same outputs at the same place",
}
_LONGEST_SERIAL = 32

Scores = tuple[np.ndarray, np.ndarray]  # the scores, and their values if each Q repeated its P


def describe_comparison(found: independence.SwapComparison) -> str:
    """Return a comparison in words, with its counts and its p-value."""
    at = "at a distance" if found.lag is None else f"at a distance of {found.lag}"
    said = KINDS[found.kind].replace("at a fixed distance", at)
    p = f"p = {found.pvalue:.2g}" if found.pvalue > 0 else "p < 1e-300"
    return f"{said} ({found.won} comparisons won, {found.lost} lost, {found.tied} tied; {p})"


def compare_all(
    calls: independence.Values,
    long: independence.Values,
    workers: independence.Values | None,
    count: int,
    rng: np.random.Generator,
) -> tuple[independence.SwapComparison, ...]:
    """Return all comparisons of `count` short calls of one size, one long call, and two workers if there are some."""
    rows = np.arange(len(calls)).reshape(count, -1)
    found = [
        calls.compare_places(SAME_PLACE, rows, rng),
        *calls.compare_groups(rows, rng),
        calls.compare_ranks(rows, rng),
        calls.compare_period(PERIOD, rng),
        long.compare_period(PERIOD_WITHIN, rng),
        _serial(calls, rows, long),
    ]
    if workers is not None:
        found.append(workers.compare_places(IN_WORKERS, np.arange(len(workers)).reshape(2, -1), rng))
    return tuple(found)


def concordance(values: independence.Values, p: np.ndarray, q: np.ndarray, p2: np.ndarray, q2: np.ndarray) -> Scores:
    """Return the scores of single outputs by their ranks."""
    gap = values.ranks[p] - values.ranks[p2]
    return gap * (values.ranks[q] - values.ranks[q2]), gap**2


def _serial(calls: independence.Values, rows: np.ndarray, long: independence.Values) -> independence.SwapComparison:
    """Compare ranks within the short calls at the distance at which those of the long call are most correlated."""
    longest = min(_LONGEST_SERIAL, rows.shape[1] // 2)
    correlation = independence.autocorrelate(long.ranks - long.ranks.mean())[1 : longest + 1]
    lag = 1 + int(np.argmax(np.abs(correlation)))
    columns = independence.pair_rows(independence.list_partners(rows.shape[1], lag), lag)
    scores, most = concordance(calls, *(rows[:, part].ravel() for part in columns))
    return independence.SwapComparison.of("serial correlation", (scores * np.sign(correlation[lag - 1]), most), lag)
