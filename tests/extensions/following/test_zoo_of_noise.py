"""No program of the zoo gets a bound below its truth, and each guard is needed for one."""

import warnings

import numpy as np
import pytest

from audit.extensions.following import alignment, engine, noise, paths, record, runs, sources, traced
from tests.extensions.following.hostile import CASES

BY_ID = {case.id: case for case in CASES}

# threads of programs that may not draw there end in exceptions of their own
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


@pytest.fixture(autouse=True)
def few_outputs(monkeypatch):
    monkeypatch.setattr(engine, "ROWS", 2_000)


def judge(case):
    return engine.Search(case.mechanism, (case.left, case.right), 30, 0, 60.0, fresh=None if case.fresh else 0).run()


@pytest.mark.false_alarm(0.05, seeded=True)  # of the rare leaks; each bound holds with confidence .95
@pytest.mark.parametrize("case", CASES, ids=list(BY_ID))
def test_no_bound_below_the_truth(case):
    result = judge(case)
    assert case.is_sound(result), f"{result}, truth {case.epsilon}, mu {case.mu}"
    if case.is_followed:
        assert result.is_followed, result.reason
        assert result.epsilon == pytest.approx(case.epsilon if case.bound is None else case.bound, rel=1e-6)
    assert result.is_followed == (not result.reason)
    assert "\n" not in result.reason


GUARDS = {  # a guard, how it is taken out, the case that then gets a bound below its truth
    "outputs are compared": (
        lambda m: m.setattr(runs.Form, "equals", lambda self, other: True),
        "beside the noise: data",
    ),
    "what is no number is compared": (
        lambda m: m.setattr(runs.Form, "compare", lambda self, other: np.isclose(self.numbers, other.numbers).all(1)),
        "beside the noise: list or tuple",
    ),
    "signs of zero are compared": (
        lambda m: m.setattr(runs.Form, "compare", lambda self, other: np.isclose(self.numbers, other.numbers).all(1)),
        "beside the noise: sign of zero",
    ),
    "fresh processes": (
        lambda m: m.setattr(engine, "_FRESH", 0),
        "caches: cached_first",
    ),
    "twins of their own": (
        lambda m: m.setattr(sources, "_TWIN", np.random.mtrand._rand),
        "generators: global rewound",
    ),
    "many outputs of a call": (
        lambda m: m.setattr(engine.Search, "_replay_rows", _raise_rows),
        "rows: half the noise in many",
    ),
    "a shift down of Gumbel noise": (
        lambda m: m.setitem(noise._PRICES, "gumbel", (1.0, 1.0)),
        "control: Gumbel value",
    ),
    "a shift down of exponential noise": (
        lambda m: m.setitem(noise._PRICES, "exponential", (1.0, 1.0)),
        "control: one-sided",
    ),
    "a scale that depends on the data": (
        lambda m: m.setattr(alignment._Program, "_charge_known", _charge_as_shift),
        "control: scale of the data",
    ),
}


def _raise_rows(self, rules):
    raise engine.RowsNotFollowed("taken out")


_CHARGE = alignment._Program._charge_known


def _charge_as_shift(self, rows, noise, scale, other_scale, moved):
    _CHARGE(self, rows, noise, scale, scale, moved)


@pytest.mark.parametrize("guard", GUARDS)
def test_each_guard_is_needed(guard, monkeypatch):
    take_out, name = GUARDS[guard]
    case = BY_ID[name]
    assert case.is_sound(judge(case))
    take_out(monkeypatch)
    assert not case.is_sound(judge(case))


def test_plain_runs_are_needed(monkeypatch):
    """Without the genuine run beside the traced one, and without the replay, half the noise is not seen."""
    case = BY_ID["probes: isinstance float, half where plain"]
    follower = paths.Follower(case.mechanism, case.left, case.right)
    assert not follower.follow(1).is_good
    monkeypatch.setattr(runs.Form, "equals", lambda self, other: True)
    path = follower.follow(1)
    assert path.is_good
    assert path.alignment.cost == pytest.approx(1.0)  # true: 2


def test_a_wrong_sign_in_the_program_is_found_by_the_plain_runs(monkeypatch):
    """Inequalities with the wrong sign give a plausible shift, which the replay refuses in a part of the runs."""
    case = next(case for case in CASES if case.name == "argmax of 5, laplace")
    good = alignment._solve
    monkeypatch.setattr(alignment._Program, "_verify", lambda self: None)
    monkeypatch.setattr(
        alignment, "_solve", lambda equal, by, least, least_by, laws: good(equal, by, least, -least_by, laws)
    )
    result = judge(case)
    assert not result.is_followed or result.delta > 0.2


def test_the_traced_array_owns_no_buffer():
    array = sources.Tracer().draw(noise.NoiseLaw("laplace"), 0.0, 1.0, 3, np.random.default_rng(0).laplace)
    with pytest.raises(record.NotFollowed, match=r"\.data of noise"):
        array.data  # noqa: B018


def draw_laplace(source, shape, rng):
    return source.draw(noise.NoiseLaw("laplace"), 0.0, 1.0, shape, lambda size: rng.laplace(size=size))


def test_a_buffer_gets_the_numbers_of_a_function_without_a_rule_and_an_order_is_that_of_all_elements():
    array = draw_laplace(sources.Tracer(), (2, 3), np.random.default_rng(0))
    plain, buffer = np.random.default_rng(0).laplace(size=(2, 3)), np.zeros((2, 3))
    np.cos(array, out=buffer)
    assert np.array_equal(buffer, np.cos(plain))
    assert np.array_equal(np.argsort(array, axis=None), np.argsort(plain, axis=None))


@pytest.mark.parametrize(("size", "is_followed"), [(200, True), (300, False)])
def test_a_product_with_data_of_more_than_50_000_numbers_observes_the_noise(size, is_followed):
    array = draw_laplace(sources.Tracer(), size, np.random.default_rng(0))
    assert isinstance(array @ np.ones((size, size)), traced.Traced) == is_followed


def test_noise_that_is_used_up_is_drawn_anew():
    supplier, rng = sources.PlainSupplier([0.5]), np.random.default_rng(0)
    drawn = [draw_laplace(supplier, (), rng) for _ in range(2)]
    assert drawn == [0.5, np.random.default_rng(0).laplace(size=2)[1]]


def test_a_case_is_judged_by_its_truth():
    case = BY_ID["control: no noise"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = judge(BY_ID["additive: plain"])
    assert not case.is_sound(result)
