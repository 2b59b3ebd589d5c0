"""What the experts look at: columns of numbers read from the outputs, and keys of outputs that repeat."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from audit.game.scorers.atoms import atom_keys
from audit.game.sequential.experts import AtomExpert, CellExpert, Expert, FamilyExpert, NoOpinion, StatedExpert
from audit.game.sequential.linear import LinearExpert
from audit.game.sequential.scale import Scale
from audit.game.sequential.shapes import families
from audit.subjects import Outputs

Score = Callable[[Outputs], np.ndarray]

_SHARES = {"Laplace": 6.0, "Gaussian": 5.0, "steps": 0.5, "folded steps": 0.3}  # prior weights
_CHEAP_FAMILIES = ("Laplace", "steps")  # on each column of a vector
_CELLS = 1.6
_ATOMS = 8.0  # asleep on outputs that do not repeat, so that much weight costs the others nothing
_LINEAR = 3.0
_KINDS = 0.5
_CAUTION = 0.5  # prior weight of having no opinion
_COORDINATES = 4  # coordinates of a vector that are read on their own
_REFIT_ALWAYS = 40  # outputs up to which the scale follows every batch
_REFIT_GROWTH, _LATER_GROWTH = 1.06, 1.35  # then at every growth by this factor, later by that one
_REFIT_OFTEN = 400  # outputs up to which the first factor holds
_LAST_REFIT = 5000  # outputs from which the scale stays
_LARGEST_RATIO = 30.0


class Panel:
    """Experts on one column, which is centred and scaled by past outputs.

    Parameters
    ----------
    name : str
        Of the column; empty when there is only one.
    experts : sequence of (Expert, float)
        With prior weights.
    scaled : bool
        Whether the column is standardised before the experts see it.
    """

    def __init__(self, name: str, experts: Sequence[tuple[Expert, float]], scaled: bool = True) -> None:
        self.experts = [expert for expert, _ in experts]
        self.prior = [weight / len(expert.names) for expert, weight in experts for _ in expert.names]
        names = [own for expert in self.experts for own in expert.names]
        self.names = [f"{own} on {name}" if name else own for own in names]
        self._scaled = scaled
        self._scale: Scale | None = None
        self._values: list[np.ndarray] = []
        self._left: list[np.ndarray] = []
        self._seen, self._refit_at = 0, 0

    def predict(self, values: np.ndarray) -> np.ndarray:
        """Opinions of all experts, shape (K, n)."""
        if not self._scaled:
            return np.vstack([expert.predict(values) for expert in self.experts])
        if self._scale is None:
            return np.full((len(self.names), len(values)), np.nan)
        scaled = self._scale(values)
        return np.vstack([expert.predict(scaled) for expert in self.experts])

    def add(self, values: np.ndarray, left: np.ndarray) -> None:
        """Learn from outputs that were bet on."""
        self._seen += len(values)
        if self._scaled and self._seen <= _LAST_REFIT:
            self._values.append(values)
            self._left.append(left)
            if self._seen >= self._refit_at or self._scale is None:
                self._refit()
                return
        if not self._scaled or self._scale is not None:
            shown = self._scale(values) if self._scale is not None else values
            for expert in self.experts:
                expert.add(shown, left)

    def _refit(self) -> None:
        values, left = np.concatenate(self._values), np.concatenate(self._left)
        self._values, self._left = [values], [left]
        self._scale = Scale.of(values)
        growth = _REFIT_GROWTH if self._seen < _REFIT_OFTEN else _LATER_GROWTH
        self._refit_at = 0 if self._seen < _REFIT_ALWAYS else int(self._seen * growth)
        if self._scale is not None:
            shown = self._scale(values)
            for expert in self.experts:
                expert.fit(shown, left)


class Board:
    """All panels, and how an output is read into their columns; laid out by the first outputs that come."""

    def __init__(self, first: Outputs, score: Score | None) -> None:
        self._score = score
        self._columns = _columns(first)
        panels = [Panel(name, _line_experts(1 / len(self._columns), whole=not name)) for name, _ in self._columns]
        panels += [Panel("", [(AtomExpert("repeated outputs"), _ATOMS)], scaled=False)]
        panels += [Panel("", [(AtomExpert("kinds of symbols"), _KINDS), (NoOpinion(), _CAUTION)], scaled=False)]
        self._width = None if first.is_scalar else first.numbers.shape[1]
        if self._width:
            panels += [Panel("", [(LinearExpert(), _LINEAR)], scaled=False)]
        if score is not None:
            panels += [Panel("", [(StatedExpert(), 8.0)], scaled=False)]
            panels += [Panel("the stated ratio", _line_experts(1.0, whole=True))]
        self._panels = panels
        self.names = [name for panel in panels for name in panel.names]
        self.log_prior = np.log([weight for panel in panels for weight in panel.prior])

    def read(self, outputs: Outputs) -> list[np.ndarray]:
        """One column of values for each panel."""
        with np.errstate(over="ignore", invalid="ignore"):
            columns = [_shaped(read, outputs) for _, read in self._columns]
        columns += [atom_keys(outputs), _kinds(outputs)]
        if self._width:
            columns += [_whole(outputs, self._width)]
        if self._score is not None:
            ratios = _stated(self._score, outputs)
            columns += [ratios, ratios]
        return columns

    def predict(self, columns: list[np.ndarray]) -> np.ndarray:
        """Opinions of all experts, shape (K, n)."""
        return np.vstack([panel.predict(values) for panel, values in zip(self._panels, columns, strict=True)])

    def add(self, columns: list[np.ndarray], left: np.ndarray) -> None:
        """Learn from outputs that were bet on."""
        for panel, values in zip(self._panels, columns, strict=True):
            panel.add(values, left)


def _line_experts(weight: float, whole: bool) -> list[tuple[Expert, float]]:
    """Experts on one column; on one of many, those that are cheap for what they find."""
    played = [f for f in families() if whole or f.name in _CHEAP_FAMILIES]
    parametric: list[tuple[Expert, float]] = [(FamilyExpert(f), weight * _SHARES[f.name]) for f in played]
    return [*parametric, (CellExpert(), _CELLS * weight)]


Reader = Callable[[np.ndarray], np.ndarray]


def _columns(first: Outputs) -> list[tuple[str, Reader]]:
    """Names of the columns, and how each is read from the numbers."""
    if first.is_scalar:
        return [("", lambda x: x)]
    width = first.numbers.shape[1]
    columns: list[tuple[str, Reader]] = [
        ("the sum", lambda x: x.sum(axis=1)),
        ("the norm", lambda x: np.sqrt(np.square(x).sum(axis=1))),
        ("the maximum", lambda x: x.max(axis=1, initial=-np.inf)),
    ]
    return columns + [(f"coordinate {i}", _coordinate(i)) for i in range(min(width, _COORDINATES))]


def _coordinate(index: int) -> Reader:
    return lambda x: x[:, index]


def _shaped(read: Reader, outputs: Outputs) -> np.ndarray:
    """The column, or nothing but NaN when the outputs have changed their shape."""
    try:
        column = np.asarray(read(outputs.numbers), dtype=float)
    except (IndexError, ValueError):
        column = np.empty(0)
    return column if column.shape == (len(outputs),) else np.full(len(outputs), np.nan)


def _whole(outputs: Outputs, width: int) -> np.ndarray:
    """The vectors, or nothing but NaN when the outputs have changed their shape."""
    shape = (len(outputs), width)
    return outputs.numbers if outputs.numbers.shape == shape else np.full(shape, np.nan)


def _stated(score: Score, outputs: Outputs) -> np.ndarray:
    ratios = np.asarray(score(outputs), dtype=float)
    return np.where(outputs.symbolic, np.nan, np.clip(ratios, -_LARGEST_RATIO, _LARGEST_RATIO))


def _kinds(outputs: Outputs) -> np.ndarray:
    """The kind of each symbol ("str", "raised ValueError", ...); numbers are of kind "number"."""
    kinds = np.full(len(outputs), "number", dtype=object)
    if outputs.symbols is not None:
        for row in np.flatnonzero(outputs.symbolic):
            kinds[row] = (outputs.symbols.at(int(row)) or "").split(":")[0]
    return kinds
