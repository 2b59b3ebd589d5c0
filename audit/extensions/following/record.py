"""The record of one traced run: the noise that it drew, and the observations by which the code learned of it."""

from __future__ import annotations

import linecache
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from scipy import sparse

from audit.extensions.following.noise import NoiseLaw

_HERE = str(Path(__file__).parent)
_LIBRARIES = [str(Path(np.__file__).parents[1] / name) for name in ("numpy", "pandas", "polars", "scipy")]
_PASSED = (_HERE, *_LIBRARIES, "<__array_function__")

Terms = tuple[np.ndarray, np.ndarray, np.ndarray]  # constants (m,), places of noise (m, k), their coefficients (m, k)


UNEQUAL = "the two datasets look at different things"


class NotFollowed(BaseException):
    """The code takes a step that is not followed. No `Exception`: the code under audit must not swallow it."""


class Stoppable:
    """A supplier of noise for one run, which can stop it."""

    failure = ""

    def fail(self, reason: str) -> Any:
        """Stop the run, and remember why if the code swallows the exception."""
        self.failure = self.failure or reason
        raise NotFollowed(self.failure)


def in_one_line(error: BaseException) -> str:
    """Return a reason that names an unexpected exception."""
    text = " ".join(str(error).split())
    return text if isinstance(error, NotFollowed) else f"{type(error).__name__} while it was followed: {text}"


@dataclass(frozen=True)
class Line:
    """A line of source text."""

    file: str
    number: int

    @property
    def text(self) -> str:
        """The text of the line."""
        return linecache.getline(self.file, self.number).strip()

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.number}" if self.number else self.file


RETURNED = Line("the returned value", 0)


