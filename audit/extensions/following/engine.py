"""Follow the noise of a mechanism between two datasets: tracing proposes shifts, plain runs certify them."""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from audit.api import PerCall, sandbox, validate
from audit.extensions.following.evidence import ROWS, Bound, Direction, Law, measure_law, weigh_runs
from audit.extensions.following.finite import Seeds, find_exact
from audit.extensions.following.ledger import NoiseLedger
from audit.extensions.following.paths import UNLIKE, Follower, Path, describe_bad, spent_on, write_ledger
from audit.extensions.following.record import NotFollowed, in_one_line
from audit.extensions.following.rules import Rule, all_move_alike, find_rule, shows_its_only_place
from audit.extensions.following.runs import Form, Mechanism, call
from audit.extensions.following.sources import PlainSupplier, keep_states

UNSEEN = "an output without a shift"
_MOST_OPTIONS = 100  # of a choice, whose probabilities are all compared


class RowsNotFollowed(NotFollowed):
    """The outputs of one call do not have draws of their own."""


def replay(
    mechanism: Mechanism, ends: tuple[Any, Any], rule: Rule, size: int, seed: int, left: Form | None = None
) -> Direction:
    """Replay one call, whose genuine outputs may be given; those without a shift, and those that differ, are bad."""
    start, end = ends
    left = Form(call(mechanism, start, seed, None, size), size) if left is None else left
    places = rule.places_of(left)
    supplier = PlainSupplier(shifts=rule.shifts, rows=np.maximum(places, 0))
    try:
        same = left.compare(Form(call(mechanism, end, seed, supplier, size), size))
    except NotFollowed as error:
        if size > 1:
            raise RowsNotFollowed(str(error)) from None
        same = np.zeros(1, bool)
    direction, known = Direction(), places >= 0
    good = known & same
    if good.any():
        direction.add(rule.costs[places[good]], rule.squares[places[good]], supplier.loss[good])
    direction.add_bad(UNSEEN, int((~known).sum()))
    direction.add_bad(UNLIKE, int((known & ~same).sum()))
    return direction


def add_path(direction: Direction, path: Path) -> None:
    """Add a followed run."""
    if path.is_good:
        found = path.alignment
        direction.add(np.array([found.cost]), np.array([found.square]), np.array([found.loss]))
    else:
        direction.add_bad(path.reason)


def estimate_loss(mechanism: Mechanism, pair: tuple[Any, Any], seed: int = 0) -> tuple[float, float]:
    """Return epsilon and mu of one traced run in each direction, which nothing certifies; NaN if not followed.

    The cost of a decision counts half where one of many comparisons needs a shift: the loss of the output is then less.
    """
    with keep_states():
        try:
            paths = [Follower(mechanism, *pair).follow(seed, certify=False)]
            ratio = _compare_options(paths[0])
            if not ratio and not paths[0].costs_the_same_back:
                paths.append(Follower(mechanism, *pair[::-1]).follow(seed, certify=False))
        except (NotFollowed, Exception):
            return math.nan, math.nan
    if not all(path.is_good for path in paths):
        return math.nan, math.nan
    worst = max(paths, key=spent_on)
    cost = max(0.5 * (1 + worst.alignment.spread) * worst.alignment.cost, ratio)
    return cost, math.sqrt(worst.alignment.square)


def _compare_options(path: Path) -> float:
    """Return the largest log ratio, either way, of the options of a choice that is all that a run observes, or 0."""
    shown, other = (record.observations for record in (path.record, path.other))
    if len(shown) != 1 or not 0 < shown[0].options <= _MOST_OPTIONS:
        return 0.0
    ratios = [shown[0].measure(option) - other[0].measure(option) for option in range(shown[0].options)]
    return float(np.nanmax(np.abs(ratios)))


_MOST_NUMBERS = 2**22  # of one draw in a vectorized replay
_PILOT = 200  # outputs of a vectorized mechanism, before its certificate
_UNHELD = 0.1  # share of unlike outputs of a call, beyond which a rule fails
_TRAINING, _ALIKE = 12, 4  # followed runs in each direction, from which a rule is made; enough where all move alike
_MERGING = 200  # the same for a rule that drops comparisons
_RARE = 0.01  # share of the runs of a rule that may be bad; beyond it, each run is followed
_SECONDS = 60.0
_PATIENCE = 3.0  # seconds at least for a call in a fresh process: a library with threads of its own can hang there
_FRESH = 3  # runs of each dataset in fresh processes
_REPEATED = "outputs differ from those of a fresh process: state is kept between calls"


