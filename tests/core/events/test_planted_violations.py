"""Planted violations are found where the scorers work, and are not where a scorer is broken.

All seeds are fixed. The sizes are chosen so that a plant is found with probability 0.97, so fewer than 16 of 20 are
found in 3 of 10,000 audits of a family.
"""

import math

import numpy as np
import pytest
from scipy.stats import norm

import audit
from audit import Distance, PrivacyClaim, Verdict
from audit.events import violations
from audit.events.thresholds import TestDesign
from audit.events.violations import (
    NORM,
    PLACE,
    PLANTED,
    REQUIRED,
    Claimed,
    Plants,
    event_size,
    plant,
    scan,
    tails,
    training_for,
)
from audit.outputs.encode import Outputs
from audit.outputs.schema import OutputForm, Repeats
from audit.scorers import Training
from audit.scorers.directions import Standard
from audit.scorers.intervals import Counts
from audit.scorers.rows import WIDE, Layout
from audit.scorers.vectors import depend_without_correlation

SIZE, RUNS = 8_000, 100_000
CLAIMED = Claimed(1.0, 0.0, SIZE, RUNS, 0.01)


def plants_of(left, right, values=None, test=CLAIMED):
    training = Training(Outputs(left, left), Outputs(right, right))
    scanned = scan(training, TestDesign(test.delta, 1.6, 2 * SIZE, RUNS, test.epsilon))
    width = left[:1].size if np.isfinite(left).any() else 0
    return plant(scanned, OutputForm(width, values=values), test, np.random.SeedSequence(0))


def noise(kind, width, seed=0):
    return getattr(np.random.default_rng(seed), kind)(size=(2, SIZE, width))


BASES = {
    "two normal": lambda: noise("normal", 2),
    "seven Laplace": lambda: noise("laplace", 7),
    "thirty Cauchy": lambda: noise("standard_cauchy", 30),
    "twelve integers": lambda: np.round(3 * noise("laplace", 12)),
    "twenty bits": lambda: (noise("random", 20) < 0.38).astype(float),
    "two uniform beside a bit": lambda: np.concatenate([noise("random", 2), noise("random", 1, 1) < 0.73], axis=-1),
    "a constant beside noise": lambda: noise("normal", 3) * [0.0, 1.0, 1.0],
    "bits of which half are ones": lambda: (
        np.stack([halves(seed) for seed in range(4)]).reshape(2, 2, -1).swapaxes(1, 2)
    ),
    "an estimate and its interval": lambda: np.add(noise("laplace", 1), [-3.0, 0.0, 3.0]),
    "a count and a percentage": lambda: noise("laplace", 1) * [1.0, 2.0],
    "a number and the same rounded": lambda: rounded(noise("laplace", 1)),
    "sorted numbers": lambda: np.sort(noise("laplace", 3), axis=-1),
    "a number between whole ones": lambda: between_whole_ones(noise("laplace", 1)),
    "parts and their sum": lambda: noise("laplace", 2) @ [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]],
}


