"""Test the properties that every estimator must keep, and seek pairs of datasets that its releases surely separate."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from audit.api import entropy_from, text, walk
from audit.extensions.estimators.fits import SOURCES, Fits, fit_copy, fixed_places, list_moves, record_output
from audit.extensions.estimators.neighbors import Pair, paths

Outcome = Literal["kept", "broken", "suspected", "open", "not tested"]
DIFFER, FOLLOW = "two unseeded fits differ", "public parameters do not follow the data"
STATED, ADDED, SEED = "set_params after a fit changes no statement", "refits add up", "no seed is kept"
_LOOK, _SURE, _PROBE = 6, 16, 4  # fits on a dataset: at first, for a pair that is suspected, on a way between datasets
_MOST_SEEDS = 8  # numbers in a fitted object that are tried as seeds
_LEAST_SEED = 1_000  # smaller numbers are counts
_SEED = 1_732_050_807  # of the seeded fits; it occurs in no data by chance


@dataclass(frozen=True)
class Property:
    """Hold the findings of one property: "broken" is a fact, a "suspected" one the game decides."""

    name: str
    outcome: Outcome
    fits: int
    said: str

    def __str__(self) -> str:
        return f"{self.name}: {self.outcome}; {self.said}" if self.said else f"{self.name}: {self.outcome}"


@dataclass
class PropertiesReader:
    """Read the outputs of the fits of one estimator on its data; suspected pairs are collected for the game."""

    fits: Fits
    data: Any
    relation: Any
    rng: np.random.Generator
    suspects: list[Pair] = field(default_factory=list)
    used: int = 0

    def run(self, pairs: dict[str, Pair], skipped: dict[str, str]) -> Iterator[Property]:
        """Yield the findings of each property."""
        self.first = self.read(self.data, _LOOK)
        self.known = fixed_places(self.first)
        follow = self._test_following()
        yield self._differs()
        for name, pair in pairs.items():
            yield self._pair(name, pair)
        for name, why in skipped.items():
            yield Property(name, "not tested", 0, why)
        yield follow
        for name, test in ((STATED, self._test_statement), (ADDED, self._test_sum_of_fits), (SEED, self._test_seed)):
            before = self.used
            try:
                outcome, said = test()
            except Exception as error:
                outcome, said = "open", f"raised {type(error).__name__}: {text.describe_error(error)}"
            yield Property(name, outcome, self.used - before, said)

    def read(self, dataset: Any, fits: int) -> Any:
        self.used += fits
        return self.fits.read(dataset, fits, self.rng)

    def _differs(self) -> Property:
        if len(np.unique(self.first.keys())) > 1:
            return Property(DIFFER, "kept", _LOOK, "")
        if self.suspects:
            said = f"{_LOOK} fits on the same data left the same, and a neighbor something else"
            return Property(DIFFER, "suspected", _LOOK, said)
        return Property(DIFFER, "open", _LOOK, f"{_LOOK} fits left the same, on all data that were tried")

    def _pair(self, name: str, pair: Pair) -> Property:
        before = self.used
        places = self._apart(pair)
        if places:
            self.suspects.append(pair)
            return Property(name, "suspected", self.used - before, _in_all(places))
        return Property(name, "kept", self.used - before, "")

    def _apart(self, pair: Pair) -> list[str]:
        """Return the places that tell the two datasets apart in all fits; few fits rule out most pairs."""
        places: list[str] = []
        for fits in (_LOOK, _SURE):
            left, right = (fixed_places(self.read(side, fits)) for side in pair)
            if not (places := list_moves(left, right)):
                return []
        return places

    def _test_following(self) -> Property:
        """Look for a place that is the same in all fits and moves with far datasets, and for the step that moves it."""
        before, found = self.used, list[str]()
        for way, steps in paths(self.data, self.relation):
            end = fixed_places(self.read(way(steps), _LOOK))
            for place in list_moves(self.known, end)[:2]:
                pair = self._step(place, way, steps)
                if places := self._apart(pair):
                    self.suspects.append(pair)
                    found += places
                    break
        said = _in_all(found) if found else ""
        return Property(FOLLOW, "suspected" if found else "kept", self.used - before, said)

    def _step(self, place: str, way: Callable[[int], Any], steps: int) -> Pair:
        """Return two datasets, one step apart, between which a place changes."""
        low, high = 0, steps
        while high - low > 1:
            middle = (low + high) // 2
            there = fixed_places(self.read(way(middle), _PROBE))
            is_same = place in there and walk.identify(there[place]) == walk.identify(self.known[place])
            low, high = (middle, high) if is_same else (low, middle)
        return way(low), way(high)

    def _fit(self, learner: Any = None, **parameters: Any) -> Any:
        self.used += 1
        with entropy_from(self.rng), record_output():
            return fit_copy(self.fits.fresh(**parameters) if learner is None else learner, self.data)

    def _test_statement(self) -> tuple[Outcome, str]:
        learner = self._fit()
        before = statement_of(learner)
        if before is None:
            return "not tested", "it states no `privacy_spent_`"
        budget = [name for name in ("epsilon", "delta") if isinstance(getattr(learner, name, None), numbers.Real)]
        for name in budget:
            learner.set_params(**{name: getattr(learner, name) / 2})
            if (after := statement_of(learner)) != before:
                return "broken", f"after set_params({name}=...) `privacy_spent_` is {after}, and the fit spent {before}"
        return ("kept", "") if budget else ("not tested", "it has no parameter `epsilon` or `delta`")

    def _test_sum_of_fits(self) -> tuple[Outcome, str]:
        learner = self._fit()
        once = statement_of(learner)
        if once is None:
            return "not tested", "it states no `privacy_spent_`"
        twice = statement_of(self._fit(learner))
        if twice is None or twice[:2] == once[:2] or twice[0] < once[0]:
            return "broken", f"one fit spent {once}, and two fits of the object state {twice}"
        return "kept", ""

    def _test_seed(self) -> tuple[Outcome, str]:
        """Fit with a seed, and look for a number in the object that makes the same release: its parameters aside."""
        self.used += 1
        known = self.fits.fresh().get_params(deep=True)
        seeds = {name: _SEED for name in known if name == "random_state"}
        for parameters in [{}, seeds] if seeds else [{}]:
            learner = self._fit(**parameters)
            for part in walk.walk(learner):
                if isinstance(part, SOURCES):
                    return (
                        "open",
                        f"the fitted object holds a {type(part).__name__}, which can repeat or rewind its draws",
                    )
            if not seeds:
                continue
            with suppress(AttributeError):
                learner.random_state = None
            for number in _find_seeds(learner, known):
                again = self._fit(random_state=number)
                again.random_state = None
                if _values(again) == _values(learner) and _values(self._fit()) != _values(learner):
                    return (
                        "broken",
                        "the fitted object holds the seed of its noise, beside its parameter `random_state`",
                    )
        return "kept", ""


def statement_of(learner: Any) -> tuple[float, float, Any] | None:
    """Return epsilon, delta and relation of `privacy_spent_`; None where there is none."""
    spent = getattr(learner, "privacy_spent_", None)
    if spent is None:
        return None
    if isinstance(spent, numbers.Real):
        spent = (spent,)
    parts = (*spent, 0.0) if isinstance(spent, tuple) else (spent.epsilon, getattr(spent, "delta", 0.0))
    relation = getattr(spent, "relation", getattr(learner, "relation", None))
    return float(parts[0]), float(parts[1]), relation


def _values(learner: Any) -> str:
    """Return the numbers of a fitted object, seeds aside."""
    arrays = [part for part in walk.walk(learner) if isinstance(part, np.ndarray)]
    plain = [part for part in walk.walk(learner) if isinstance(part, dict)]
    numbers_in = [[value for value in each.values() if isinstance(value, float)] for each in plain]
    return walk.identify([arrays, numbers_in])


def _find_seeds(learner: Any, known: dict[str, Any]) -> list[int]:
    """Return large whole numbers in a fitted object that none of its parameters is."""
    whole = (part for part in walk.walk(learner) if isinstance(part, (int, np.integer)) and not isinstance(part, bool))
    seeds = dict.fromkeys(int(number) for number in whole if _LEAST_SEED < number < 2**32)
    return [number for number in seeds if number not in known.values()][:_MOST_SEEDS]


def _in_all(places: list[str]) -> str:
    shown = ", ".join(dict.fromkeys(places[:2])) + (f" and {len(places) - 2} more" if len(places) > 2 else "")
    return f"in {_SURE + _LOOK} of {_SURE + _LOOK} fits on each of two neighbors {shown} tells them apart"