def follow(
    mechanism: Mechanism,
    left: Any,
    right: Any,
    *,
    epsilon: float | None = None,
    runs: int = 200,
    seed: int = 0,
    confidence: float = 0.95,
) -> Bound:
    """Return an upper confidence bound of the privacy loss of unmodified code on a pair of datasets.

    Parameters
    ----------
    mechanism : callable
        `(dataset, size, rng) -> outputs`, or `audit.per_call(function)`. Of the former, up to 100,000 outputs of one
        call are followed; they are taken to be independent, and noise that they share is not followed.
    left, right : object
        The pair; both directions are bounded.
    epsilon : float, optional
        A claim: comparisons that the output does not show are merged only where the bound without that exceeds it.
    runs : int, default 200
        Calls of one output in each direction, where outputs are followed one by one. None begins after a minute.
    seed : int, default 0
    confidence : float in (0, 1), default 0.95
        Of the bound, over the noise of the runs.

    Returns
    -------
    Bound
        With `reason` where there is none.
    """
    validate.integer(runs, "runs", at_least=1)
    validate.open_probability(confidence, "confidence")
    return Search(mechanism, (left, right), runs, seed, _SECONDS, epsilon=epsilon, confidence=confidence).run()


def explain(
    mechanism: Mechanism, left: Any, right: Any, *, runs: int = 20, seed: int = 0, claimed: float | None = None
) -> NoiseLedger:
    """Return which line of code spends how much epsilon: the ledger of the worst of some followed runs.

    It is an estimate for a person who reads the code, and bounds nothing. `audit.extensions.following.follow` returns
    an upper confidence bound.

    Parameters
    ----------
    mechanism : callable
        `(dataset, size, rng) -> outputs`, or `audit.per_call(function)`. The code is run as it is.
    left, right : object
        The pair of datasets; both directions are followed.
    runs : int >= 1, default 20
        Runs in each direction.
    seed : int >= 0, default 0
        The same seed gives the same ledger.
    claimed : float, optional
        Printed beside the sum.

    Returns
    -------
    NoiseLedger
        Draws of noise by line: law, how far the value moves, its cost. `reason` says why the noise was not
        followed, where it was not: other randomness, noise that depends on the data, code that looks at the noise.
        `left_out` says how many runs are not in it, and which line looked at noise last in them.

    Raises
    ------
    InvalidArgument
        If `runs` is not a positive integer.

    References
    ----------
    Zhang & Kifer (2017), LightDP: randomness alignments. Wang, Ding, Wang, Kifer & Zhang (2019), Proving differential
    privacy with shadow execution: the shift that depends on the run.

    Examples
    --------
    >>> import numpy as np
    >>> import audit
    >>> def total(data, rng):
    ...     return data.sum() + rng.laplace(scale=2.0)
    >>> ledger = audit.explain(audit.per_call(total), np.zeros(3), np.array([1.0, 0.0, 0.0]))
    >>> [(draw.noise, float(draw.spends)) for draw in ledger.draws]
    [('Laplace(2)', 0.5)]
    """
    validate.integer(runs, "runs", at_least=1)
    return Search(mechanism, (left, right), runs, seed, math.inf, epsilon=claimed).explain()


