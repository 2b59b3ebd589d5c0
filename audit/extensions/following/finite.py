"""Finite randomness: choices, and noise that is only compared with numbers, walked as a tree to the exact law.

Each path is a traced run, whose probability is a product over choices and intervals of noise, and a plain run with
noise from these intervals, whose output counts.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from audit.extensions.following.evidence import Direction, Law, measure_law
from audit.extensions.following.record import NotFollowed, Terms
from audit.extensions.following.runs import Form, Mechanism, call
from audit.extensions.following.sources import PlainSupplier, Tracer

MOST_PATHS = 1_000
_MOST_OPTIONS = 1_000  # of one choice


class Seeds(NamedTuple):
    """The first seed of the runs that train, that certify, of pilots, and in fresh processes."""

    training: int
    certifying: int
    pilot: int
    fresh: int


class _Walk(Tracer):
    """A traced run along one path of the tree; alternatives to its results are put on the agenda."""

    def __init__(self, path: tuple[int, ...], agenda: list[tuple[int, ...]]) -> None:
        super().__init__()
        self._path, self._agenda = path, agenda
        self._taken: tuple[int, ...] = ()
        self._kind = ""
        self.boxes: dict[int, tuple[float, float]] = {}
        self.choices: list[tuple[Any, Any]] = []
        self.log_probability = 0.0

    def _branch(self, options: int) -> int:
        place = len(self._taken)
        if place < len(self._path):
            option = self._path[place]
        else:
            option = 0
            self._agenda.extend((*self._taken, other) for other in range(1, options))
            if len(self._agenda) > MOST_PATHS:
                self.fail("more paths than are walked")
        self._taken = (*self._taken, option)
        return option

    def show(self, kind: str, tag: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        self._kind = kind
        return super().show(kind, tag, make)

    def evaluate(self, terms: Terms) -> np.ndarray:
        """Return numbers of the signs that this path takes."""
        constants, places, weights = terms
        is_used, each = weights != 0, np.arange(len(constants))
        if self._kind != "truth" or not (is_used.sum(axis=1) == 1).all():
            self.fail("the randomness is not finite")
        column = is_used.argmax(axis=1)
        rows = zip(constants.tolist(), places[each, column].tolist(), weights[each, column].tolist(), strict=True)
        return np.array([self._decide(*row) for row in rows])

    def _decide(self, constant: float, place: int, weight: float) -> float:
        """Return the sign of `constant + weight * noise`, and narrow the interval of the noise."""
        low, high = self.boxes.get(place, self._support(place))
        border = -constant / weight
        if not low < border < high:
            return math.copysign(1.0, weight) if border <= low else -math.copysign(1.0, weight)
        is_above = self._branch(2) == 1
        self.boxes[place] = (border, high) if is_above else (low, border)
        return math.copysign(1.0, weight if is_above else -weight)

    def _support(self, place: int) -> tuple[float, float]:
        law = self.kinds[self.codes[place]]
        if law.is_discrete:
            self.fail("the randomness is not finite")
        return {"uniform": (0.0, 1.0), "exponential": (0.0, math.inf)}.get(law.name, (-math.inf, math.inf))

    def choose(self, tag: tuple[Any, ...], sample: Callable[[], Any], log_probability: Any, options: int = 0) -> Any:
        """Take one option of a choice."""
        results = list(range(options)) if options else list(self._list_results(tag, sample()))
        results = [result for result in results if log_probability(result) > -math.inf]
        result = results[self._branch(len(results))]
        self.log_probability += log_probability(result)
        self.choices.append((tag, result))
        self._kind = "choice"
        return result

    def _list_results(self, tag: tuple[Any, ...], like: Any) -> Iterator[Any]:
        """Yield all results of a permutation; other choices of several things are not walked."""
        if tag[0] not in ("permutation", "shuffle") or math.factorial(tag[1]) > _MOST_OPTIONS:
            self.fail("the randomness is not finite")
        yield from (np.array(order, dtype=like.dtype) for order in itertools.permutations(range(tag[1])))

    def finish(self, rng: np.random.Generator) -> np.ndarray:
        """Add the probability of the intervals, and return noise from inside of them."""
        noise = np.empty(len(self.noise))
        for place in range(len(noise)):
            law, box = self.kinds[self.codes[place]], self.boxes.get(place, self._support(place))
            self.log_probability += law.log_mass(*box)
            noise[place] = law.draw_inside(box, float(rng.random()))
        return self.as_drawn(noise)


def law_key(form: Form) -> Any:
    """Return an output as a key of a law."""
    return form.names, form.words.tobytes(), np.round(form.numbers, 12).tobytes()


def find_law(mechanism: Mechanism, dataset: Any, seed: int, end: float) -> dict[Any, float]:
    """Return the exact law of the output, if the tree is walked before the time `end`.

    Raises
    ------
    NotFollowed
        If the randomness is not finite, has too many paths, or a plain run gives another output than its path.
    """
    law: dict[Any, float] = {}
    agenda: list[tuple[int, ...]] = [()]
    rng = np.random.default_rng(seed)
    for count in itertools.count():
        if not agenda:
            break
        is_slow = count >= 50 and count > MOST_PATHS * math.fsum(law.values())
        if count >= MOST_PATHS or is_slow or time.monotonic() > end:
            raise NotFollowed("more paths than are walked")
        walk = _Walk(agenda.pop(), agenda)
        form = Form(call(mechanism, dataset, seed, walk), loose=True)
        output = call(mechanism, dataset, seed, PlainSupplier(walk.finish(rng), choices=walk.choices))
        if not form.equals(Form(output, loose=True)):
            raise NotFollowed("the traced run gives another output")
        key = law_key(Form(output))
        law[key] = law.get(key, 0.0) + math.exp(walk.log_probability)
    if abs(math.fsum(law.values()) - 1) > 1e-9:
        raise NotFollowed("the probabilities of the paths do not add up to 1")
    return law


def find_exact(
    mechanism: Mechanism, pair: tuple[Any, Any], seeds: Seeds, plan: Callable[[float], int], end: float,
    goes_on: Callable[[], bool],
) -> tuple[list[Direction], Law] | None:  # fmt: skip
    """Return genuine runs held to the exact laws, and the laws; `plan` gives their number for an epsilon.

    None where the randomness is not finite.
    """
    try:
        laws = [find_law(mechanism, dataset, seeds.training, end) for dataset in pair]
    except NotFollowed:
        return None
    left, right = laws
    both = tuple(sorted((left.get(key, 0.0), right.get(key, 0.0)) for key in left.keys() | right.keys()))
    most = plan(measure_law(both, None)[0])
    directions = [_hold(mechanism, *job, seeds.certifying, most, goes_on) for job in zip(pair, laws, strict=True)]
    if any(found.bad.total() > found.runs // 2 for found in directions):
        raise NotFollowed("the genuine runs differ from the law of the paths")
    return directions, both


def _hold(
    mechanism: Mechanism, dataset: Any, law: dict[Any, float], seed: int, runs: int, goes_on: Callable[[], bool]
) -> Direction:
    """Compare genuine runs with the paths that their noise takes."""
    direction = Direction()
    for run in range(runs):
        if not goes_on():
            break
        output = call(mechanism, dataset, seed + run)
        try:
            form = Form(call(mechanism, dataset, seed + run, Tracer()), loose=True)
            is_like = form.equals(Form(output, loose=True)) and law_key(Form(output)) in law
        except NotFollowed:
            is_like = False
        if is_like:
            direction.add(np.zeros(1), np.zeros(1), np.zeros(1))
        else:
            direction.add_bad("the genuine run differs from the law")
    return direction
