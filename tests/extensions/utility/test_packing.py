"""The packing audit: its bound by hand, equality for randomized response, coverage, refusals."""

import math

import numpy as np
import pytest
from scipy.stats import beta, binom

from audit import AuditError, GaussianClaim, Labeled, PackingCheck, PrivacyClaim, Verdict, check_packing, run
from audit.certificate.verify import judge_record
from audit.extensions.utility.guarantee import planned_looks
from audit.extensions.utility.packing import group_delta, largest_hit_rate, packing_epsilon_lower_bound
from tests.offenders import for_each


@pytest.mark.parametrize(("size", "published"), [(10, 8.0), (10**3, 12.7), (10**6, 19.6), (10**12, 33.4)])
def test_all_successes(size, published):
    # p_L = .05^(1/1000) = .9970088; (K - 1) p_L / (1 - p_L) = 333.3 (K - 1)
    bound = packing_epsilon_lower_bound(1000, 1000, size, 1)
    assert bound == pytest.approx(published, abs=0.05)
    assert bound == pytest.approx(math.log((size - 1) * 0.997008751 / 0.002991249), abs=1e-5)


@pytest.mark.parametrize(("successes", "trials", "size", "distance", "delta"), [
    (90, 100, 50, 1, 0.0), (90, 100, 50, 3, 0.0), (90, 100, 50, 1, 1e-3), (90, 100, 50, 2, 1e-4),
    (40, 100, 10**9, 2, 1e-9), (1, 1, 2, 1, 0.0), (3, 100, 2, 1, 0.0),
    (70, 100, 2, 1, 0.05), (40, 100, 10**40, 1, 1e-9),
])  # fmt: skip
def test_the_packing_bound_is_where_its_inequality_turns(successes, trials, size, distance, delta):
    found = packing_epsilon_lower_bound(successes, trials, size, distance, delta=delta, significance=0.05)
    rate = beta.ppf(0.05, successes, trials - successes + 1)

    def broken(epsilon):
        growth = distance if epsilon == 0 else math.expm1(epsilon * distance) / math.expm1(epsilon)
        return (size - 1) * (rate - delta * growth) > math.exp(epsilon * distance) * (1 - rate)

    assert found == 0.0 or broken(found * (1 - 1e-9))
    assert not broken(found + 1e-9)


def test_group_privacy_beyond_floating_point_is_infinite_and_without_delta_zero():
    assert group_delta(10.0, 100, 1e-3) == math.inf
    claim = PrivacyClaim(0.702)
    assert largest_hit_rate(claim, 10**308, 1000) == pytest.approx(1 / (1 + math.exp(-702) * 1e308), rel=1e-9)


REFUSED = [
    ("trials", lambda: packing_epsilon_lower_bound(0, 0, 2, 1)),
    ("successes", lambda: packing_epsilon_lower_bound(-1, 2, 2, 1)),
    ("successes", lambda: packing_epsilon_lower_bound(3, 2, 2, 1)),
    ("family_size", lambda: packing_epsilon_lower_bound(1, 2, 1, 1)),
    ("distance", lambda: packing_epsilon_lower_bound(1, 2, 2, 0)),
    ("delta", lambda: packing_epsilon_lower_bound(1, 2, 2, 1, delta=2.0)),
    ("significance", lambda: packing_epsilon_lower_bound(1, 2, 2, 1, significance=0.0)),
]


@for_each(REFUSED)
def test_refusals_name_the_argument_and_show_the_value(name, call):
    with pytest.raises(AuditError, match=rf"^`{name}` must \w+.*, got .+ \(\w+\)$"):
        call()


@pytest.mark.parametrize("size", [2, 10, 100])
def test_exact_coverage_on_randomized_response(size):
    epsilon, trials, level = 1.0, 300, 0.05
    p = math.e / (math.e + size - 1)  # equality case: the certificate's truth is epsilon
    wrong = [
        s for s in range(trials + 1) if packing_epsilon_lower_bound(s, trials, size, 1, significance=level) > epsilon
    ]
    assert 0.01 < binom.pmf(wrong, trials, p).sum() <= level


def family(size):
    def dataset(index, rng):
        moving = (index + 1) / (size + 1)
        return Labeled(np.r_[np.zeros(50), np.ones(49), moving], np.r_[np.zeros(50, int), np.ones(50, int)])

    def hits(index, output):
        return abs(output - (index + 1) / (size + 1) / 2) < 0.999 / (4 * (size + 1))

    return dataset, hits


def midpoint(data, size, rng):
    return np.full(size, (data.X[data.y == 0].max() + data.X[data.y == 1].min()) / 2)