@dataclass
class Search:
    """The bound of one pair, and the run that costs most."""

    mechanism: Mechanism
    pair: tuple[Any, Any]
    runs: int
    seed: int
    seconds: float
    trial: float = math.inf  # seconds after which nothing goes on that has not been followed
    epsilon: float | None = None  # a claim, for which comparisons are merged
    is_kept: Callable[[float, float], bool] = lambda epsilon, mu: True  # whether a bound would keep the claim
    fresh: int | None = None  # runs of each dataset in fresh processes
    confidence: float = 0.95
    plans: Mapping[str, int] = field(default_factory=dict)  # runs of other kinds of shifts
    is_few: bool = False  # whether calls are so slow that one shift is certified, and `runs` are all there is time for
    worst: Path | None = None
    left_out: str = ""  # of the training runs, those that were not followed
    pace: float = math.inf  # seconds of a followed run
    followers: list[Follower] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.seeds = Seeds(*map(int, np.random.SeedSequence(self.seed).generate_state(4) // 2))
        self.end = time.monotonic() + self.seconds
        self.followers = [Follower(self.mechanism, *ends) for ends in (self.pair, self.pair[::-1])]

    def run(self) -> Bound:
        """Return the bound; whatever the code does to the follower, there is a result."""
        with keep_states():
            try:
                return self._run_few() if self.is_few else self._run_compared()
            except (NotFollowed, Exception) as error:
                return self._refuse(in_one_line(error))

    def explain(self) -> NoiseLedger:
        """Return the ledger of the training run that costs most, or why none was followed."""
        reason = ""
        with keep_states():
            try:
                reason = self._train(self.runs)[0][0].reason
            except (NotFollowed, Exception) as error:
                reason = in_one_line(error)
        none = NoiseLedger((), (), math.inf, 0.0, self.epsilon, reason, self.left_out)
        return self.write_ledger() or none

    def write_ledger(self) -> NoiseLedger | None:
        """Return the ledger of the run that costs most; None where none was followed."""
        if self.worst is None:
            return None
        return replace(write_ledger(self.worst, self.epsilon), left_out=self.left_out)

    @property
    def spent(self) -> float:
        """The cost of that run."""
        return 0.0 if self.worst is None else spent_on(self.worst)

    def _goes_on(self) -> bool:
        return time.monotonic() < self.end

    def _refuse(self, reason: str, directions: list[Direction] | None = None) -> Bound:
        found = directions or [Direction(), Direction()]
        runs, bad = (found[0].runs, found[1].runs), (found[0].bad.total(), found[1].bad.total())
        return Bound(reason=reason, runs=runs, bad=bad, excess=bad, confidence=self.confidence)

    def _run_few(self) -> Bound:
        """Certify the shift of one traced run; the last genuine run of each direction is one of a fresh process."""
        seeds = [self.seeds.certifying + side * self.runs for side in (0, 1)]
        last = self._describe_fresh([(self.pair[side], seeds[side] + self.runs - 1) for side in (0, 1)])
        rules = list[Rule | None]()
        for follower in self.followers:
            follower.learns = False
            path = follower.follow(self.seeds.training, certify=False)
            if not path.is_good or not path.record.draws:
                return self._refuse(path.reason or "the code draws no noise")
            if self.worst is None or spent_on(path) > spent_on(self.worst):
                self.worst = path
            rules.append(find_rule([path], merge=False))
            if not self.is_kept(self.worst.alignment.cost, math.sqrt(self.worst.alignment.square)):
                return self._refuse(self._say_cost())
        directions, unlike = [Direction(), Direction()], "calls are slow, and no shift is the same in all runs"
        for run in range(self.runs):
            for side, (rule, direction) in enumerate(zip(rules, directions, strict=True)):
                if rule is None:
                    return self._refuse(unlike)
                ends, given = (self.pair, self.pair[::-1])[side], last[side] if run + 1 == self.runs else None
                direction.join(replay(self.mechanism, ends, rule, 1, seeds[side] + run, given))
                if direction.bad:
                    return self._refuse(unlike)
        return self._conclude(directions, "constant")

    def _describe_fresh(self, jobs: list[tuple[Any, int]]) -> list[Form]:
        """Return outputs of fresh processes, drawn before this process has called the mechanism."""
        forms = list[Form]()
        for job in jobs:
            patience = max(_PATIENCE, min(2 * self.trial, self.end - time.monotonic()))
            form = sandbox.call_in_fork(partial(self._describe_run, *job), patience)
            if form is None:  # a cache would stay hidden
                raise NotFollowed("no copy of this process gives an output to compare with")
            forms.append(form)
        return forms

    def _run_compared(self) -> Bound:
        """Compare with outputs of fresh processes."""
        fresh = min(_FRESH, self.runs) if self.fresh is None else self.fresh
        jobs = [(dataset, self.seeds.fresh + run) for run in range(fresh) for dataset in self.pair]
        forms = self._describe_fresh(jobs)
        result = self._judge()
        if result.reason or all(self._describe_run(*job).equals(form) for job, form in zip(jobs, forms, strict=True)):
            return result
        return self._refuse(_REPEATED)

    def _describe_run(self, dataset: Any, seed: int) -> Form:
        return Form(call(self.mechanism, dataset, seed))

    def _judge(self) -> Bound:
        """Try the exact law, then a rule that drops comparisons where they cost too much, then a rule, then paths.

        Which of them certifies is decided by other runs than its own; but paths follow a rule that does not hold, for
        which they have a level of their own.
        """
        training = self._train(min(_TRAINING, self.runs, 2 + self.runs // 10), enough=_ALIKE)
        if all(path.has_raised for paths in training for path in paths):
            return self._refuse("the mechanism raises in every run")
        good = [path.record for paths in training for path in paths if path.is_good]
        if good and not any(record.draws or record.has("choice") for record in good):
            return self._refuse("the code draws no noise")
        end = time.monotonic() + 0.3 * (self.end - time.monotonic())  # the rest is for the other ways
        exact = find_exact(self.mechanism, self.pair, self.seeds, self._plan_exact, end, self._goes_on)
        if exact is not None:
            directions, law = exact
            return self._state(directions, measure_law(law, None)[0], 0.0, "exact", law=law)
        if not all(any(path.is_good for path in paths) for paths in training):
            reasons = Counter(path.reason for paths in training for path in paths if path.reason)
            return self._refuse(reasons.most_common(1)[0][0])
        assert self.worst is not None
        cost, mu = self.worst.alignment.cost, math.sqrt(self.worst.alignment.square)
        exceeds = self.epsilon is not None and not cost <= self.epsilon * (1 + 1e-6)
        if exceeds and self._has_decisions and not all(map(shows_its_only_place, training)):
            merged = self._certify([find_rule(paths, merge=True) for paths in self._train(_MERGING)], below=cost)
            if merged is not None:
                return merged
        if not self.is_kept(cost, mu):
            return self._refuse(self._say_cost())
        rules = [find_rule(paths, merge=False) for paths in training]
        needed = 2 * self.runs * (self.pace if None in rules else 2 * min(each.pace for each in self.followers))
        if isinstance(self.mechanism, PerCall) and needed > self.end - time.monotonic():
            return self._refuse(f"it takes about {needed:.2g} s to follow: set method='follow'")
        found = self._certify(rules)
        if found is None or (max(found.bad) > _RARE * self.runs and found.outputs_per_call == 1):
            found = self._follow_paths()
        return found

    def _plan_exact(self, epsilon: float) -> int:
        """Return the genuine runs that are held to exact laws: few where these cost more than is claimed."""
        runs = self.plans.get("exact", self.runs)
        return int(weigh_runs(runs, epsilon)) if self.is_kept(epsilon, 0.0) else min(_TRAINING, self.runs)

    def _say_cost(self) -> str:
        assert self.worst is not None
        alignment = self.worst.alignment
        gaussian = f" and mu {math.sqrt(alignment.square):.4g}" if alignment.square else ""
        return f"a run costs epsilon {alignment.cost:.4g}{gaussian}, more than is claimed"

    def _train(self, runs: int, enough: int = sys.maxsize) -> list[list[Path]]:
        """Return followed runs in each direction, and keep the one that costs most; `enough` where all move alike."""
        begun, training = time.monotonic(), [list[Path](), list[Path]()]
        for follower in self.followers:
            follower.learns = True
        self.pace = math.inf
        for run in range(runs):
            for paths, follower in zip(training, self.followers, strict=True):
                started = time.monotonic()
                path = follower.follow(self.seeds.training + run)
                self.pace = min(self.pace, time.monotonic() - started)
                paths.append(path)
                if path.is_good and (self.worst is None or spent_on(path) > spent_on(self.worst)):
                    self.worst = path
            failed = not any(path.is_good for path in training[0]) or not any(path.is_good for path in training[1])
            is_over = not self._goes_on() or time.monotonic() > begun + self.trial
            if is_over or (run == 5 and failed) or self._is_too_dear():
                break
            if run + 1 == enough and all(all_move_alike(paths) for paths in training):
                break
        for follower in self.followers:
            follower.learns = False
        self.left_out = describe_bad([path for paths in training for path in paths])
        return training

    @property
    def _has_decisions(self) -> bool:
        """True if the run that costs most observes something else than values, which could be dropped."""
        return self.worst is not None and any(shown.kind != "value" for shown in self.worst.record.observations)

    def _is_too_dear(self) -> bool:
        """Return whether a run costs more than is claimed, and no comparison could be dropped."""
        if self.worst is None or self._has_decisions:
            return False
        return not self.is_kept(self.worst.alignment.cost, math.sqrt(self.worst.alignment.square))

    def _certify(self, rules: list[Rule | None], below: float = math.inf) -> Bound | None:
        """Certify rules that cost less, on fresh runs; None where there is none, or a pilot says that they fail."""
        found = [rule for rule in rules if rule is not None and rule.costs.max() < below]
        if len(found) < 2 or any(rule.keys is not None and rule.squares.any() for rule in found):
            return None
        size, directions = 1, None
        try:
            directions = self._replay_rows(found)
            size = directions[0].runs
        except RowsNotFollowed:
            directions = self._replay_calls(found)
        if directions is None:
            return None
        return self._conclude(directions, "constant" if all(rule.keys is None for rule in found) else "output", size)

    def _replay_rows(self, rules: list[Rule]) -> list[Direction]:
        """Replay calls of many outputs, after a pilot."""
        if isinstance(self.mechanism, PerCall):
            raise RowsNotFollowed
        self._replay_both(rules, 3, self.seeds.pilot, 0)
        pilot = self._replay_both(rules, _PILOT, self.seeds.pilot, 0)
        if any(direction.bad[UNSEEN] > 0.01 * _PILOT for direction in pilot):
            raise RowsNotFollowed(UNSEEN)
        rows = min(ROWS, max(1, _MOST_NUMBERS // max(1, max(len(rule.shifts.laws) for rule in rules))))
        try:
            directions = self._replay_both(rules, rows, self.seeds.certifying, 1)
        except RowsNotFollowed as error:  # although smaller calls were
            raise NotFollowed(f"in a call of {rows:,} outputs, {error}") from None
        if any(direction.bad[UNLIKE] > _UNHELD * direction.runs for direction in (*pilot, *directions)):
            raise NotFollowed("the outputs of one call differ from single ones")
        return directions

    def _replay_both(self, rules: list[Rule], size: int, seed: int, step: int) -> list[Direction]:
        ends = self.pair, self.pair[::-1]
        return [replay(self.mechanism, ends[side], rules[side], size, seed + side * step) for side in (0, 1)]

    def _replay_calls(self, rules: list[Rule]) -> list[Direction] | None:
        """Replay calls of one output each, after a pilot; those without a shift in the rule are followed."""
        directions = []
        for side, follower in enumerate(self.followers):
            few = min(20, 1 + self.runs // 5)
            pilot = self._replay_some(follower, rules[side], self.seeds.pilot + side * self.runs, few)
            if pilot.bad[UNLIKE] > 2:
                return None
            directions.append(
                self._replay_some(follower, rules[side], self.seeds.certifying + side * self.runs, self.runs)
            )
        return directions

    def _replay_some(self, follower: Follower, rule: Rule, seed: int, runs: int) -> Direction:
        direction = Direction()
        for run in range(seed, seed + runs):
            if not self._goes_on():
                break
            one = replay(self.mechanism, (follower.start, follower.end), rule, 1, run)
            if one.bad[UNSEEN]:
                add_path(direction, follower.follow(run))
            else:
                direction.join(one)
        return direction

    def _follow_paths(self) -> Bound:
        """Follow fresh runs one by one."""
        directions = [Direction() for _ in self.followers]
        runs = self.plans.get("path", self.runs)
        for run in range(runs):
            if not self._goes_on():
                break
            for side, (follower, direction) in enumerate(zip(self.followers, directions, strict=True)):
                add_path(direction, follower.follow(self.seeds.certifying + side * runs + run))
        return self._conclude(directions, "path")

    def _conclude(self, directions: list[Direction], shift: str, size: int = 1) -> Bound:
        """Return the bound of the worst good run, with the share of bad ones."""
        if any(direction.bad.total() >= direction.runs for direction in directions):
            reasons: Counter[str] = sum((direction.bad for direction in directions), Counter())
            return self._refuse(reasons.most_common(1)[0][0] if reasons else "no time for a run", directions)
        square = max(direction.square for direction in directions)
        if square and any(follower.has_changes for follower in self.followers):
            square = math.inf  # the theorem on Gaussian noise wants shifts that are known beforehand
        epsilon = max(direction.cost for direction in directions)
        return self._state(directions, epsilon, math.sqrt(square), shift, size)

    def _state(
        self, directions: list[Direction], epsilon: float, mu: float, shift: str, size: int = 1, law: Law = ()
    ) -> Bound:
        first, second = directions
        bad = first.bad.total(), second.bad.total()
        excess = bad if self.epsilon is None else (first.count_excess(self.epsilon), second.count_excess(self.epsilon))
        return Bound(
            epsilon, mu, shift, "", (first.runs, second.runs), bad, excess,
            measure_law(law, self.epsilon)[1] if law else None, size,
            good=(first.runs - bad[0], second.runs - bad[1]), costs=(first.cost, second.cost),
            squares=(first.square, second.square), law=law, confidence=self.confidence,
        )  # fmt: skip
