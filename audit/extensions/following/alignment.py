"""Alignments: the least shift of the noise with which the other dataset shows the same observations.

Noise that is known from one value, or that occurs in comparisons alone, is aligned in closed form with its exact loss;
the rest is a linear program, an integer program for discrete noise, or least squares for Gaussian noise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from audit.extensions.following.noise import INFINITE
from audit.extensions.following.record import Record, join_rows, list_codes

_MOST_ENTRIES = 4_000_000  # of a dense matrix
_ROUNDING = 1e-9  # relative; it is added to a cost, never taken off
GAUSSIAN = "Gaussian noise is compared"
TWO_NUMBERS = "one noise carries two numbers"
SCALE = "the scale of the noise depends on the data"
NO_SHIFT = "no shift of the noise gives the same observations"
OTHERWISE = "a known number compares otherwise on the other dataset"


class _Unaligned(Exception):
    """No shift of the noise gives the same observations."""


@dataclass
class Alignment:
    """Noise for the other dataset, and its cost.

    `cost` is by suprema, whatever the noise was, without the Gaussian part, whose squares are in `square`; `loss` is
    the log ratio of the densities at this noise, with the Gaussian part. `spread` is the mean of the needs of
    the comparisons over the largest need.
    """

    noise: np.ndarray
    spends: np.ndarray
    cost: float = 0.0
    loss: float = 0.0
    square: float = 0.0
    spread: float = 1.0
    reason: str = ""


@dataclass
class _Rows:
    """Rows on both datasets: constants and coefficients."""

    left: np.ndarray
    matrix: sparse.csr_matrix
    right: np.ndarray
    other: sparse.csr_matrix
    counts: np.ndarray = field(init=False)
    rescaled: np.ndarray = field(init=False)  # rows whose coefficients differ between the datasets

    def __post_init__(self) -> None:
        same = np.array_equal(self.matrix.indptr, self.other.indptr)
        if not same or not np.array_equal(self.matrix.indices, self.other.indices):
            raise _Unaligned("different noise enters the observations")
        self.counts = np.diff(self.matrix.indptr)
        differ = np.abs(self.matrix.data - self.other.data) > 1e-12 * np.abs(self.matrix.data)
        self.rescaled = np.zeros(len(self.counts), bool)
        self.rescaled[np.repeat(np.arange(len(self.counts)), self.counts)[differ]] = True

    @property
    def singles(self) -> np.ndarray:
        """Places of the rows with one noise."""
        return np.flatnonzero(self.counts == 1)

    def noise_of(self, rows: np.ndarray) -> np.ndarray:
        """The noise in rows that have one."""
        return self.matrix.indices[self.matrix.indptr[rows]]


def align(left: Record, right: Record, solved: dict[bytes, Any] | None = None) -> Alignment:
    """Return the least shift for the observations of `left`, which `right` was forced to show."""
    size = len(left.noise)
    result = Alignment(left.noise.copy(), np.zeros(size))
    try:
        _check_draws(left, right)
        _charge_choices(left, right, result)
        values, truths = _gather(left, right, ("value",)), _gather(left, right, ("truth", "place"))
        _Program(left, values, truths, result, {} if solved is None else solved).run()
    except _Unaligned as error:
        result.reason, result.cost, result.loss = str(error), INFINITE, INFINITE
        return result
    result.cost += _ROUNDING * abs(result.cost) if np.isfinite(result.cost) else 0.0
    return result


def _check_draws(left: Record, right: Record) -> None:
    draws = [[(draw.law, draw.shape) for draw in record.draws] for record in (left, right)]
    kinds = [[(shown.kind, shown.tag) for shown in record.observations] for record in (left, right)]
    if draws[0] != draws[1] or kinds[0] != kinds[1]:
        raise _Unaligned("the two datasets draw or look at different noise")


def _charge_choices(left: Record, right: Record, result: Alignment) -> None:
    for shown, other in zip(left.observations, right.observations, strict=True):
        if shown.kind == "choice":
            price = shown.measure(shown.result) - other.measure(other.result)
            if price == INFINITE or np.isnan(price):
                raise _Unaligned("a choice that the other dataset cannot make")
            result.cost += price
            result.loss += price


def _gather(left: Record, right: Record, kinds: tuple[str, ...]) -> _Rows:
    pairs = [
        (shown.rows, other.rows)
        for shown, other in zip(left.observations, right.observations, strict=True)
        if shown.kind in kinds and shown.rows is not None and other.rows is not None
    ]
    constants, matrix = join_rows([rows for rows, _ in pairs], len(left.noise))
    others, other = join_rows([rows for _, rows in pairs], len(left.noise))
    if constants.shape != others.shape:
        raise _Unaligned("different noise enters the observations")
    return _Rows(constants, matrix, others, other)


def _select(matrix: sparse.csr_matrix, rows: np.ndarray) -> sparse.csr_matrix:
    return matrix if len(rows) == matrix.shape[0] else matrix[rows]


class _Program:
    """The alignment of one pair of records."""

    def __init__(
        self, record: Record, values: _Rows, truths: _Rows, result: Alignment, solved: dict[bytes, Any]
    ) -> None:
        self.record, self.values, self.truths, self.result, self.solved = record, values, truths, result, solved
        self.old = record.noise
        self.codes = record.codes
        self.joint = np.zeros(len(self.old), bool)  # noise of rows with several noises
        for rows in (values, truths):
            self.joint[rows.matrix.indices[np.repeat(rows.counts > 1, rows.counts)]] = True
        self.known = np.zeros(len(self.old), bool)

    def run(self) -> None:
        """Align all noise and see that the observations hold."""
        if np.any((self.truths.counts == 0) & (self.truths.right < 0)):
            raise _Unaligned("the output shows data without noise")
        values, truths = np.ones(len(self.values.left), bool), self.truths.counts > 0
        values[self._fix_known()] = truths[self._fix_alone()] = False
        self._solve_rest(np.flatnonzero(values), np.flatnonzero(truths))
        self._verify()

    def _law(self, place: int) -> Any:
        return self.record.kinds[self.codes[place]]

    def _fix_known(self) -> np.ndarray:
        """Align noise that one value shows."""
        values, result = self.values, self.result
        rows = values.singles
        rows = rows[~self.joint[values.noise_of(rows)]]
        noise, at = values.noise_of(rows), values.matrix.indptr[rows]
        scale, other_scale = values.matrix.data[at], values.other.data[at]
        moved = (values.left[rows] + scale * self.old[noise] - values.right[rows]) / other_scale
        result.noise[noise] = moved
        self.known[noise] = True
        _, first = np.unique(noise, return_index=True)
        for code in list_codes(self.codes[noise[first]]):
            mine = first[self.codes[noise[first]] == code]
            self._charge_known(rows[mine], noise[mine], scale[mine], other_scale[mine], moved[mine])
        return rows

    def _charge_known(self, rows: Any, noise: Any, scale: Any, other_scale: Any, moved: Any) -> None:
        law, result, old = self._law(noise[0]), self.result, self.old[noise]
        is_shift = np.abs(np.abs(scale) - np.abs(other_scale)) <= 1e-12 * np.abs(scale)
        shift = np.where(is_shift, (self.values.left[rows] - self.values.right[rows]) / scale, moved - old)
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = law.log_density(old) - law.log_density(moved) + np.log(np.abs(other_scale)) - np.log(np.abs(scale))
        result.loss += float(loss.sum())
        if law.is_normal:
            spends = np.where(is_shift, shift**2, INFINITE)
            result.square += float(spends.sum())
        else:
            spends = np.where(is_shift, law.cost_of(shift), INFINITE)
            result.cost += float(spends.sum())
        result.spends[noise] = spends

    def _fix_alone(self) -> np.ndarray:
        """Align noise that occurs in comparisons alone, each by itself: they show an interval."""
        truths = self.truths
        rows = truths.singles
        noise = truths.noise_of(rows)
        free = ~self.joint[noise] & np.array([not self._law(place).is_discrete for place in noise], bool)
        rows, noise = rows[free], noise[free]
        for place in np.unique(noise[~self.known[noise]]):
            self._charge_interval(place, rows[noise == place])
        return rows

    def _charge_interval(self, place: int, rows: np.ndarray) -> None:
        truths, law, result = self.truths, self._law(place), self.result
        at, ends = truths.matrix.indptr[rows], []
        for constants, weights in ((truths.left, truths.matrix.data[at]), (truths.right, truths.other.data[at])):
            border = -constants[rows] / weights
            ends.append((max(border[weights > 0], default=-np.inf), min(border[weights < 0], default=np.inf)))
        old, new = ends
        if new[0] >= new[1]:
            raise _Unaligned("impossible on the other dataset")
        loss = law.log_mass(*old) - law.log_mass(*new)
        if np.isnan(loss) or loss == INFINITE:
            raise _Unaligned("impossible on the other dataset")
        need = (truths.left[rows] - truths.right[rows]) / truths.matrix.data[at]
        low = max(need[truths.matrix.data[at] > 0], default=-np.inf)
        high = min(need[truths.matrix.data[at] < 0], default=np.inf)
        shift = min(max(0.0, low), high)
        cost = float(law.cost_of(np.array(shift))) if low <= high and not truths.rescaled[rows].any() else INFINITE
        is_shift = np.isfinite(cost) and not law.is_normal
        moved = self.old[place] + shift if is_shift else law.move_into(float(self.old[place]), old, new)
        result.noise[place] = moved
        spent = max(cost, loss) if is_shift else loss
        result.spends[place] = spent
        result.cost += spent
        result.loss += loss

    def _solve_rest(self, value_rows: np.ndarray, truth_rows: np.ndarray) -> None:
        """Align the remaining rows by programs."""
        if not len(value_rows) and not len(truth_rows):
            return
        if self.values.rescaled[value_rows].any() or self.truths.rescaled[truth_rows].any():
            raise _Unaligned(SCALE)
        equal, least = _select(self.values.matrix, value_rows), _select(self.truths.matrix, truth_rows)
        equal_by = (self.values.left - self.values.right)[value_rows]
        least_by = (self.truths.left - self.truths.right)[truth_rows]
        columns = np.flatnonzero(np.bincount(np.r_[equal.indices, least.indices], minlength=len(self.old)))
        normal = np.array([law.is_normal for law in self.record.kinds], bool)[self.codes[columns]]
        if normal.any():
            if least[:, columns[normal]].nnz:
                raise _Unaligned(GAUSSIAN)
            has_normal = np.diff(equal[:, columns[normal]].indptr) > 0
            if equal[has_normal][:, columns[~normal]].nnz:
                raise _Unaligned("one value has Gaussian noise and other noise")
            self._solve_squares(equal[has_normal], equal_by[has_normal], columns[normal])
            equal, equal_by = equal[~has_normal], equal_by[~has_normal]
            columns = columns[~normal]
        if len(columns):
            if len(columns) < len(self.old):
                equal, least = equal[:, columns], least[:, columns]
            self._solve_linear(equal, equal_by, least, least_by, columns)

    def _solve_squares(self, equal: Any, by: np.ndarray, columns: np.ndarray) -> None:
        if len(columns) * len(by) > _MOST_ENTRIES:
            raise _Unaligned("too many values of several Gaussian noises")
        matrix = equal[:, columns].toarray()
        shift = np.linalg.lstsq(matrix, by, rcond=None)[0]
        result = self.result
        self._move(columns, shift)
        result.spends[columns] = shift**2
        result.square += float(shift @ shift)

    def _solve_linear(self, equal: Any, equal_by: Any, least: Any, least_by: Any, columns: np.ndarray) -> None:
        laws = [self._law(place) for place in columns]
        parts = (equal.indptr, equal.indices, equal.data, least.indptr, least.indices, least.data, equal_by, least_by)
        key = b"|".join([*(np.ascontiguousarray(part).tobytes() for part in parts), repr(laws).encode()])
        if key not in self.solved:
            self.solved[key] = _solve(equal, equal_by, least, least_by, laws)
        shift, spends = self.solved[key]
        self._move(columns, shift)
        if np.any(least_by > 0):
            self.result.spread = float(np.maximum(least_by, 0).mean() / least_by.max())
        self.result.spends[columns] = spends
        self.result.cost += float(spends.sum())

    def _move(self, columns: np.ndarray, shift: np.ndarray) -> None:
        result, old = self.result, self.old[columns]
        result.noise[columns] = old + shift
        for code in list_codes(self.codes[columns]):
            mine, law = self.codes[columns] == code, self.record.kinds[code]
            with np.errstate(invalid="ignore"):
                loss = law.log_density(old[mine]) - law.log_density(old[mine] + shift[mine])
            result.loss += float(loss[shift[mine] != 0].sum())

    def _verify(self) -> None:
        """See that the moved noise gives the same observations, whatever found it."""
        noise = self.result.noise
        seen, wanted = self.values.other @ noise + self.values.right, self.values.matrix @ self.old + self.values.left
        if np.any(np.abs(seen - wanted) > 1e-9 * (1 + np.abs(wanted))):
            raise _Unaligned(TWO_NUMBERS)
        margin = self.truths.other @ noise + self.truths.right
        if np.any(margin < -1e-9 * (1 + np.abs(self.truths.right))):
            raise _Unaligned(OTHERWISE)


def _solve(equal: Any, equal_by: Any, least: Any, least_by: Any, laws: list[Any]) -> tuple[np.ndarray, ...]:
    """Return the cheapest shift with `equal @ shift == equal_by` and `least @ shift >= least_by`, and its costs."""
    size = len(laws)
    if not equal_by.any() and np.all(least_by <= 0):
        return np.zeros(size), np.zeros(size)
    if not len(equal_by) and (place := _find_winner(least, laws)) is not None:
        shift = np.zeros(size)
        shift[place] = least_by.max() / np.abs(least.data[0])
        return shift, np.where(shift, laws[0].cost_of(shift[place]), 0.0)
    from scipy import optimize  # takes long to import, and most noise is aligned without

    prices = np.array([[law.prices[side] for law in laws] for side in (0, 1)]).ravel()
    upper = np.where(np.isfinite(prices), np.inf, 0.0)
    prices = np.where(np.isfinite(prices), prices, 0.0)
    both = sparse.hstack([equal, -equal]).tocsr(), sparse.hstack([least, -least]).tocsr()
    if any(law.is_discrete for law in laws):
        constraints = [optimize.LinearConstraint(both[0], equal_by, equal_by)] if len(equal_by) else []
        constraints += [optimize.LinearConstraint(both[1], least_by, np.inf)] if len(least_by) else []
        whole = np.array([law.is_discrete for law in laws] * 2, int)
        found = optimize.milp(prices, constraints=constraints, integrality=whole, bounds=optimize.Bounds(0, upper))
    else:
        found = optimize.linprog(
            prices,
            A_ub=-both[1] if len(least_by) else None,
            b_ub=-least_by if len(least_by) else None,
            A_eq=both[0] if len(equal_by) else None,
            b_eq=equal_by if len(equal_by) else None,
            bounds=np.c_[np.zeros(2 * size), upper],
            method="highs",
        )
    if found.x is None:
        raise _Unaligned(NO_SHIFT)
    shift = found.x[:size] - found.x[size:]
    return shift, prices[:size] * found.x[:size] + prices[size:] * found.x[size:]


def _find_winner(least: Any, laws: list[Any]) -> int | None:
    """Return the noise to raise where one is at least each of some others: the cheapest shift raises it alone.

    To lower another one costs no less by any law, where all have the same law and scale.
    """
    law, count = laws[0], len(laws)
    sizes, place = np.abs(least.data), least.indices[least.data.argmax()]
    is_one = len(least.indices) == 2 * (count - 1) == 2 * least.shape[0] and set(laws) == {law}
    if not is_one or law.is_discrete or not np.isfinite(law.prices[0]) or not np.allclose(sizes, sizes[0], rtol=1e-12):
        return None
    raised = least.indices[least.data > 0]
    return int(place) if len(raised) == count - 1 and np.all(raised == place) else None


def solve_program(least: np.ndarray, by: np.ndarray, laws: list[Any]) -> np.ndarray | None:
    """Return the cheapest shift with `least @ shift >= by`, or None."""
    if any(law.is_normal for law in laws):
        return None
    none = sparse.csr_matrix((0, len(laws)))
    try:
        return _solve(none, np.zeros(0), sparse.csr_matrix(least), by, laws)[0]
    except _Unaligned:
        return None
