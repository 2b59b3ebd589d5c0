"""The judge, on evidence made by hand: each rule seen deciding, each verdict seen withheld; the resolution of a fit."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from audit import Local, PrivacyClaim, Verdict
from audit.checks.judge import PrivacyEvidence, judge
from audit.errors import AuditError
from audit.events.violations import FEWEST_FOUND, NORM, PLANT_MARGIN, PLANTED, REQUIRED, SHIFT, PlantedFamily, Plants
from audit.evidence.base import PrivacyTerms
from audit.evidence.guess_game import GuessGame
from audit.evidence.new_processes import NewProcesses
from audit.evidence.stated_law import LOOSEST_FIT, PairLaw, StatedLaw, compare_with_law
from audit.execution.seeds import Stream
from audit.laws import Finite, Laplace, Product
from audit.outputs.encode import OutputForm, Repeats, encode
from audit.statistics.bounds import GameCounts, blind_spot
from audit.statistics.independence import CallStatistics, SideCalls

CLAIM = PrivacyClaim(1.0)
NO_CALLS = SideCalls(0, 0, 0, 0, 0, 0)
LEAK = GameCounts(90_000, 10_000, 0, 10_000, 90_000, 0)  # log 9 = 2.197
QUIET = GameCounts(50_000, 50_000, 100_000, 50_000, 50_000, 100_000)

UNREAD = Repeats(40_000, 30_000, 30_000, 2)
COUNTED = Plants(OutputForm(1, values=Repeats(9, 1, 0, 5)), 1)
NUMBER = OutputForm(1)


def game(counts=QUIET, **changes):
    base = GuessGame(
        pair=0,
        scorer="cells",
        plants=COUNTED,
        plus="output >= 1",
        minus="output <= 0",
        one_sided=False,
        counts=counts,
        coins=(0, 3),
        training=20_000,
        estimated_bound=0.5,
        calls=CallStatistics(1, NO_CALLS, NO_CALLS),
    )
    return dataclasses.replace(base, **changes)


def law(epsilon=1.0, delta=0.0, **changes):
    base = PairLaw(
        pair=0,
        epsilon_upper_bound=epsilon,
        epsilon_lower_bound=epsilon,
        delta_upper_bound=delta,
        delta_lower_bound=delta,
        total_variation=0.4,
        mass_at_infinity=0.0,
        fit_pvalue=0.3,
        fit_outputs=20_000,
        fit_resolution=0.01,
    )
    return dataclasses.replace(base, **changes)


def stated(*laws):
    return PrivacyEvidence(4, (StatedLaw(laws),))


def verdict(evidence, claim=CLAIM, significance=0.01, tolerance=None):
    return judge(PrivacyTerms(claim, tolerance), evidence, significance)


def test_a_refuted_claim_fails_and_says_by_how_much():
    found = verdict(PrivacyEvidence(400_000, (game(LEAK),)))
    assert (found.verdict, found.basis) == (Verdict.FAIL, "outputs")
    assert 2.15 < found.epsilon_lower_bound < math.log(9)
    assert "180000 of 200000 guesses were right" in found.reason


def test_a_bound_below_the_claim_does_not_fail():
    assert verdict(PrivacyEvidence(400_000, (game(LEAK),)), PrivacyClaim(2.2)).verdict is not Verdict.FAIL


def test_statistical_pass_needs_resolution_and_a_score_that_reads_the_outputs():
    good = PrivacyEvidence(400_000, (game(),))
    assert verdict(good).blind_spot == blind_spot(20_000) < blind_spot(0)
    assert (verdict(good).verdict, verdict(good).basis) == (Verdict.PASS, "outputs")
    assert verdict(PrivacyEvidence(400_000, (game(plants=Plants(OutputForm(), 0)),))).verdict is Verdict.INCONCLUSIVE
    unread = PrivacyEvidence(400_000, (game(plants=Plants(OutputForm(), 0)),), need=(1e6,))
    assert verdict(unread, tolerance=1.0).verdict is Verdict.INCONCLUSIVE  # whatever else was asked for
    assert verdict(good, tolerance=0.01).verdict is Verdict.INCONCLUSIVE
    assert judge(PrivacyTerms(PrivacyClaim(0.0)), good, 0.05).verdict is Verdict.INCONCLUSIVE  # a bound of 0 is none
    rare = PrivacyEvidence(400_000, (game(training=1_000),))  # an event of probability .01 comes ten times
    assert verdict(rare).verdict is Verdict.INCONCLUSIVE
    assert verdict(rare, tolerance=0.25).verdict is Verdict.PASS  # of events as rare as the reason says
    short = verdict(PrivacyEvidence(400_000, (game(training=100),)))
    assert short.verdict is Verdict.INCONCLUSIVE
    assert "training saw no events of probability below 0.2: use a larger budget" in short.reason
    few = GameCounts(50, 50, 100, 50, 50, 100)
    assert "too few outputs to tell" in verdict(PrivacyEvidence(400, (game(few),))).reason


def test_games_are_unlike_beyond_what_noise_shared_within_calls_explains():
    first, other = GameCounts(800, 800, 0, 800, 800, 0), GameCounts(400, 1200, 0, 1200, 400, 0)
    apart, shared = SideCalls(16, 800, 800, 40_008, 40_008, 39_992), SideCalls(16, 800, 800, 80_000, 80_000, 0)
    alone, alike = (CallStatistics(100, side, side) for side in (apart, shared))
    assert "depend on the time" in str(game(first, calls=alone).unlike(game(other, calls=alone)))
    assert game(first, calls=alike).unlike(game(other, calls=alone)) is None
    assert game(first, calls=alone).unlike(game(other, calls=alike)) is None


def planted(found=PLANTED, planted=PLANTED, names=REQUIRED["vector"]):
    shifts = {SHIFT: PLANT_MARGIN * 0.02, NORM: PLANT_MARGIN * 0.02}
    return Plants(OutputForm(9), 9, tuple(PlantedFamily(name, planted, found, shifts.get(name, 0.0)) for name in names))


def test_a_pass_says_what_would_have_been_found():
    found = verdict(PrivacyEvidence(400_000, (game(plants=planted()),)))
    assert found.verdict is Verdict.PASS
    assert found.reason == "no violation above epsilon 1.147 found in 400,000 outputs"
    resolution, calls, would, unseen = found.scope
    assert resolution.startswith("resolution 1.147 on events of probability 0.01")
    assert calls == "in calls of 1 outputs"
    assert would.startswith("would find an interval of probability 0.01 at a ratio of e^")
    assert "a shift (0.023 standard deviations of the noise)" in would
    assert "the place of the largest (one place never)" in would
    assert unseen.startswith("not examined: events of probability below 0.01, leaks that show only in a combination")
    assert verdict(PrivacyEvidence(400_000, (game(),))).scope[2:] == ("every value was counted",)


@pytest.mark.parametrize(
    ("plants", "said"),
    [
        (
            planted(found=FEWEST_FOUND - 1),
            "the search detected 15 of 20 planted violations of the family 'an interval' (prob",
        ),
        (planted(planted=19, found=19), "detected 19 of 19 planted violations"),
        (planted(names=REQUIRED["vector"][1:]), "too few training outputs"),
        (planted(names=REQUIRED["vector"][:-1]), "too few training outputs"),
        (Plants(OutputForm(1, places=1, texts={'output["t"]': UNREAD}), 1), 'reads output["t"]:'),
        (Plants(OutputForm(1, coarse={"output": 9.0}), 1), "the noise is coarse in output, which takes about 9 values"),
        (Plants(OutputForm(), 0), "no score that competed sees every difference"),
    ],
)
def test_a_pass_is_barred_where_a_required_family_was_not_found_or_a_place_not_read(plants, said):
    judged = verdict(PrivacyEvidence(400_000, (game(plants=plants),)))
    assert judged.verdict is Verdict.INCONCLUSIVE
    assert said in judged.reason


def test_a_cache_is_no_leak():
    """Its outputs never varied here, and varied between processes: no guess of its game counts."""
    found = verdict(PrivacyEvidence(400_000, (NewProcesses(1_000, 40, 3), game(LEAK))))
    assert (found.verdict, found.epsilon_lower_bound) == (Verdict.INCONCLUSIVE, 0.0)
    assert "a cache keeps it" in found.reason


def test_the_least_that_has_to_be_found_is_enough():
    seen = PrivacyEvidence(400_000, (game(plants=planted(found=FEWEST_FOUND)),))
    assert verdict(seen).verdict is Verdict.PASS


def test_plants_that_nobody_plants_are_refused():
    for wrong in ((NUMBER, 2), (NUMBER, 1, planted().families), (OutputForm(9), 9, planted().families[:1] * 2)):
        with pytest.raises(AuditError, match="must"):
            Plants(*wrong)
    with pytest.raises(AuditError, match="be at most `planted`"):
        PlantedFamily("an interval", 3, 4)
    for name, shift in (("a shift", 1e-4), ("an interval", 0.023)):
        with pytest.raises(AuditError, match="be one that is planted"):
            PlantedFamily(name, 20, 20, shift)


@pytest.mark.parametrize(
    ("law_of_pair", "counts", "due"),
    [
        (law(), LEAK, Verdict.FAIL),  # counted outputs refute the claim, whatever the law says
        (law(2.0, 0.3), QUIET, Verdict.FAIL),
        (law(fit_pvalue=1e-9), QUIET, Verdict.INCONCLUSIVE),
        (law(), GameCounts(50, 50, 100, 50, 50, 100), Verdict.PASS),  # a game that is too short leaves it to the law
        (law(epsilon_upper_bound=1.5, epsilon_lower_bound=0.5, delta_upper_bound=0.1), QUIET, Verdict.PASS),
    ],
)
def test_of_two_ways_the_worst_answer_decides_and_an_open_one_leaves_it_to_the_other(law_of_pair, counts, due):
    ways = StatedLaw((law_of_pair,)), game(counts)
    assert {verdict(PrivacyEvidence(400_000, order)).verdict for order in (ways, ways[::-1])} == {due}


def test_nothing_tested_is_not_a_pass():
    assert verdict(PrivacyEvidence(0)).verdict is Verdict.INCONCLUSIVE
    assert verdict(PrivacyEvidence(0)).reason == "nothing was tested"


BROKEN, COARSE = law(2.0, 0.3), "its stated law keeps the claim, but only samplers that are"
WIDE = law(epsilon_lower_bound=0.5, epsilon_upper_bound=1.5, delta_upper_bound=0.1)


@pytest.mark.parametrize(
    ("laws", "due", "said"),
    [
        ([law()], "PASS", ""),
        ([law(fit_pvalue=1e-9)], "INCONCLUSIVE", "disagree"),
        ([law(fit_pvalue=None)], "INCONCLUSIVE", ""),
        ([law(), law(pair=1, fit_pvalue=1e-9)], "INCONCLUSIVE", ""),
        ([law(), law(pair=1, fit_resolution=LOOSEST_FIT * 1.001)], "INCONCLUSIVE", COARSE),
        ([law(), law(pair=1, fit_resolution=None)], "INCONCLUSIVE", COARSE),
        ([law(fit_resolution=LOOSEST_FIT)], "PASS", ""),
        ([BROKEN], "FAIL", "taking the law for granted"),
        ([dataclasses.replace(BROKEN, fit_pvalue=None)], "INCONCLUSIVE", "the sampler was not tested against it"),
        ([dataclasses.replace(BROKEN, fit_pvalue=1e-9)], "INCONCLUSIVE", ""),
        ([WIDE], "INCONCLUSIVE", ""),  # an open bracket decides nothing
        ([law(1.0 + 4e-16, 1e-16)], "PASS", ""),  # rounding
        ([law(1.0 + 1e-6, 1e-6)], "FAIL", ""),
        ([law(1.0 + 1e-6, 1e-10)], "FAIL", ""),  # of a small delta rounding is less
        ([law(1.1)], "PASS", ""),  # its delta at the claimed epsilon is 0
    ],
)
def test_a_law_decides_by_its_bounds_if_the_sampler_was_seen_to_follow_it(laws, due, said):
    found = verdict(stated(*laws))
    assert found.verdict == due
    assert said in found.reason
    assert found.basis == ("none" if due == "INCONCLUSIVE" else "law")


def test_rounding_of_a_large_epsilon_is_more_and_an_untested_law_is_open_beside_a_game():
    assert verdict(stated(law(10 + 5e-9, 1e-3)), PrivacyClaim(10.0)).verdict is Verdict.PASS
    untested = StatedLaw((dataclasses.replace(BROKEN, fit_pvalue=None),))
    found = verdict(PrivacyEvidence(400_000, (untested, game())))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "the sampler was not tested against it" in found.reason


@pytest.mark.parametrize(("above", "passes"), [(1e-15, True), (1e-8, False), (1e-7, False), (1e-6, False)])
def test_a_narrow_bracket_around_the_claimed_delta_decides_nothing_beyond_rounding(above, passes):
    claim = PrivacyClaim(1.0, 1e-5)
    near = law(1.0 + 1e-6, epsilon_lower_bound=1.0 - 1e-6, delta_lower_bound=9e-6, delta_upper_bound=1e-5 + above)
    assert verdict(stated(near), claim).verdict is (Verdict.PASS if passes else Verdict.INCONCLUSIVE)


@pytest.mark.parametrize("anomaly", ["nan", "raised", "own randomness", "mutated its dataset", "constant"])
def test_anomalies_bar_a_pass_and_not_a_fail(anomaly):
    assert verdict(PrivacyEvidence(400_000, (game(),), anomalies={anomaly: 3})).verdict is Verdict.INCONCLUSIVE
    assert verdict(PrivacyEvidence(400_000, (game(LEAK),), anomalies={anomaly: 3})).verdict is Verdict.FAIL


@pytest.mark.parametrize("anomaly", ["state", "mutated its dataset between calls"])
def test_dependent_runs_bar_every_verdict(anomaly):
    found = verdict(PrivacyEvidence(400_000, (StatedLaw((law(),)), game(LEAK)), {anomaly: 1}))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.epsilon_lower_bound == 0.0


@pytest.mark.parametrize("ways", [(), (StatedLaw((law(),)), game())])
def test_a_failure_is_inconclusive_with_its_cause(ways):
    found = verdict(PrivacyEvidence(0, ways, failure="the mechanism took longer than 3 s"))
    assert (found.verdict, found.reason) == (Verdict.INCONCLUSIVE, "the mechanism took longer than 3 s")


def test_one_sided_games_charge_half_of_delta():
    """P(S+) = 0.05 e + 0.1 = 0.236 against Q(S+) = 0.05: exactly (1, 0.1) through one direction, delta / 2 a run."""
    counts = GameCounts(47_183, 0, 152_817, 10_000, 0, 190_000)
    claim = PrivacyClaim(1.0, 0.1)
    full = verdict(PrivacyEvidence(400_000, (game(counts),)), claim).epsilon_lower_bound
    half = verdict(PrivacyEvidence(400_000, (game(counts, one_sided=True),)), claim).epsilon_lower_bound
    assert full == 0.0
    assert 0.95 < half < 1.0


@pytest.mark.parametrize("turned", [1, -1])
def test_the_worst_of_two_laws_decides_and_the_finer_of_two_resolutions_is_stated(turned):
    laws = StatedLaw((law(),)), StatedLaw((law(1.0 + 1e-6, 1e-6),))
    assert verdict(PrivacyEvidence(40_000, laws[::turned])).verdict is Verdict.FAIL
    ways = StatedLaw((law(),)), game()
    assert verdict(PrivacyEvidence(400_000, ways[::turned])).resolution < math.inf
    refuting = StatedLaw((law(),)), game(LEAK)
    assert verdict(PrivacyEvidence(400_000, refuting[::turned])).epsilon_lower_bound > 2


SIZE, SIGNIFICANCE = 4_000, 0.05


class Stated:
    """A mechanism of which only the law counts: the outputs are given."""

    def __init__(self, law):
        self.law = law


def judged(law, outputs, pairs, epsilon):
    """The evidence and the judgment, when these outputs were drawn on every dataset."""
    claim, drawn = PrivacyClaim(epsilon, relation=Local()), encode(outputs, SIZE)
    terms = (claim, [(0.0, 0.0)] * pairs, [(drawn, drawn)] * pairs, claim.point, Stream(3), SIGNIFICANCE)
    stated = compare_with_law(Stated(lambda data: law), *terms)
    judgment = judge(PrivacyTerms(claim), PrivacyEvidence(2 * SIZE, (stated,)), SIGNIFICANCE)
    return stated.laws[0].fit_resolution, judgment


def displaced(distance, columns, rng):
    """Values without chance, whose distance from the standard Laplace law is given; in a random order."""
    ranks = (np.arange(SIZE) + 0.5) / SIZE
    moved = (ranks >= 0.5 - distance) & (ranks < 0.5)  # over the median, where it changes sums the least
    ranks[moved] += distance
    found = [stats.laplace.ppf(rng.permutation(ranks)) for _ in range(max(1, columns))]
    return np.stack(found, axis=1) if columns else found[0]


@pytest.mark.parametrize(("pairs", "columns"), [(1, 0), (3, 0), (1, 2)])
def test_resolution_is_the_distance_at_which_the_fit_rejects(pairs, columns):
    law, rng = (Product((Laplace(0.0, 1.0),) * columns) if columns else Laplace(0.0, 1.0)), np.random.default_rng(1)
    found, _ = judged(law, displaced(0.0, columns, rng), pairs, 1.0)
    tests = 3 * (columns + 4 if columns else 1)
    assert found == pytest.approx(math.sqrt(math.log(4 * pairs * tests / SIGNIFICANCE) / (2 * SIZE)))
    near, far = (judged(law, displaced(factor * found, columns, rng), pairs, 1.0)[1] for factor in (0.95, 1.05))
    assert near.verdict is Verdict.PASS
    assert f"within {found:.2g}" in near.reason
    assert far.verdict is Verdict.INCONCLUSIVE
    assert "disagree" in far.reason


def test_every_cell_of_a_finite_law_is_tested_within_the_resolution():
    cells, rng = 10, np.random.default_rng(2)
    law = Finite(dict.fromkeys(range(cells), 1 / cells))

    def moved(distance):
        """The first cell has too much."""
        masses = np.full(cells, (1 - 1 / cells - distance) / (cells - 1))
        masses[0] = 1 / cells + distance
        cuts = np.round(np.cumsum(masses) * SIZE).astype(int)
        return rng.permutation(np.searchsorted(cuts, np.arange(SIZE), side="right"))

    resolution, agreed = judged(law, moved(0.0), 1, 1.0)
    assert agreed.verdict is Verdict.PASS
    assert "disagree" in judged(law, moved(1.01 * resolution), 1, 1.0)[1].reason
