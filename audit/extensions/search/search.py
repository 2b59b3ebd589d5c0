"""Search the case that breaks a claim: the parameters of a mechanism, a pair of datasets, or both; shrink it.

Hypothesis generates cases and climbs towards a larger excess over the claim (`hypothesis.target`). Every case is tried
with the same seeds, so that the search is a deterministic function of the seed. Its outcome is only a suggestion: the
case is certified on fresh outputs, and the search costs no significance. Where the law of the outputs is stated or
enumerated, the excess of a case is computed from it.
"""

import contextlib
import inspect
import itertools
import math
import pickle
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st

from audit import AuditError, SubjectFailed
from audit.api import (
    Allowance,
    InvalidArgument,
    Method,
    Outputs,
    PerCall,
    PrivacyEvidence,
    Stream,
    Subject,
    TestDesign,
    Way,
    choose_events,
    claims,
    errors,
    name_callable,
    sandbox,
    scorers,
    stated_loss,
    states_a_law,
    text,
    validate,
    write_code,
)
from audit.extensions.search.corners import Corners, are_possible
from audit.extensions.search.neighbors import neighboring_pairs

_EXAMPLES = 200  # cases tried in one climb
_CORNERS = 100  # cases at corners, where methods give the epsilon of a case; as many again if none exceeds the claim
_WORSE = 60  # more cases where one does
_CLEAR = 0.75  # of the claimed epsilon: a cost that exceeds it by less may be of a loss that does not
_BEYOND = 50  # cases of a climb in their place, if parameters are searched: the worst setting may lie between corners
_CLIMBS = 3  # as long as none found a violation, another one starts elsewhere
_TRIAL = 400  # outputs per dataset for each pair tried
_SHRINKING, _SHRINKING_AT_CORNERS = 400, 100  # cases tried while shrinking; those at corners are simple
_ATTEMPTS = 10  # cases generated for each one tried, at most: climbing makes many that are not neighboring
_FOLLOWED = 5  # cases: if one of the first does not give its epsilon without trials, none is asked again
_SHRUNK, _SHRUNK_AT_CORNERS = 0.5, 0.9  # share of the excess that a shrunk case has; where the case can be repeated
_KEPT = 0.6  # share of a time limit that is left for the stages after the search
_ALIKE = 1e-3  # of two excesses, where none exceeds the claim: outputs vary more where the loss is smaller
_LARGEST = 50.0  # an excess that is not larger counts as it is: Hypothesis climbs finite numbers
_CLIMBING = (Phase.generate, Phase.target)


