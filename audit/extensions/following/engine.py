"""Follow the noise of a mechanism between two datasets: tracing proposes shifts, plain runs certify them."""

from __future__ import annotations

import math
import time
from collections import Counter
from typing import Any

import numpy as np

from audit.api import InvalidArgument, per_call
from audit.extensions.following.evidence import Direction, Followed, bound_share, exact_epsilon
from audit.extensions.following.finite import find_law, law_key
from audit.extensions.following.outputs import describe
from audit.extensions.following.paths import Follower, Path
from audit.extensions.following.record import NotFollowed, in_one_line
from audit.extensions.following.replay import UNLIKE, UNSEEN, RowsNotFollowed, count_path, replay_calls, replay_rows
from audit.extensions.following.rules import Rule, find_rule
from audit.extensions.following.runs import Mechanism, Raised, call, call_in_fresh_process, run_genuine, run_traced
from audit.extensions.following.sources import keep_states

_PerCall = type(per_call(len))
ROWS = 100_000  # of a vectorized replay
_MOST_NUMBERS = 4_000_000  # of one draw in a vectorized replay
_PILOT = 200  # outputs of a vectorized mechanism, before its certificate
_TRAINING = 24  # followed runs in each direction, from which a rule is found
_MERGING = 200  # the same for a rule that drops comparisons
_SEVERAL, _FEW = 3, 8  # outputs of a call, and calls, that are compared with calls of one output
_DEARER = 1.5  # their cost may exceed that of single outputs, since both are the largest of a few
_FRESH = 3  # runs of each dataset in fresh processes


def follow(
    mechanism: Mechanism,
    left: Any,
    right: Any,
    *,
    epsilon: float | None = None,
    runs: int = 200,
    rows: int = ROWS,
    seed: int = 0,
    confidence: float = 0.95,
    seconds: float = 60.0,
    fresh: bool = True,
) -> Followed:
    """Return an upper confidence bound of the privacy loss of unmodified code on a pair of datasets.

    Parameters
    ----------
    mechanism : callable
        `(dataset, size, rng) -> outputs`, or `audit.per_call(function)`.
    left, right : object
        The pair; both directions are bounded.
    epsilon : float, optional
        A claim: comparisons that the output does not show are merged only where the bound without that exceeds it.
    runs : int, default 200
        Calls of one output in each direction, where outputs are followed one by one.
    rows : int, default 100,000
        Outputs in each direction, where a vectorized mechanism is replayed in one call. Its rows are taken to be
        independent; noise that rows share is not followed.
    seed : int, default 0
    confidence : float in (0, 1), default 0.95
        Of the bound, over the noise of the runs.
    seconds : float, default 60
        No further runs are begun after this time.
    fresh : bool, default True
        Compare some outputs with those of fresh processes, which finds caches.

    Returns
    -------
    Followed
        With `reason` where there is no bound.
    """
    _require(runs=runs, rows=rows, confidence=confidence, seconds=seconds)
    begun = time.process_time()
    with keep_states():
        search = _Search(mechanism, (left, right), epsilon, runs, rows, seed, confidence, time.monotonic() + seconds)
        try:
            result = search.run(fresh)
        except (NotFollowed, Exception) as error:  # whatever the code does to the follower, the audit goes on
            result = refuse(in_one_line(error), confidence)
    result.seconds = time.process_time() - begun
    return result


def _require(runs: int, rows: int, confidence: float, seconds: float) -> None:
    for name, value in (("runs", runs), ("rows", rows)):
        if not isinstance(value, int) or value < 1:
            raise InvalidArgument.of(name, "be a positive integer", value)
    if not 0 < confidence < 1:
        raise InvalidArgument.of("confidence", "lie strictly between 0 and 1", confidence)
    if not seconds > 0:
        raise InvalidArgument.of("seconds", "be positive", seconds)


def refuse(reason: str, confidence: float, directions: tuple[Direction, Direction] | None = None) -> Followed:
    """Return a result without a bound."""
    return Followed(math.inf, 0.0, 1.0, confidence, "", reason, directions or (Direction(), Direction()))