def test_broken_promises_of_the_caller_are_refused():
    dataset, hits = family(100)
    arguments = dict(family_size=100, distance=1, budget=30)
    with pytest.raises(AuditError, match="disjoint"):
        check_packing(midpoint, PrivacyClaim(1.0), dataset, lambda index, output: True, **arguments)
    with pytest.raises(AuditError, match="distance"):
        check_packing(
            midpoint, PrivacyClaim(1.0), lambda i, rng: Labeled(rng.random(4), np.zeros(4, int)), hits, **arguments
        )


def test_calls_that_raise_are_misses():
    def broken(data, size, rng):
        raise ValueError("no")

    dataset, hits = family(100)
    result = check_packing(broken, PrivacyClaim(1.0), dataset, hits, family_size=100, distance=1, budget=20)
    assert result.epsilon_lower_bound == 0.0
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "the learner raised in 20 runs, first ValueError: no" in result.reason


@pytest.mark.parametrize(("learner", "verdict"), [(midpoint, Verdict.FAIL), (None, Verdict.INCONCLUSIVE)])
def test_calls_that_raise_bar_a_pass_and_no_fail(learner, verdict):
    """Every tenth run raises: hits at 0.9 refute all the same, and hits of a private learner do not make a PASS."""

    def sometimes(data, size, rng):
        if rng.random() < 0.1:
            raise OSError("no entropy here")
        return (learner or uniform)(data, size, rng)

    (result,) = run([packing_check(sometimes)], significance=1e-7, seed=1, workers=0).results
    assert result.verdict is verdict
    assert ("OSError: no entropy here" in result.reason) == (verdict is Verdict.INCONCLUSIVE)


def test_one_look_bounds_epsilon_better_than_several():
    """Of 1000 hits in 1000 outputs one look certifies log(999) + log(.05^.001 / (1 - .05^.001)) = 12.72; the looks
    stop at the first, 64 of 64 at a share of .05: log(999) + log(a^(1/64) / (1 - a^(1/64))),
    a = .05 / 2 / (looks - 1)."""
    early, late = (
        run([packing_check(midpoint, epsilon=1.0, stop_early=stop)], seed=1, workers=0).results[0]
        for stop in (True, False)
    )
    assert (early.successes, late.successes) == (64, 1000)
    assert late.epsilon_lower_bound == packing_epsilon_lower_bound(1000, 1000, 1000, 1)
    looks = planned_looks(955, 64)  # 64, 80, 100, ...: all but the last, at 955, share half
    share = 0.05 / 2 / (len(looks) - 1)
    assert early.epsilon_lower_bound == pytest.approx(packing_epsilon_lower_bound(64, 64, 1000, 1, significance=share))


def packing_check(learner, epsilon=5.0, size=1000, **settings):
    dataset, hits = family(size)
    defaults = dict(name="packing", learner=learner, claim=PrivacyClaim(epsilon), family_size=size, distance=1)
    return PackingCheck(**{**defaults, "dataset_for": dataset, "hits": hits, "budget": 1000, **settings})


def uniform(data, size, rng):
    return rng.random(size) / 2


def test_the_largest_hit_rate_is_where_the_bound_meets_the_claim():
    assert largest_hit_rate(PrivacyClaim(1.0), 10, 1) == pytest.approx(math.e / (math.e + 9))
    for claim, size, steps in ((PrivacyClaim(0.5), 100, 3), (PrivacyClaim(0.5, 1e-3), 100, 3)):
        p = largest_hit_rate(claim, size, steps)
        leak = claim.delta * math.expm1(steps * claim.epsilon) / math.expm1(claim.epsilon)
        assert (size - 1) * (p - leak) == pytest.approx(math.exp(steps * claim.epsilon) * (1 - p))


def test_a_packing_check_convicts_and_is_judged_again_from_its_record():
    report = run([packing_check(midpoint)], significance=0.001, seed=1, workers=0)
    (result,) = report.results
    assert (result.verdict, result.successes) == (Verdict.FAIL, 64)
    assert judge_record(result.record())["verdict"] == "FAIL"
    assert "midpoint" in result.record()["mechanism"]


def test_a_packing_check_does_not_convict_a_private_learner():
    assert run([packing_check(uniform)], significance=1e-7, seed=1, workers=0).results[0].verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(learner=3), "`learner` must be callable"),
        (dict(claim=1.0), "`claim` must be a PrivacyClaim"),
        (dict(claim=GaussianClaim(1.0)), "`claim` must be a PrivacyClaim"),
        (dict(size=1), "`family_size`"),
        (dict(family_size=2**63), "`family_size` must be at most"),
        (dict(distance=0), "`distance`"),
        (dict(claim=PrivacyClaim(1.0, 1.0)), "not every rate of hits satisfies"),
    ],
)
def test_a_packing_check_refuses(settings, message):
    with pytest.raises(AuditError, match=message):
        packing_check(**{"learner": midpoint, **settings})