def current_line() -> Line:
    """Return the line of the code under audit that runs now."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PASSED):
        frame = frame.f_back
    return Line(frame.f_code.co_filename, frame.f_lineno) if frame is not None else Line("?", 0)


@dataclass(frozen=True)
class Draw:
    """One call of a generator: its unit noise lies at `first` and the places after it."""

    law: NoiseLaw
    scale: float
    shape: tuple[int, ...]
    first: int
    line: Line

    @property
    def places(self) -> slice:
        """The places of its unit noise."""
        return slice(self.first, self.first + int(np.prod(self.shape, dtype=int)))


@dataclass
class Observation:
    """A fact that the code learned: a value, some inequalities, or a choice with its probability.

    The rows of a value are expressions that equal a known number; those of inequalities are at least zero.
    """

    kind: str
    tag: tuple[Any, ...]
    result: Any
    line: Line
    rows: Terms | None = None
    options: int = 0  # of a choice, where they are numbered from zero
    measure: Callable[[Any], float] = lambda result: 0.0  # the log probability of each result of a choice


@dataclass
class Record(Stoppable):
    """One traced run; with `forced`, on the other dataset, each observation has the result that is given.

    `changes` flips a truth value, or moves a choice: {place of the observation: (element, new result)}.
    """

    forced: Sequence[Observation] | None = None
    values_only: bool = False
    sums_first: bool = False  # whether a sum of noise and data is observed before it meets other data
    keeps_integers: bool = False  # whether `int` of noise that is an integer leaves it noise
    changes: dict[int, int] = field(default_factory=dict)
    draws: list[Draw] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)
    logs: list[tuple[np.ndarray, bool]] = field(default_factory=list)  # noise that became minus its log; of 1 - noise
    thread: int = field(default_factory=threading.get_ident)
    is_settling: bool = False  # the code has returned, and its output is read

    def __post_init__(self) -> None:
        self._noise = np.zeros(64)
        self._laws = np.zeros(64, int)
        self._size = 0
        self.kinds: list[NoiseLaw] = []

    @property
    def noise(self) -> np.ndarray:
        """All unit noise so far."""
        return self._noise[: self._size]

    @property
    def codes(self) -> np.ndarray:
        """The law of each unit noise, as a place in `kinds`."""
        return self._laws[: self._size]

    @property
    def laws(self) -> list[NoiseLaw]:
        """The law of each unit noise."""
        return [self.kinds[code] for code in self.codes]

    def take_log(self, places: np.ndarray, law: NoiseLaw, is_mirrored: bool) -> None:
        """Put minus the logarithm of noise, or of 1 - noise, in its place: noise of another law."""
        with np.errstate(divide="ignore"):
            self._noise[places] = -np.log(1 - self._noise[places] if is_mirrored else self._noise[places])
        self._laws[places] = self._code(law)
        self.logs.append((places, is_mirrored))

    def as_drawn(self, noise: np.ndarray) -> np.ndarray:
        """Return noise of the laws that generators drew."""
        noise = noise.copy()
        for places, is_mirrored in reversed(self.logs):
            moved = np.exp(-noise[places])
            noise[places] = 1 - moved if is_mirrored else moved
        return noise

    def has(self, kind: str) -> bool:
        """True if there is an observation of this kind."""
        return any(shown.kind == kind for shown in self.observations)

    def add_draw(self, law: NoiseLaw, unit: np.ndarray, scale: float) -> int:
        """Record one call of a generator and return the first place of its noise."""
        if threading.get_ident() != self.thread:
            self.fail("noise is drawn in another thread")
        first, self._size = self._size, self._size + unit.size
        if self._size > self._noise.size:
            room = max(self._size, 2 * self._noise.size) - self._noise.size
            self._noise = np.concatenate([self._noise, np.zeros(room)])
            self._laws = np.concatenate([self._laws, np.zeros(room, int)])
        self._noise[first : self._size] = unit.ravel()
        self._laws[first : self._size] = self._code(law)
        self.draws.append(Draw(law, scale, unit.shape, first, current_line()))
        return first

    def _code(self, law: NoiseLaw) -> int:
        if law not in self.kinds:
            self.kinds.append(law)
        return self.kinds.index(law)

    def show(self, kind: str, tag: tuple[Any, ...], make: Callable[[], Any]) -> Observation:
        """Add an observation, with the result of `make` or the one that is forced."""
        place = len(self.observations)
        if self.forced is None:
            result = make()
        else:
            if place >= len(self.forced) or (self.forced[place].kind, self.forced[place].tag) != (kind, tag):
                self.fail(UNEQUAL)
            result = self._changed(place, self.forced[place].result)
        observation = Observation(kind, tag, result, RETURNED if self.is_settling else current_line())
        self.observations.append(observation)
        return observation

    def choose(self, tag: tuple[Any, ...], sample: Callable[[], Any], log_probability: Any, options: int = 0) -> Any:
        """Add a choice, with its probability."""
        shown = self.show("choice", tag, sample)
        shown.options, shown.measure = options, log_probability
        return shown.result.copy() if isinstance(shown.result, np.ndarray) else shown.result

    def _changed(self, place: int, result: Any) -> Any:
        if place not in self.changes:
            return result
        if self.forced is not None and self.forced[place].kind == "choice":
            return (result + self.changes[place]) % self.forced[place].options
        flipped = np.array(result)
        flipped.ravel()[self.changes[place]] ^= True
        return flipped

    def evaluate(self, terms: Terms) -> np.ndarray:
        """Return the numbers that expressions have in this run."""
        constants, places, weights = terms
        return constants + (self.noise[places] * weights).sum(axis=1) if places.shape[1] else constants.copy()

    def has_normal(self, terms: Terms) -> bool:
        """True if Gaussian noise enters the expressions."""
        return any(self.kinds[code].is_normal for code in list_codes(self.codes[terms[1][terms[2] != 0]]))


def list_codes(codes: np.ndarray) -> np.ndarray:
    """Return the different codes of laws, which are few and small: `np.unique` takes two hundred times as long."""
    return np.flatnonzero(np.bincount(codes.ravel()))


def simplify(terms: Terms) -> Terms:
    """Add up the coefficients of each noise in each expression; noise that cancels leaves it."""
    constants, places, weights = terms
    if places.shape[1] <= 1 or not constants.size:
        return terms
    order = np.argsort(places, axis=1, kind="stable")
    places, weights = np.take_along_axis(places, order, 1), np.take_along_axis(weights, order, 1)
    is_first = np.ones(places.shape, bool)
    is_first[:, 1:] = places[:, 1:] != places[:, :-1]
    if not is_first.all():
        groups = np.cumsum(is_first.ravel()) - 1
        sums = np.bincount(groups, weights.ravel())
        weights = np.where(is_first, sums[groups].reshape(weights.shape), 0.0)
    width = int((weights != 0).sum(axis=1).max(initial=0))
    if width < weights.shape[1]:
        kept = np.argsort(weights == 0, axis=1, kind="stable")[:, :width]
        places, weights = np.take_along_axis(places, kept, 1), np.take_along_axis(weights, kept, 1)
    return constants, places, weights


def join_rows(rows: Sequence[Terms], columns: int) -> tuple[np.ndarray, sparse.csr_matrix]:
    """Return constants and one sparse matrix of the coefficients of all rows."""
    if not rows:
        return np.zeros(0), sparse.csr_matrix((0, columns))
    constants = np.concatenate([row[0] for row in rows])
    lengths = np.concatenate([np.full(len(row[0]), row[1].shape[1]) for row in rows])
    places = np.concatenate([row[1].ravel() for row in rows])
    weights = np.concatenate([row[2].ravel() for row in rows])
    matrix = sparse.csr_matrix((weights, places, np.r_[0, np.cumsum(lengths)]), shape=(len(constants), columns))
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return constants, matrix