class _Search:
    """One call of `follow`."""

    def __init__(
        self, mechanism: Mechanism, pair: tuple[Any, Any], epsilon: float | None, runs: int, rows: int, seed: int,
        confidence: float, end: float,
    ) -> None:  # fmt: skip
        self.mechanism, self.pair, self.epsilon, self.runs, self.rows = mechanism, pair, epsilon, runs, rows
        self.confidence, self.end = confidence, end
        self.significance = (1 - confidence) / (2 if epsilon is None else 4)  # a direction's; a claim has two attempts
        self.seeds = [int(value) for value in np.random.SeedSequence(seed).generate_state(4) // 2]
        self.several = 0.0  # the cost of one output in calls of several
        self.followers = [Follower(mechanism, *ends) for ends in self._directions()]

    def _directions(self) -> list[tuple[Any, Any]]:
        return [self.pair, self.pair[::-1]]

    def goes_on(self, run: int) -> bool:
        """True while there is time."""
        return time.monotonic() < self.end

    def run(self, fresh: bool) -> Followed:
        """Try the exact law, then a rule of shifts, then paths, then a rule that drops comparisons."""
        expected = self._run_fresh() if fresh else None
        if fresh and expected is None:  # a cache would not be found
            return refuse("no fresh process gives an output to compare with", self.confidence)
        result = self._judge()
        if expected is not None and not result.reason and not self._is_repeated(expected):
            return refuse("outputs differ from those of a fresh process: state is kept between calls", self.confidence)
        return result

    def _run_fresh(self) -> list[Any] | None:
        """Return outputs of fresh processes, before this process has called the mechanism."""
        jobs = [(dataset, self.seeds[3] + run) for run in range(_FRESH) for dataset in self.pair]
        forms = []
        for job in jobs:
            form = call_in_fresh_process(lambda job=job: run_genuine(self.mechanism, *job))  # type: ignore[misc]
            if form is None:
                return None
            forms.append(form)
        return forms

    def _is_repeated(self, expected: list[Any]) -> bool:
        jobs = [(dataset, self.seeds[3] + run) for run in range(_FRESH) for dataset in self.pair]
        order = [*range(len(jobs) - 1, -1, -1), *range(len(jobs))]
        return all(run_genuine(self.mechanism, *jobs[place]).equals(expected[place]) for place in order)

    def _judge(self) -> Followed:
        exact = self._find_exact()
        if exact is not None:
            return exact
        training = [self._train(follower, min(_TRAINING, self.runs)) for follower in self.followers]
        if not all(any(path.is_good for path in paths) for paths in training):
            reasons = Counter(path.reason for paths in training for path in paths if path.reason)
            return refuse(reasons.most_common(1)[0][0], self.confidence)
        if all(path.has_raised for paths in training for path in paths):
            return refuse("the mechanism raises in every run", self.confidence)
        result = self._certify([find_rule(paths, merge=False) for paths in training]) or self._follow_paths()
        if self.epsilon is not None and not result.epsilon <= self.epsilon * (1 + 1e-6):
            merged = self._certify([find_rule(self._train(f, _MERGING), merge=True) for f in self.followers])
            if merged is not None and merged.epsilon < result.epsilon:
                return merged
        return result

    def _train(self, follower: Follower, runs: int) -> list[Path]:
        paths: list[Path] = []
        for run in range(runs):
            paths.append(follower.follow(self.seeds[0] + run))
            if not self.goes_on(run) or (run == 5 and not any(path.is_good for path in paths)):
                break
        return paths

    def _certify(self, rules: list[Rule | None]) -> Followed | None:
        """Certify rules on fresh runs; None where there is none, or a pilot says that they do not hold."""
        found = [rule for rule in rules if rule is not None]
        if len(found) < 2 or any(rule.keys is not None and rule.squares.any() for rule in found):
            return None
        size = 1
        try:
            directions = self._replay_rows(found)
            size = directions[0].runs if directions else 1
            if directions is None and self._replay_calls(found) is not None:
                raise NotFollowed("the outputs of one call differ from single ones")
        except RowsNotFollowed:  # as those of `per_call`
            directions = self._replay_calls(found)
            self._try_several()
        if directions is None:
            return None
        shift = "constant" if all(rule.keys is None for rule in found) else "output"
        return self._conclude(directions, shift, size)

    def _replay_rows(self, rules: list[Rule]) -> list[Direction] | None:
        """Replay calls of many outputs, after a pilot; None where the rule does not hold."""
        jobs = list(zip(rules, self._directions(), strict=True))
        for rule, ends in jobs:
            replay_rows(self.mechanism, *ends, rule, 3, self.seeds[2])
        pilot = [replay_rows(self.mechanism, *ends, rule, _PILOT, self.seeds[2]) for rule, ends in jobs]
        if any(direction.bad[UNLIKE] > 0.1 * _PILOT for direction in pilot):
            return None
        if any(direction.bad[UNSEEN] > 0.01 * _PILOT for direction in pilot):
            raise RowsNotFollowed(UNSEEN)
        most = max(1, _MOST_NUMBERS // max(1, max(rule.width for rule in rules)))
        rows = min(self.rows, most)
        seed = self.seeds[1]
        return [replay_rows(self.mechanism, *ends, rule, rows, seed + side) for side, (rule, ends) in enumerate(jobs)]

    def _replay_calls(self, rules: list[Rule]) -> list[Direction] | None:
        directions = []
        for side, (rule, follower) in enumerate(zip(rules, self.followers, strict=True)):
            pilot = replay_calls(follower, rule, 20, self.seeds[2] + side * self.runs, self.goes_on)
            if pilot.bad[UNLIKE] > 2:
                return None
            seed = self.seeds[1] + side * self.runs
            directions.append(replay_calls(follower, rule, self.runs, seed, self.goes_on))
        return directions

    def _try_several(self) -> None:
        """Follow calls of three outputs, which must not cost much more than three times the cost of one."""
        if isinstance(self.mechanism, _PerCall):
            return
        for ends in self._directions():
            several = Follower(self.mechanism, *ends, size=_SEVERAL)
            for run in range(_FEW):
                path = several.follow(self.seeds[2] + run)
                if path.is_good:
                    self.several = max(self.several, path.alignment.cost / _SEVERAL)

    def _follow_paths(self) -> Followed:
        """Follow fresh runs one by one."""
        self._try_several()
        directions = [Direction() for _ in self.followers]
        for run in range(self.runs):
            if not self.goes_on(run):
                break
            for side, (follower, direction) in enumerate(zip(self.followers, directions, strict=True)):
                count_path(direction, follower.follow(self.seeds[1] + side * self.runs + run))
        return self._conclude(directions, "path")

    def _conclude(self, directions: list[Direction], shift: str, size: int = 1) -> Followed:
        """Return the bound of the worst good run, with the share of bad ones."""
        pair = directions[0], directions[1]
        if any(direction.violations >= direction.runs for direction in directions):
            reasons: Counter[str] = sum((direction.bad for direction in directions), Counter())
            return refuse(reasons.most_common(1)[0][0] if reasons else "no time for a run", self.confidence, pair)
        delta = max(direction.delta_upper_bound(self.significance) for direction in directions)
        square = max(direction.square for direction in directions)
        if square and any(follower.has_changes for follower in self.followers):
            square = math.inf  # the theorem on Gaussian noise wants shifts that are known beforehand
        epsilon = max(0.0, *(direction.cost for direction in directions))
        if self.several > _DEARER * epsilon:
            return refuse("the outputs of one call cost more than single ones", self.confidence, pair)
        return Followed(epsilon, math.sqrt(square), delta, self.confidence, shift, "", pair, size)

    def _find_exact(self) -> Followed | None:
        """Return the exact law, where randomness is finite, held to outputs of genuine generators."""
        end = time.monotonic() + 0.3 * (self.end - time.monotonic())  # the rest is for the other ways
        try:
            laws = [find_law(self.mechanism, dataset, self.seeds[0], end) for dataset in self.pair]
        except NotFollowed:
            return None
        if all(_has_raised(key) for law in laws for key in law):
            return refuse("the mechanism raises in every run", self.confidence)
        directions = tuple(self._hold(dataset, law) for dataset, law in zip(self.pair, laws, strict=True))
        epsilon = exact_epsilon(*laws)
        shares = [bound_share(d.violations, d.runs, self.significance) for d in directions]
        weight = math.exp(min(epsilon, 50.0))
        delta = min(1.0, max(shares[0] + weight * shares[1], shares[1] + weight * shares[0]))
        if any(direction.violations > direction.runs // 2 for direction in directions):
            return None
        return Followed(
            epsilon * (1 + 1e-9),
            0.0,
            delta,
            self.confidence,
            "exact",
            "",
            (directions[0], directions[1]),
            laws=tuple(laws),  # type: ignore[arg-type]
        )

    def _hold(self, dataset: Any, law: dict[Any, float]) -> Direction:
        """Compare genuine runs with the paths that their noise takes."""
        direction = Direction()
        for run in range(self.runs):
            if not self.goes_on(run):
                break
            output = call(self.mechanism, dataset, self.seeds[1] + run, None)
            try:
                _, form = run_traced(self.mechanism, dataset, self.seeds[1] + run)
                is_like = form.equals(describe(output, loose=True)) and law_key(describe(output)) in law
            except NotFollowed:
                is_like = False
            if is_like:
                direction.add(np.zeros(1), np.zeros(1), np.zeros(1))
            else:
                direction.add_bad("the genuine run differs from the law")
        return direction


def _has_raised(key: Any) -> bool:
    return len(key[0]) > 1 and key[0][0][1] == Raised.__qualname__
