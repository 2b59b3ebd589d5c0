"""Confusion matrices and delta bounds: exact size on small tables, the published example, monotonicity."""

import math

import numpy as np
import pytest
from scipy.stats import binom, multinomial

import audit
from audit import AuditError, delta_lower_bound
from audit.statistics.binomial import epsilon_interval, event_epsilon_lower_bound


@pytest.mark.parametrize(("n1", "n0", "delta"), [(3, 4, 0.0), (6, 2, 0.1), (1, 7, 0.0)])
def test_lower_bound_has_its_size_on_every_null(n1, n0, delta):
    level = 0.2  # large, so that small tables reject
    table = range(n1 + 1), range(n0 + 1)
    bounds = np.array(
        [[event_epsilon_lower_bound(x, n1, y, n0, delta=delta, significance=level) for y in table[1]] for x in table[0]]
    )
    assert bounds.max() > 0
    for epsilon in (0.0, 0.4, 1.0, 2.0):
        for p0 in np.linspace(0, 1, 201):
            p1 = min(1.0, math.exp(epsilon) * p0 + delta)
            size = binom.pmf(table[0], n1, p1) @ (bounds > epsilon) @ binom.pmf(table[1], n0, p0)
            assert size <= level


def of_matrix(tp, fp, tn, fn, **settings):
    """The interval of the counts in this order."""
    counts = {"true_positives": tp, "false_positives": fp, "true_negatives": tn, "false_negatives": fn}
    return epsilon_interval(**counts, **settings)


def test_published_example():
    interval = of_matrix(487, 1, 512, 0, delta=1e-5, significance=0.1)
    # from two Clopper-Pearson bounds "said positive" alone would give log((p1L - delta) / p0U) < 4.5
    assert 4.47 < interval.positives[0] < math.log(487 / 487 / (1 / 513))
    assert interval.lower == max(interval.positives[0], interval.negatives[0]) > 4.8
    assert interval.upper == math.inf  # no false negative: its probability may be 0
    assert interval.positives[1] == pytest.approx(math.log(1 / (1 - 0.975 ** (1 / 513))), rel=1e-4)  # p0L of 1 in 513


@pytest.mark.parametrize("counts", [(90, 20, 80, 10), (np.array([[80, 20], [10, 90]]),), ([[80, 20], [10, 90]],)])
def test_counts_without_names_are_refused_with_the_call_to_type(counts):
    """In the order of scikit-learn, which is another one, they gave (0, 1.38) in place of (1.44, 3.00)."""
    with pytest.raises(AuditError) as refused:
        epsilon_interval(*counts)
    unpacked, call = str(refused.value).splitlines()[1:]
    names = {"matrix": np.array([[80, 20], [10, 90]])}  # as `confusion_matrix` of scikit-learn returns it
    exec(unpacked.strip(), names)
    found = eval(call.strip(), {"audit": audit, **names})
    assert (round(found.lower, 2), round(found.upper, 2)) == (1.44, 3.0)


@pytest.mark.false_alarm(0.0014, seeded=True)
def test_delta_bound_exact_size_on_small_games():
    # null: exactly (eps, delta): P(right) = e^eps P(wrong) + delta, all tables of 8 runs; uniforms by 60 seeds a table.
    # The mean over seeds has standard deviation below .01 in all; the level is .1, so .13 is three of them away.
    epsilon, delta, level, runs = 0.5, 0.3, 0.1, 8
    for wrong in (0.0, 0.1, (1 - delta) / (1 + math.exp(epsilon))):
        right = math.exp(epsilon) * wrong + delta
        size = 0.0
        for c in range(runs + 1):
            for w in range(runs + 1 - c):
                mass = multinomial.pmf([c, w, runs - c - w], runs, [right, wrong, max(0.0, 1 - right - wrong)])
                if mass < 1e-6:
                    continue
                found = [
                    delta_lower_bound(
                        c,
                        w,
                        runs - c - w,
                        epsilon=epsilon,
                        significance=level,
                        seed=np.random.SeedSequence((c, w, s)),
                    )
                    for s in range(60)
                ]
                size += mass * np.mean(np.array(found) > delta)
        assert size < 0.13


def test_delta_bound_finds_delta_and_doubles_one_side():
    # one-sided leak: 5 % of runs on the left show it, none on the right; half of the runs are on the left
    game = (5000, 0, 195_000)
    bound = delta_lower_bound(*game, epsilon=1.0, seed=1, one_sided=True)
    assert 0.045 < bound < 0.055
    two = delta_lower_bound(*game, epsilon=1.0, seed=1)
    assert bound == pytest.approx(2 * two)
    assert delta_lower_bound(50, 50, epsilon=0.0, seed=0) == 0.0
    falling = [delta_lower_bound(*game, epsilon=e, seed=1, one_sided=True) for e in (0.0, 0.5, 4.0)]
    assert all(value <= 0.056 for value in falling)


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.false_alarm(1e-06)
def test_many_guesses_certify_nearly_the_delta_that_they_show(one_sided):
    """Shares .4 right, .1 wrong: delta is .4 - .1 e^epsilon, twice that if one event is empty. A miss: below 1e-6."""
    shown = (0.4 - 0.1 * math.exp(0.5)) * (2 if one_sided else 1)
    certified = delta_lower_bound(
        400_000, 100_000, 500_000, epsilon=0.5, significance=1e-6, seed=0, one_sided=one_sided
    )
    assert 0.96 * shown < certified < shown
