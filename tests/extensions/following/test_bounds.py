"""Bounds of followed noise against the truth: programs whose answer is known by hand."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import audit
from audit.errors import InvalidArgument
from audit.extensions.following import alignment, engine, explain, follow, paths, rules
from audit.extensions.following.evidence import Bound, Direction, is_kept
from audit.extensions.following.noise import NoiseLaw
from audit.extensions.following.record import NotFollowed
from tests.extensions.following.programs import EVEN, ODD, ONE, PROGRAMS, ZERO


@pytest.fixture(autouse=True)
def few_outputs(monkeypatch):
    monkeypatch.setattr(engine, "_FRESH", 0)
    monkeypatch.setattr(engine, "ROWS", 20_000)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_the_bound_is_the_one_by_hand(program):
    result = follow(program.mechanism, program.left, program.right, runs=40)
    assert result.is_followed
    assert result.epsilon == pytest.approx(program.epsilon, rel=1e-6)
    assert result.mu == pytest.approx(program.mu, rel=1e-6)
    assert result.delta > 0


def test_comparisons_that_the_output_does_not_show_are_merged_for_a_claim():
    program = PROGRAMS["noisy max in a loop"]
    by_path = follow(program.mechanism, program.left, program.right, runs=20)
    merged = follow(program.mechanism, program.left, program.right, epsilon=1.0, runs=20)
    assert by_path.epsilon == pytest.approx(2.0)
    assert merged.epsilon == pytest.approx(1.0)
    assert merged.shift == "output"


def test_a_trial_that_stops_leaves_the_next_run_as_it_was(monkeypatch):
    def propose(self, path, seed, plain):
        path.reason = alignment.GAUSSIAN
        if self.values_only:
            raise NotFollowed("it stops")

    monkeypatch.setattr(paths.Follower, "_propose", propose)
    follower = paths.Follower(PROGRAMS["count"].mechanism, ZERO, ONE)
    assert follower.follow(0, certify=False).reason == "it stops"
    assert (follower.values_only, follower.sums_first) == (False, False)


def test_the_same_seed_gives_the_same_evidence_and_global_generators_are_restored():
    program = PROGRAMS["sparse vector 1"]
    np.random.seed(3)  # noqa: NPY002
    results = [follow(program.mechanism, program.left, program.right, runs=20) for _ in range(2)]
    after = np.random.random()  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    assert after == np.random.random()  # noqa: NPY002
    assert results[0] == results[1]


def test_delta_of_gaussian_noise_is_bounded_by_exact_losses():
    """The truth at epsilon 1 is 0.1269 (mu 1, Balle & Wang 2018); the bound misses it with probability .05."""
    result = follow(lambda d, size, rng: d.sum() + rng.normal(size=size), ZERO, ONE, epsilon=1.0)
    assert 0.1269 <= result.loss_delta(0.05) <= 0.14
    assert result.keeps(audit.PrivacyClaim(1.0, 0.12694), 0.05)
    assert not result.keeps(audit.PrivacyClaim(1.0, 0.1269), 0.05)


def test_laplace_and_gaussian_noise_together_have_both_parts():
    result = follow(
        lambda d, size, rng: np.c_[
            d.sum() + rng.laplace(scale=2.0, size=size), d.sum() + rng.normal(scale=2.0, size=size)
        ],
        ZERO,
        ONE,
    )
    assert (result.epsilon, result.mu) == pytest.approx((0.5, 0.5))


def test_half_the_noise_is_seen_in_epsilon_and_in_delta():
    """Laplace noise of scale 1/2: epsilon 2, and delta 1 - exp(-1/2) = 0.3935 at epsilon 1."""
    result = follow(lambda d, size, rng: d.sum() + rng.laplace(scale=0.5, size=size), ZERO, ONE, epsilon=1.0)
    assert result.epsilon == pytest.approx(2.0)
    assert 0.3935 <= result.loss_delta(0.05) <= 0.41


def test_the_exact_law_of_finite_randomness_has_its_delta():
    """Randomized response with 3/4: epsilon log 3, and at epsilon 0 delta is 3/4 - 1/4."""
    result = follow(
        audit.per_call(lambda d, rng: int(d[0]) if rng.random() < 0.75 else 1 - int(d[0])),
        ZERO,
        ONE,
        epsilon=0.0,
        runs=50,
    )
    assert result.shift == "exact"
    assert result.epsilon == pytest.approx(math.log(3))
    assert result.exact_delta == pytest.approx(0.5)
    assert result.loss_delta(0.05) == pytest.approx(0.5 + result.delta)


def test_no_run_of_a_pilot_certifies(monkeypatch):
    """In calls of one output no run is made twice; the seeds of a call of many are none of its pilots."""
    asked, replay = [], engine.replay

    def replayed(mechanism, ends, rule, size, seed, *more):
        asked.append((float(ends[0].sum()), seed, size))
        return replay(mechanism, ends, rule, size, seed, *more)

    monkeypatch.setattr(engine, "replay", replayed)
    assert follow(audit.per_call(lambda d, rng: d.sum() + rng.laplace()), ZERO, ONE, epsilon=1.0, runs=50).runs == (
        50,
        50,
    )
    assert len(asked) == len(set(asked)) > 100
    asked.clear()
    rows = follow(lambda d, size, rng: d.sum() + rng.laplace(size=size), ZERO, ONE, epsilon=1.0).runs[0]
    certifying, pilots = (
        {(side, seed) for side, seed, size in asked if (size == rows) is is_last} for is_last in (True, False)
    )
    assert len(certifying) == len(pilots) == 2
    assert certifying.isdisjoint(pilots)


def test_few_followed_runs_are_enough_where_all_move_alike(monkeypatch):
    calls = []

    def noisy(d, rng):
        calls.append(d)
        return d.sum() + rng.laplace()

    counted = []
    for enough in (4, 2):
        monkeypatch.setattr(engine, "_ALIKE", enough)
        calls.clear()
        assert follow(audit.per_call(noisy), ZERO, ONE, epsilon=1.0, runs=60).shift == "constant"
        counted.append(len(calls))
    assert counted[0] == counted[1] + 2 * 2 * 4  # runs, directions, and four calls to follow one run
    assert counted[0] < 4 * 60 + 100


def leak_seldom(data, rng):
    return data.sum() + rng.laplace(), data.sum() if rng.random() < 0.005 else 0.0


def test_few_bad_runs_leave_a_rule_as_it_is():
    found = follow(audit.per_call(leak_seldom), ZERO, ONE, runs=200)
    assert (found.shift, found.bad) == ("constant", (0, 1))


def test_delta_by_hand():
    """Clopper and Pearson at 0.025: R, binom.test(10, 100), upper end; and 1 - 0.025^(1/100).

    Each direction has nine tenths of 1 - confidence where one shift holds, and a tenth where each run has its own.
    """
    bound = Bound(1.0, 0.0, "path", "", (100, 100), (10, 0), (10, 0), confidence=0.75)
    assert bound.delta == pytest.approx(0.1762226, abs=1e-7)
    assert Bound(1.0, 0.0, "path", "", (100, 100), confidence=0.75).delta == pytest.approx(1 - 0.025**0.01)
    one_shift = dataclasses.replace(bound, shift="constant", confidence=1 - 0.025 / 0.9)
    assert one_shift.delta == pytest.approx(0.1762226, abs=1e-7)
    assert Bound(1.0, 0.0, "path", "", (9, 9), (9, 0), (9, 0)).delta == 1.0
    direction = Direction()
    direction.add(np.zeros(90), np.zeros(90), np.zeros(90))
    direction.add_bad("unlike", 10)
    assert direction.count_excess(0.0) == 10


@pytest.mark.parametrize(
    ("claim", "epsilon", "mu", "kept"),
    [
        (audit.PrivacyClaim(1.0), 1.0, 0.0, True),
        (audit.PrivacyClaim(1.0), 1.0001, 0.0, False),
        (audit.PrivacyClaim(1.0), 0.5, 0.1, False),  # Gaussian noise has no epsilon at delta = 0
        (audit.PrivacyClaim(1.0, 0.127), 0.0, 1.0, True),  # 0.12694
        (audit.PrivacyClaim(1.0, 0.1269), 0.0, 1.0, False),
        (audit.GaussianClaim(1.0), 0.0, 1.0, True),
        (audit.GaussianClaim(0.99), 0.0, 1.0, False),
        (audit.GaussianClaim(0.9), 0.7, 0.0, True),  # 2 ppf(e^.7 / (1 + e^.7)) = 0.8654
        (audit.GaussianClaim(0.86), 0.7, 0.0, False),
        (audit.ZeroConcentratedClaim(0.5), 0.0, 1.0, True),
        (audit.ZeroConcentratedClaim(0.5), 1.0, 0.0, True),  # epsilon^2 / 2, Bun & Steinke 2016
        (audit.ZeroConcentratedClaim(0.1), 1.0, 0.0, False),
        (audit.ZeroConcentratedClaim(5.0), 0.1, 0.1, False),  # the two together are not judged
        (audit.PrivacyClaim(1.0), math.inf, 0.0, False),
    ],
)
def test_what_follows_from_a_bound(claim, epsilon, mu, kept):
    assert is_kept(claim, epsilon, mu) is kept


def test_delta_is_never_left_out_of_the_text():
    program = PROGRAMS["count"]
    assert "delta'" in str(follow(program.mechanism, program.left, program.right))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"runs": 0}, "`runs` must be"),
        ({"confidence": 1.0}, "`confidence` must lie strictly"),
    ],
)
def test_impossible_arguments_raise(options, text):
    with pytest.raises(InvalidArgument, match=text):
        follow(PROGRAMS["count"].mechanism, ZERO, ONE, **options)


def test_the_ledger_names_the_line_that_spends_too_much():
    def three_queries(data, rng):
        size = len(data) + rng.laplace(scale=3.0)
        total = data.sum() + rng.laplace(scale=0.5)  # the fault
        return size, total, data.max() + rng.laplace(scale=4.0)

    ledger = explain(audit.per_call(three_queries), ZERO, ONE, runs=4, claimed=1.0)
    worst = max(ledger.draws, key=lambda entry: entry.spends)
    assert "scale=0.5" in worst.code
    assert (worst.noise, worst.moves_by, worst.spends) == ("Laplace(0.5)", pytest.approx(1.0), pytest.approx(2.0))
    assert ledger.epsilon == pytest.approx(2.25)
    text = str(ledger)
    assert text.splitlines()[0].split() == ["line", "noise", "moves", "by", "spends"]
    assert "claimed 1" in text


def test_the_second_table_names_the_line_that_decides():
    program = PROGRAMS["sparse vector 6"]
    ledger = explain(program.mechanism, program.left, program.right, runs=10)
    decided = [entry for entry in ledger.observations if entry.kind == "decision"]
    assert [entry.code for entry in decided] == ["if noisy >= bar:"]
    assert decided[0].price == pytest.approx(ledger.epsilon, rel=1e-6)


def test_a_value_that_leaves_after_a_decision_shows_what_it_adds():
    """The place of the noisy maximum costs what is claimed, and its value as much again."""

    def release_the_largest(data, rng):
        noisy = data + rng.laplace(scale=2.0, size=len(data))
        place = int(np.argmax(noisy))
        return place, float(noisy[place])

    ledger = explain(audit.per_call(release_the_largest), EVEN, ODD, claimed=1.0)
    assert [(seen.kind, round(seen.price, 6)) for seen in ledger.observations] == [("place or order", 1), ("value", 1)]
    assert ledger.epsilon == pytest.approx(2.0)


def test_a_ledger_that_cannot_be_followed_says_why():
    assert "not followed" in str(explain(audit.per_call(lambda d, rng: d.sum() + rng.lognormal()), ZERO, ONE, runs=2))


class Uncopied:
    """A dataset that cannot be copied."""

    def __deepcopy__(self, memo):
        raise RuntimeError("no\ncopy")


@pytest.mark.parametrize(
    "program", [lambda d, rng: (x for x in d), lambda d, rng: lambda: rng.laplace(), lambda d, rng: rng.bytes(2)]
)
def test_what_cannot_be_followed_ends_in_one_line(program):
    result = follow(audit.per_call(program), ZERO, ONE, runs=5)
    assert result.reason
    assert "\n" not in result.reason
    assert math.isinf(result.epsilon)
    assert result.delta == result.loss_delta(0.05) == 1.0
    assert "not followed" in str(explain(audit.per_call(program), ZERO, ONE, runs=2))


def test_a_dataset_that_cannot_be_copied_is_not_followed():
    result = follow(PROGRAMS["count"].mechanism, Uncopied(), Uncopied(), runs=5)
    assert result.reason == "RuntimeError while it was followed: no copy"


def reversed_view(data, size, rng):
    return (data + rng.laplace(size=(size, 4)))[:, ::-1]


def by_order_in_memory(data, rng):
    noisy = data.reshape(2, 2) + rng.laplace(size=(2, 2))
    return np.asfortranarray(noisy) if data[0] else noisy


def test_a_view_is_followed_and_an_order_in_memory_that_tells_the_dataset_is_not():
    pair = np.zeros(4), np.eye(4)[0]
    found = follow(reversed_view, *pair)
    assert (found.is_followed, round(found.epsilon, 6)) == (True, 1.0)
    assert found.epsilon > 1 + 1e-10  # rounding is added to a cost
    assert not follow(audit.per_call(by_order_in_memory), *pair).epsilon < math.inf


@pytest.mark.parametrize("law", ["laplace", "exponential", "gumbel"])
@pytest.mark.parametrize("winner", [0, 2, 4])
def test_a_noisy_maximum_is_aligned_as_by_the_program(law, winner, monkeypatch):
    """The closed form costs the same as the program, and its shift keeps every comparison."""
    rng = np.random.default_rng(winner)
    least = -0.5 * np.delete(np.eye(5), winner, axis=0)
    least[:, winner] = 0.5
    by, laws = rng.normal(0.5, 1, 4), [NoiseLaw(law)] * 5
    shift = alignment.solve_program(least, by, laws)
    monkeypatch.setattr(alignment, "_find_winner", lambda least, laws: None)
    by_program = alignment.solve_program(least, by, laws)
    assert np.all(least @ shift >= by - 1e-12)
    assert laws[0].cost_of(shift).sum() == pytest.approx(laws[0].cost_of(by_program).sum(), rel=1e-9)
    assert np.flatnonzero(shift).tolist() == [winner]


@pytest.mark.parametrize(
    ("law", "epsilon"), [("laplace", 1.0), ("normal", math.log(stats.norm.cdf(0.5) / stats.norm.sf(0.5)))]
)
def test_noise_that_a_comparison_alone_shows_moves_as_little_as_it_may(law, epsilon, monkeypatch):
    """By shifts alone: from 0 to 1 "no" moves noise by 1, and "yes" by nothing; what is no shift costs its mass."""
    monkeypatch.setattr(engine, "find_exact", lambda *_, **__: None)
    found = follow(audit.per_call(lambda data, rng: bool(data.sum() + getattr(rng, law)() > 0.5)), ZERO, ONE, runs=40)
    assert found.epsilon == pytest.approx(epsilon), found.reason
    assert str(found) == found.describe(1 - 0.95)


def test_the_price_of_student_noise_is_the_steepest_cost_of_a_shift():
    law, shift = NoiseLaw("student", 4.0), np.array([1e-6, 0.1, 1.0, 10.0])
    slopes = law.cost_of(shift) / shift
    assert slopes.max() == pytest.approx(law.prices[0])
    assert np.all(slopes <= law.prices[0])


def test_a_merged_comparison_moves_by_the_most_that_a_run_needs(monkeypatch):
    group = [SimpleNamespace(record=SimpleNamespace(laws=[NoiseLaw("laplace")])) for _ in range(3)]
    needs = dict(zip(map(id, group), (1.0, 2.0, 0.5), strict=True))
    monkeypatch.setattr(rules, "_list_needs", lambda path: [(((0, 1.0),), needs[id(path)])])
    assert rules._merge(group) == pytest.approx([2.0])


def count_with_int(data, rng):
    total = int(data.sum()) + int(rng.geometric(0.6) - rng.geometric(0.6))
    return total if isinstance(total, int) else None, np.zeros(2, int)


def count_with_round(data, rng):
    return round(data.sum()) + round(rng.geometric(0.6) - rng.geometric(0.6))


@pytest.mark.parametrize("count", [count_with_int, count_with_round])
def test_an_integer_of_noise_that_is_an_integer_stays_noise(count):
    """Two-sided geometric noise of p = 0.6: a shift by one costs log(1 / 0.4)."""
    result = follow(audit.per_call(count), ZERO, ONE, runs=20)
    assert result.epsilon == pytest.approx(-math.log(0.4)), result.reason
    assert "int" not in globals()  # the name that hid the builtin is gone


def test_densities_are_those_of_scipy():
    values = np.array([1.0, 2.0, 5.0])
    for law, reference in (
        (NoiseLaw("laplace"), stats.laplace.logpdf),
        (NoiseLaw("normal"), stats.norm.logpdf),
        (NoiseLaw("student", 4.0), stats.t(4).logpdf),
        (NoiseLaw("geometric", 0.3), stats.geom(0.3).logpmf),
    ):
        assert law.log_density(values) == pytest.approx(reference(values))


def test_the_winner_of_uniform_noise_is_not_raised():
    least, laws = np.array([[1.0, -1.0]]), [NoiseLaw("uniform")] * 2
    assert alignment.solve_program(least, np.ones(1), laws) is None