def halves(seed):
    return np.random.default_rng(seed).permutation(np.tile([0.0, 1.0], SIZE // 2))


def between_whole_ones(numbers):
    return np.concatenate([np.floor(numbers), numbers, np.ceil(numbers)], axis=-1)


def rounded(numbers):
    return np.concatenate([numbers, np.round(numbers)], axis=-1)


@pytest.mark.parametrize("base", BASES)
def test_every_required_family_is_found_in_exact_noise(base):
    found = plants_of(*BASES[base]())
    assert [family.name for family in found.families] == list(REQUIRED["vector"])
    assert [family.planted for family in found.families] == [PLANTED] * len(found.families)
    assert found.lacking() is None


def test_bits_that_are_the_same_on_both_sides_are_read():
    """Where no interval is likelier on one side than the claim allows, the outputs are read all the same."""
    bits = np.random.default_rng(0).integers(0, 2, (SIZE, 4)).astype(float)
    assert plants_of(bits, bits).kind == "vector"
    assert plants_of(bits[:, 0], bits[:, 0]).kind == "number"


def test_plants_of_other_outputs_have_a_kind_and_no_family():
    numbers = np.random.default_rng(0).normal(size=(2, SIZE))
    assert (plants_of(*numbers).kind, plants_of(*numbers, values=Repeats(9, 1, 0, 5)).kind) == ("number", "counted")
    assert plants_of(*np.full((2, SIZE), np.nan)).kind == "symbols"


def blind(*arguments):
    return []


def no_power(*arguments):
    return 0.0


@pytest.mark.parametrize(
    ("owner", "name", "broken", "missed"),
    [
        (Counts, "judged", blind, "an interval"),
        (violations, "best_power", no_power, "a shift"),
        (violations, "depend_without_correlation", no_power, "sizes that agree"),
    ],
)
def test_a_scorer_that_finds_nothing_is_noticed(monkeypatch, owner, name, broken, missed):
    left, right = BASES["seven Laplace"]()
    training = Training(Outputs(left, left), Outputs(right, right))
    scanned = scan(training, TestDesign(0.0, 1.6, 2 * SIZE, RUNS, 1.0))
    monkeypatch.setattr(owner, name, broken)
    found = plant(scanned, OutputForm(7), CLAIMED, np.random.SeedSequence(0))
    assert found.lacking().name == missed
    assert found.lacking().found == 0


def test_a_plant_has_to_stand_out_more_than_the_outputs_do(monkeypatch):
    """The same plants are missed where something else has more evidence and would be certified in their place."""
    left, right = BASES["seven Laplace"]()
    left[: SIZE // 4, 0] = 50.0  # a difference that no plant exceeds
    assert plants_of(left, right).lacking().name == "an interval"


def test_the_size_of_an_event_follows_from_the_outputs():
    """Fewer outputs find events that are likelier by more; none are found of probability 0.01 in 2,000 outputs."""
    sizes = [event_size(Claimed(1.0, 0.0, training, RUNS, 0.01)) for training in (20_000, 8_000, 2_000)]
    assert sizes[0].probability == sizes[1].probability == 0.01
    assert 1.8 < sizes[0].log_ratio < 2.1 < sizes[1].log_ratio < 3.2
    assert sizes[2].probability > 0.01
    assert event_size(Claimed(1.0, 0.0, 100, 1_000, 0.01)) is None
    assert event_size(Claimed(1.0, 0.0, 20_000, RUNS, 0.01), 1000).log_ratio > sizes[0].log_ratio


def laplace_vector(data, size, rng):
    return data + rng.laplace(size=(size, len(data)))


def test_a_correct_vector_passes_and_says_what_it_speaks_of():
    pair = (np.zeros(20), np.eye(20)[0])
    claim = PrivacyClaim(1.0, 0.0, Distance("l1", 1))
    result = audit.check_privacy(laplace_vector, claim, [pair], method="fixed", workers=0)
    assert result.verdict is Verdict.PASS
    scope = "; ".join(result.scope)
    assert "a shift (0." in scope
    assert "not examined: events of probability below 0.01" in scope
    loud = PrivacyClaim(0.5, 0.0, Distance("l1", 1))
    assert audit.check_privacy(laplace_vector, loud, [pair], method="fixed", workers=0).verdict is Verdict.FAIL


def test_too_few_outputs_of_a_vector_name_the_budget_that_would_do():
    pair = (np.zeros(20), np.eye(20)[0])
    claim = PrivacyClaim(1.0, 0.0, Distance("l1", 1))
    result = audit.check_privacy(laplace_vector, claim, [pair], method="fixed", workers=0, budget=9_000, tolerance=4.0)
    game = result.evidence.game
    assert result.verdict is (Verdict.PASS if game.plants.lacking() is None else Verdict.INCONCLUSIVE)
    tiny = audit.check_privacy(laplace_vector, claim, [pair], method="fixed", workers=0, budget=1_000, tolerance=60.0)
    assert tiny.verdict is Verdict.INCONCLUSIVE
    assert math.isfinite(tiny.evidence.game.plants.budget)


def test_nothing_is_planted_in_copies_of_a_column():
    """Of copies alone a number is left; beside other columns they count once."""
    left, right = noise("laplace", 3)
    copies = plants_of(left[:, [0, 0, 0]], right[:, [0, 0, 0]])
    assert (copies.kind, copies.families) == ("number", ())
    assert copies.columns > 3
    mixed = plants_of(left[:, [0, 1, 0, 2, 1]], right[:, [0, 1, 0, 2, 1]])
    assert mixed.kind == "vector"
    assert mixed.lacking() is None, mixed


def test_copies_that_part_company_are_no_copies():
    """One dataset alone tears them apart in 1 of 100 outputs: by chance never in training with probability e^-80."""

    def torn(data, size, rng):
        outputs = np.repeat(rng.laplace(size=(size, 1)) + data.sum(), 3, axis=1)
        outputs[rng.random(size) < 0.01 * data.sum(), 1] += 1.0
        return outputs

    left = torn(np.zeros(1), SIZE, np.random.default_rng(1))
    right = torn(np.ones(1), SIZE, np.random.default_rng(2))
    assert violations.without_copies((left, left))[0].shape == (SIZE, 1)
    assert violations.without_copies((left, right))[0].shape == (SIZE, 2)
    pairs = [(np.zeros(1), np.ones(1))]
    found = audit.check_privacy(torn, PrivacyClaim(1.0, relation=audit.Local()), pairs, workers=0)
    assert found.verdict is Verdict.FAIL, found.reason


def test_the_outputs_that_are_advised_are_the_fewest_within_a_fifth():
    """A quarter of the budget trains at most, which gives 8 certifying runs, of both datasets, for each output."""
    few = Claimed(1.0, 0.0, 100, 1_000, 0.01)
    due = training_for(few)
    assert event_size(Claimed(1.0, 0.0, due, 8 * due, 0.01)).probability == 0.01
    fewer = int((due - 1) / 1.2)
    assert event_size(Claimed(1.0, 0.0, fewer, 8 * fewer, 0.01)).probability > 0.01


BESIDE_ONE_NUMBER = {
    "a constant": lambda x: np.stack([x, np.ones(SIZE)], axis=-1),
    "a flag of one in 200": lambda x: np.stack([x, np.random.default_rng(7).random(SIZE) < 0.005], axis=-1),
}


@pytest.mark.parametrize("beside", BESIDE_ONE_NUMBER.values(), ids=BESIDE_ONE_NUMBER)
def test_nothing_is_planted_between_a_number_and_what_hardly_varies(beside):
    """`[noisy, 1.0]` did not PASS: a sign that agrees with a constant violates nothing, and no budget finds it."""
    left, right = (beside(side[:, 0]) for side in noise("laplace", 1))
    assert plants_of(left, right).kind == "number"
    varies = beside(noise("laplace", 1)[0, :, 0])
    varies[:, 1] = np.random.default_rng(8).random(SIZE) < 0.1
    assert plants_of(varies, varies[::-1].copy()).kind == "vector"
    alone = np.ones((SIZE, 2))
    assert violations.without_constants((alone, alone))[0].shape == (SIZE, 2)


def test_a_shift_is_sure_to_be_found_by_the_best_of_its_events():
    """Epsilon 1: beyond 1.5 a normal number moved by 1 is 4.6 times likelier; by 0.1, nowhere e times."""
    claimed, ordered = Claimed(1.0, 0.0, 20_000, RUNS, 0.01), norm.ppf((np.arange(2_001) + 0.5) / 2_001)
    assert [violations._scan_finds(claimed, ordered, 1, shift) for shift in (0.1, 1.0)] == [False, True]


def test_the_threshold_of_a_shift_is_the_one_with_the_most_power():
    """Normal numbers moved by 0.4 standard deviations, at epsilon 1: the best threshold refutes in half of audits."""
    claimed, ordered = Claimed(1.0, 0.0, 20_000, RUNS, 0.01), norm.ppf((np.arange(4_001) + 0.5) / 4_001)
    shares = zip(*tails(ordered + 0.4, ordered), strict=True)
    best = max(claimed.test.power(RUNS, float(right) / 2, float(wrong) / 2) for right, wrong in shares)
    assert 0.4 < best < 0.6
    assert violations.best_power(claimed, ordered + 0.4, ordered) == pytest.approx(best, abs=0.02)


def test_what_is_planted_in_the_sum_of_squares_is_beyond_what_is_sure_to_be_found():
    """What is sure is found at 1.13 standard deviations, and what is planted is 1.15 times as large."""
    left, right = noise("normal", 2)
    plants = plants_of(left, right)
    shift = next(family.shift for family in plants.families if family.name == NORM)
    squares = np.sort((np.concatenate([left, right]) ** 2).sum(axis=1))
    sure = [violations._scan_finds(CLAIMED, squares / squares.std(), plants.columns, at * shift) for at in (0.8, 1.0)]
    assert sure == [False, True]


def base_of(width):
    size = event_size(CLAIMED, width)
    return violations.PlantingTrial(tuple(noise("normal", width)), CLAIMED, width, 1.0, size, np.random.SeedSequence(0))


def test_no_sizes_are_compared_beyond_the_widest_vector():
    """Their scope names such pairs among what was not examined."""
    names = [Plants(OutputForm(width), width).required for width in (WIDE, WIDE + 1)]
    assert set(names[0]) - set(names[1]) == {"sizes that agree"}
    assert "depend without correlation" in Plants(OutputForm(WIDE + 1), WIDE + 1).scope(CLAIMED)[1]


@pytest.mark.parametrize(("part", "signs"), [(0.25, [1.0]), (1.0, [-1.0, 1.0])], ids=["correlated", "of equal size"])
@pytest.mark.parametrize("width", [5, 8, 12])
def test_the_scan_reads_the_pair_that_differs_most(width, part, signs):
    """Of eight columns all pairs are features, and six are scanned."""
    left, right = noise("normal", width)
    own = math.sqrt(1 - part**2) * left[:, -1]
    left[:, -1] = own + part * left[:, -2] * np.random.default_rng(1).choice(signs, SIZE)
    read = [feature.of for feature in violations.read_features((left, right), Layout.of((None, None), width))]
    assert (width - 2, width - 1) in read
    assert len({pair for pair in read if len(pair) == 2}) == violations.SCANNED_PAIRS


def test_dependence_is_seen_beyond_the_chance_of_all_pairs():
    """Sizes with a correlation of 0.15 in 4,000 rows are 6.7 standard errors off: 5.4 count of 1 pair, 9.5 of many."""
    left, right = (side[:4_000] for side in noise("normal", 2))
    same = np.random.default_rng(1).random(4_000) < 0.15
    left[same, 1] = -left[same, 0] * np.random.default_rng(2).choice([-1.0, 1.0], same.sum())
    assert [depend_without_correlation((left, right), width) for width in (2, 10_000)] == [True, False]


def test_a_shift_of_tied_columns_is_planted_where_they_vary():
    """A number between whole ones: a shift of one of these alone is no shift of the noise, however small it is."""
    rows = tuple(between_whole_ones(side) for side in noise("laplace", 1))
    shifts = violations.Shifts(rows, Standard.of(rows), CLAIMED, np.random.default_rng(0))
    assert np.linalg.norm(shifts.directions(), axis=1).min() > 0.1


@pytest.mark.parametrize(("width", "size"), [(20, "one place never"), (200, "one place with probability 0.04")])
def test_one_of_few_places_is_never_the_largest_and_one_of_many_more_often(width, size):
    searched = next(each for each in violations.SEARCHED if each.family == PLACE)
    family = searched.plant(base_of(width), searched)
    said = Plants(OutputForm(width), width, (family,)).describe_size(family, CLAIMED)
    assert said.startswith(size)
    assert family.found == PLANTED


@pytest.mark.filterwarnings("error")
def test_nothing_is_planted_where_one_dataset_gives_no_numbers():
    """The suite of a user may turn warnings into errors, such as that of a median of nothing."""

    def mechanism(data, rng):
        return rng.laplace(size=3).tolist() if data.sum() else "no records"

    result = audit.check_privacy(audit.per_call(mechanism), PrivacyClaim(1.0), [(np.zeros(1), np.ones(1))], budget=40)
    assert result.verdict is Verdict.FAIL


def test_the_scan_reads_every_number_in_which_a_violation_is_planted():
    """One table says both: whoever adds a kind to it changes the scan and the plants."""
    rows = tuple(noise("normal", 3))
    read = {feature.kind for feature in violations.read_features(rows, Layout.of((None, None), 3))}
    assert read == {kind for searched in violations.SEARCHED for kind in searched.kinds}