@dataclass(frozen=True)
class Searched(Way):
    """Hold the end of a search over datasets, the parameters of a mechanism, or both; it decides nothing."""

    settings: validate.Number  # that were tried, on training outputs
    setting: Mapping[str, Any]  # the one that was certified; empty where no parameters were searched
    budget: int  # outputs per dataset that its claim needs
    tolerance: float | None
    cases: validate.Number  # settings and pairs that were tried

    way: ClassVar[str] = "search"

    @classmethod
    def show_facts(cls, way: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the setting that was certified."""
        if way["setting"]:
            setting = ", ".join(f"{name} = {value}" for name, value in way["setting"].items())
            yield "setting", f"{setting}: the worst of {text.count(way['settings'])} that were tried"


class Case(NamedTuple):
    """Name the case that is tried: values of the parameters, and a pair where datasets are searched."""

    setting: Mapping[str, Any]
    pair: tuple[Any, Any] | None


class _Finished(BaseException):
    """Ends a climb after the last case; Hypothesis would take an `Exception` for a failure and repeat it."""


@dataclass
class Search:
    """Keep the cases that the search has run."""

    check: Any  # a privacy check with parameters, datasets, or both
    allowance: Allowance  # of the certification that follows; its stream seeds the trials, the same for every case
    samples: int = 0
    found: dict[Any, tuple[float, Case]] = field(default_factory=dict)  # excesses of cases, which are not tried again
    settings: set[str] = field(default_factory=set)  # values of the parameters that were tried
    cases: int = 0  # that were tried
    best: Case | None = None
    best_excess: float = -math.inf
    failure: str | None = None
    climbs: int = _CLIMBS  # one where no chance is in the epsilon of a case
    is_followed: bool = True  # whether methods that are tried first give an epsilon; asked of the first cases

    def find(self) -> Case:
        """Return the case with the largest excess, shrunk as far as it still shows most of the violation.

        A time limit ends the search, and leaves time to certify the best case until then.
        """
        try:
            return self._search()
        except _Finished:
            if self.best is None:
                raise sandbox.TimedOut from None
            return self.best

    def _search(self) -> Case:
        cases = _cases(self.check)
        corners = Corners(cases, self.allowance.stream.entropy)
        has_corners = bool(self.check.first_methods) and are_possible()
        if has_corners:
            self._try_corners(corners, _CORNERS)
        stays_at_corners = has_corners and self.climbs == 1 and self.check.parameters is None
        if stays_at_corners:
            self._try_corners(corners, _CORNERS if self.best_excess <= 0 else _WORSE)
            if 0 < self.best_excess < _CLEAR * self.check.claim.point.epsilon:
                self._try_corners(corners, _CORNERS)
        else:
            self._climb_often(cases)
        if self.best is None:
            cause = f": the mechanism {self.failure}" if self.failure else ""
            searched = "parameters" if self.check.datasets is None else "datasets"
            raise AuditError(f"`{searched}` gave no pair on which the mechanism could be tried{cause}")
        if self.best_excess <= 0:
            alike = [tried for tried in self.found.values() if -math.inf < tried[0] >= self.best_excess - _ALIKE]
            return min(alike, key=itemgetter(0), default=(0.0, self.best))[1]
        return self._simplify(corners, self.best) if stays_at_corners else self._shrink(cases, self.best)

    def _climb_often(self, cases: Any) -> None:
        for start in range(_CLIMBS):
            is_trial = start == 0 and not self.is_followed  # the first case may exceed the claim by little
            if (self.best_excess <= 0 or is_trial) and start < self.climbs:
                self._climb(cases, start + 1, _settings(_EXAMPLES if self.climbs > 1 else _BEYOND, _CLIMBING))

    def _try_corners(self, corners: Corners, most: int) -> None:
        """Try cases at corners, while methods give their epsilon."""
        most = min(most, _EXAMPLES)
        for _ in range(_ATTEMPTS * most):
            if not most or not self.is_followed or _is_late():
                break
            case = corners.draw()
            if case is None:
                continue
            most -= 1
            self.excess(case)
            if self.best is case:
                corners.keep()

    def _simplify(self, corners: Corners, best: Case) -> Case:
        """Return the simplest case that shows most of the largest excess."""
        threshold, end = _SHRUNK_AT_CORNERS * self.best_excess, self.cases + _SHRINKING_AT_CORNERS
        simplest = best

        def is_above(case: Case) -> bool:
            nonlocal simplest
            if self.cases >= end or _is_late():
                raise _Finished
            if self.excess(case) <= threshold:
                return False
            simplest = case
            return True

        with contextlib.suppress(_Finished):
            corners.simplify(is_above)
        return simplest

    def _shrink(self, cases: Any, best: Case) -> Case:
        """Return the simplest case if it shows most of the largest excess, which may grow meanwhile; else the worst."""
        tried = itertools.count()
        simplest, threshold, shown = best, _SHRUNK * self.best_excess, self.best_excess

        def is_above(case: Case) -> bool:
            nonlocal simplest, shown
            if next(tried) >= _SHRINKING:
                raise _Finished
            excess = self.excess(case)
            if excess > threshold and len(repr(case)) <= len(repr(simplest)):
                simplest, shown = case, excess
            return excess > threshold

        with contextlib.suppress(_Finished, hypothesis.errors.NoSuchExample):
            simplest = hypothesis.find(
                cases,
                is_above,
                settings=_settings(_SHRINKING, (*_CLIMBING, Phase.shrink)),
                random=random.Random(self.allowance.stream.entropy),
            )
            shown = self.excess(simplest)
        return simplest if shown > _SHRUNK * self.best_excess else self.best or best

    def excess(self, case: Case) -> float:
        """Return by how much epsilon is expected to exceed the claim; -inf when there is nothing to compare."""
        self.settings.add(repr(case.setting))
        key = _identify(case)
        if key not in self.found:
            self.found[key] = self._try(self.check.at(case.setting), case), case
        return self.found[key][0]

    def _try(self, bound: Any, case: Case) -> float:
        if _is_late():
            raise _Finished
        self.cases += 1
        try:
            pairs = bound.pairs if case.pair is None else [case.pair]
            found = float(max(self._epsilon(bound, pair) for pair in pairs) - bound.claim.point.epsilon)
        except (SubjectFailed, errors.BadBatch) as failure:
            self.failure = str(failure)
            return -math.inf
        found = min(found, _LARGEST)
        if found >= self.best_excess:  # equal ones too: the cases of a plateau are left by way of others
            self.best, self.best_excess = case, found
        return found

    def _epsilon(self, bound: Any, pair: tuple[Any, Any]) -> float:
        """Return the epsilon of a pair by its exact law where there is one, else as a small trial estimates it."""
        point, mechanism = bound.claim.point, bound.mechanism
        if isinstance(bound.method, Method) and not math.isnan(
            found := bound.method.find_epsilon(mechanism, pair, point.delta)
        ):
            return found
        if bound.method != "fixed" and states_a_law(mechanism):
            try:
                return float(stated_loss(mechanism, *pair).epsilon_lower_bound(point.delta))
            except Exception as error:  # the statement is the mechanism's code
                raise SubjectFailed("raised", f"raised {type(error).__name__} when it stated its law") from error
        for method in bound.first_methods if self.is_followed else ():
            if not math.isnan(found := method.find_epsilon(mechanism, pair, point.delta)):
                self.climbs = 1
                return found
            self.is_followed = self.cases > _FOLLOWED
        left, right = (self._trial(mechanism, dataset, side) for side, dataset in enumerate(pair))
        allowance = self.allowance
        design = TestDesign(math.inf, point.delta, _TRIAL, 2 * allowance.budget, allowance.significance)
        events = choose_events(
            scorers.Training(left, right, mechanism, pair), [design], bound.scorers, slow_scorers=()
        )[0]
        return events.estimated_bound if events is not None else -math.inf

    def _trial(self, mechanism: Any, dataset: Any, side: int) -> Outputs:
        self.samples += _TRIAL
        block = dataset, _TRIAL, self.allowance.stream.child(side).seed()
        try:
            return Subject(mechanism).draw(*block)[0]
        except SubjectFailed as failure:
            if failure.kind != "raised":
                raise
            return Subject(mechanism, one_by_one=True).draw(*block)[0]

    def _climb(self, cases: Any, start: int, settings: hypothesis.settings) -> None:
        """Try cases, and climb towards a larger excess."""
        asked = itertools.count()

        @st.composite
        def draw_some(draw: Any) -> Any:
            try:
                return draw(cases)
            finally:  # a draw that ends early looks to Hypothesis like a strategy that is not deterministic
                if next(asked) >= _ATTEMPTS * settings.max_examples or _is_late():
                    raise _Finished

        @hypothesis.seed(self.allowance.stream.entropy + start)
        @settings
        @hypothesis.given(draw_some())
        def climb(case: Case) -> None:
            excess = self.excess(case)
            if math.isfinite(excess):
                hypothesis.target(excess, label="excess over the claim")

        with contextlib.suppress(_Finished, hypothesis.errors.Unsatisfiable):
            climb()


def _identify(case: Case) -> Any:
    """Return a key of a case: Hypothesis tries many again, and refuses one that comes out otherwise then."""
    try:
        return pickle.dumps((dict(case.setting), case.pair), -1)
    except Exception:  # an object of the user's
        return repr([case.setting, *map(write_code, case.pair or ())])


def _is_late() -> bool:
    return sandbox.clock().left < _KEPT * sandbox.clock().seconds < math.inf


@st.composite
def _cases(draw: Any, check: Any) -> Case:
    setting = {} if check.parameters is None else draw(check.parameters)
    bound = check.at(setting)
    if check.datasets is None or isinstance(check.method, Method):
        return Case(setting, None)
    return Case(setting, draw(neighboring_pairs(bound.claim.relation, bound.datasets)))


def _settings(examples: int, phases: tuple[Phase, ...]) -> hypothesis.settings:
    return hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        phases=phases,
    )


_TAKEN = ("dataset", "size", "rng")  # arguments of every mechanism: a setting of that name would replace them


def gather(check: Any, allowance: Allowance) -> PrivacyEvidence:
    """Search the worst case of a check, and gather its evidence on fresh outputs."""
    search = Search(check, replace(allowance, stream=allowance.stream.child(Stream.SEARCH)))
    case = search.find()
    found = check.at(case.setting)
    if case.pair is not None:
        found = replace(found, pairs=[case.pair], datasets=None)
    if check.parameters is not None and allowance.effort is not None:
        found, allowance = found.plan_effort(allowance.effort, allowance)
    evidence: PrivacyEvidence = found.gather(allowance)
    tried = len(search.settings), dict(case.setting)
    ways = (*evidence.ways, Searched(*tried, allowance.budget, found.tolerance, search.cases))
    return replace(evidence, samples=evidence.samples + search.samples, found_pair=case.pair, ways=ways)


def find_simplest(parameters: Any) -> Mapping[str, Any]:
    """Return the simplest values of the parameters."""
    shortest = _settings(_SHRINKING, (Phase.generate, Phase.shrink))
    found: Mapping[str, Any] = hypothesis.find(parameters, lambda _: True, settings=shortest)
    return found


def make_strategy(parameters: Any) -> st.SearchStrategy[Any]:
    """Return one strategy of those of the parameters, or the one that was given."""
    if isinstance(parameters, Mapping) and all(isinstance(part, st.SearchStrategy) for part in parameters.values()):
        return st.fixed_dictionaries(dict(parameters))
    if not isinstance(parameters, st.SearchStrategy):
        raise InvalidArgument.of("parameters", "be a mapping of names to Hypothesis strategies", parameters)
    return parameters


def require_datasets(datasets: Any) -> None:
    """Raise `InvalidArgument` for anything but a strategy."""
    if not isinstance(datasets, st.SearchStrategy):
        listed = "a list of all datasets needs method='enumerate'"
        raise InvalidArgument.of("datasets", "be a Hypothesis strategy", datasets, listed)


def bind_check(check: Any, setting: Mapping[str, Any]) -> Any:
    """Return the check of the mechanism with these values of its parameters."""
    if taken := [name for name in setting if name in _TAKEN]:
        raise InvalidArgument.of("parameters", f"have other names than {', '.join(_TAKEN)}", taken[0])
    if wrong := [name for name, value in setting.items() if not _is_plain(value)]:
        raise InvalidArgument.of("parameters", f"draw plain data for {wrong[0]!r}", setting[wrong[0]])

    def apply(part: Any, is_function: bool) -> Any:
        return part(**setting) if is_function else part

    return replace(
        check,
        mechanism=_bind(check.mechanism, setting),
        claim=apply(check.claim, not isinstance(check.claim, claims.Claim)),
        pairs=apply(check.pairs, callable(check.pairs)),
        datasets=apply(check.datasets, inspect.isroutine(check.datasets)),
        parameters=None,
    )


def _is_plain(value: Any) -> bool:
    """Return whether a value is kept by a certificate as it is."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value))


def _bind(mechanism: Any, setting: Mapping[str, Any]) -> Any:
    """Return a mechanism with values of its parameters: a class is made with them, a function is called with them."""
    if isinstance(mechanism, PerCall):
        return PerCall(_bind(mechanism.function, setting), mechanism.takes_rng)
    try:
        inspect.signature(mechanism).bind_partial(**setting)
    except ValueError:  # it does not say
        pass
    except TypeError as error:
        said = f"`mechanism` must take the parameters {', '.join(setting)}, got {name_callable(mechanism)}: {error}"
        raise InvalidArgument(said) from None
    if inspect.isclass(mechanism):
        return mechanism(**setting)
    made = partial(mechanism, **setting)
    if Subject(mechanism).own_randomness:  # `partial` does not pass on attributes of an object
        made.own_randomness = True  # type: ignore[attr-defined]
    return made
