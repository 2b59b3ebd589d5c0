"""Planted violations are found where the scorers work, and are not where a scorer is broken.

All seeds are fixed. The sizes are chosen so that a plant is found with probability 0.97, so fewer than 16 of 20 are
found in 3 of 10,000 audits of a family.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

import audit
from audit import Distance, PrivacyClaim, Verdict
from audit.events import violations
from audit.events.candidates import TestDesign
from audit.events.violations import PLANTED, REQUIRED, event_size, plant, scan, tails, training_for
from audit.evidence import guess_game
from audit.outputs.encode import OutputForm, Outputs
from audit.scorers import Training
from audit.scorers.base import Layout
from audit.scorers.intervals import SortedColumn
from tests.core.mechanisms import PAIR, laplace

SIZE, RUNS = 8_000, 100_000
CLAIMED = TestDesign(1.0, 0.0, SIZE, RUNS, 0.01)


def plants_of(left, right, values=None, test=CLAIMED):
    training = Training(Outputs(left, left), Outputs(right, right))
    scanned = scan(training, test)
    width = left[:1].size if np.isfinite(left).any() else 0
    return plant(scanned, OutputForm(width, values=values), test, np.random.SeedSequence(0))


def noise(kind, width, seed=0):
    return getattr(np.random.default_rng(seed), kind)(size=(2, SIZE, width))


def test_plants_are_described_at_the_level_at_which_they_were_planted(monkeypatch):
    """It is that of the scan, which is a part of the level of the game."""
    planted, described = set(), set()

    def plant_at(scanned, form, test, seed):
        planted.add(test.level)
        return plant(scanned, form, test, seed)

    monkeypatch.setattr(guess_game, "plant", plant_at)
    monkeypatch.setattr(violations.Plants, "scope", lambda plants, test: described.add(test.level) or ())
    result = audit.check_privacy(laplace, PrivacyClaim(1.0), [PAIR], budget=20_000, workers=0, method="fixed")
    assert result.evidence.game is not None
    assert len(planted) == 1
    assert described == planted


def test_an_interval_at_the_end_is_one_of_the_outputs():
    trial = SimpleNamespace(
        rng=SimpleNamespace(uniform=lambda low, high: high),
        size=violations.EventSize(0.01, 2.0),
        _rarer=lambda column, low, high, share: (low, high),
    )
    column = SimpleNamespace(ordered=np.arange(101.0))
    assert violations.PlantingTrial._interval(trial, column) == (99, 100)


BASES = {
    "two normal": lambda: noise("normal", 2),
    "seven Laplace": lambda: noise("laplace", 7),
    "twelve integers": lambda: np.round(3 * noise("laplace", 12)),
    "twenty bits": lambda: (noise("random", 20) < 0.38).astype(float),
    "two uniform beside a bit": lambda: np.concatenate([noise("random", 2), noise("random", 1, 1) < 0.73], axis=-1),
    "a constant beside noise": lambda: noise("normal", 3) * [0.0, 1.0, 1.0],
    "an estimate and its interval": lambda: np.add(noise("laplace", 1), [-3.0, 0.0, 3.0]),
    "a number between whole ones": lambda: between_whole_ones(noise("laplace", 1)),
    "parts and their sum": lambda: noise("laplace", 2) @ [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]],
}


def between_whole_ones(numbers):
    return np.concatenate([np.floor(numbers), numbers, np.ceil(numbers)], axis=-1)


@pytest.mark.parametrize("base", BASES)
def test_every_required_family_is_found_in_exact_noise(base):
    found = plants_of(*BASES[base]())
    assert [family.name for family in found.families] == list(REQUIRED["vector"])
    assert [family.planted for family in found.families] == [PLANTED] * len(found.families)
    assert found.lacking() is None


def test_shifts_do_not_depend_on_the_unit_of_the_outputs():
    outputs = noise("normal", 2)
    planted, again = ([each.shift for each in plants_of(*(unit * outputs)).families] for unit in (1.0, 128.0))
    assert planted == pytest.approx(again)
    assert 0 < max(planted) < 3


def test_bits_that_are_the_same_on_both_sides_are_read():
    """Where no interval is likelier on one side than the claim allows, the outputs are read all the same."""
    bits = np.random.default_rng(0).integers(0, 2, (SIZE, 4)).astype(float)
    assert plants_of(bits, bits).kind == "vector"
    assert plants_of(bits[:, 0], bits[:, 0]).kind == "number"


@pytest.mark.parametrize(
    ("owner", "name", "found", "missed"),
    [
        (SortedColumn, "judge", [], "an interval"),
        (violations, "best_power", 0.0, "a shift"),
        (violations, "depend_without_correlation", 0.0, "sizes that agree"),
    ],
)
def test_a_scorer_that_finds_nothing_is_noticed(monkeypatch, owner, name, found, missed):
    left, right = BASES["seven Laplace"]()
    training = Training(Outputs(left, left), Outputs(right, right))
    scanned = scan(training, CLAIMED)
    monkeypatch.setattr(owner, name, lambda *arguments: found)
    planted = plant(scanned, OutputForm(7), CLAIMED, np.random.SeedSequence(0))
    assert planted.lacking().name == missed
    assert planted.lacking().found == 0


def test_a_plant_has_to_stand_out_more_than_the_outputs_do(monkeypatch):
    """The same plants are missed where something else has more evidence and would be certified in their place."""
    left, right = BASES["seven Laplace"]()
    left[: SIZE // 4, 0] = 50.0  # a difference that no plant exceeds
    assert plants_of(left, right).lacking().name == "an interval"


def test_the_size_of_an_event_follows_from_the_outputs():
    """Fewer outputs find events that are likelier by more; none are found of probability 0.01 in 2,000 outputs."""
    sizes = [event_size(TestDesign(1.0, 0.0, training, RUNS, 0.01)) for training in (20_000, 8_000, 2_000)]
    assert sizes[0].probability == sizes[1].probability == 0.01
    assert 1.8 < sizes[0].log_ratio < 2.1 < sizes[1].log_ratio < 3.2
    assert sizes[2].probability > 0.01
    assert event_size(TestDesign(1.0, 0.0, 100, 1_000, 0.01)) is None
    assert event_size(TestDesign(1.0, 0.0, 20_000, RUNS, 0.01), 1000).log_ratio > sizes[0].log_ratio


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
    few = TestDesign(1.0, 0.0, 100, 1_000, 0.01)
    due = training_for(few)
    assert event_size(TestDesign(1.0, 0.0, due, 8 * due, 0.01)).probability == 0.01
    fewer = int((due - 1) / 1.2)
    assert event_size(TestDesign(1.0, 0.0, fewer, 8 * fewer, 0.01)).probability > 0.01


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


def test_the_threshold_of_a_shift_is_the_one_with_the_most_power():
    """Normal numbers moved by 0.4 standard deviations, at epsilon 1: the best threshold refutes in half of audits."""
    claimed, ordered = TestDesign(1.0, 0.0, 20_000, RUNS, 0.01), norm.ppf((np.arange(4_001) + 0.5) / 4_001)
    shares = zip(*tails(ordered + 0.4, ordered), strict=True)
    best = max(claimed.test.power(RUNS, float(right) / 2, float(wrong) / 2) for right, wrong in shares)
    assert 0.4 < best < 0.6
    assert violations.best_power(claimed, ordered + 0.4, ordered) == pytest.approx(best, abs=0.02)


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


ENDLESS = {
    "beside noise": lambda signs, plain: np.column_stack([signs, plain]),
    "in fields of two names": lambda signs, plain: [{"a": a, "b": b} for a, b in zip(signs, plain, strict=True)],
    "of both signs in a row": lambda signs, plain: np.column_stack(
        [signs, np.where(plain > 0, np.inf, -np.inf), plain]
    ),
    "squares that overflow": lambda signs, plain: np.column_stack([np.sign(signs) * 1e200, plain * 1e200]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ENDLESS)
def test_infinities_and_largest_numbers_are_values_like_others(kind):
    """A sign is + with probability 0.5, and with 0.9 on the other dataset; a suite may turn warnings into errors."""

    def mechanism(answer, size, rng):
        signs = np.where(rng.random(size) < (0.9 if answer else 0.5), np.inf, -np.inf)
        with np.errstate(over="ignore"):
            return ENDLESS[kind](signs, rng.laplace(size=size))

    claims = [PrivacyClaim(epsilon, relation=audit.Local()) for epsilon in (0.5, math.log(5.01))]
    false, right = (
        audit.check_privacy(mechanism, claim, [(0.0, 1.0)], budget=100_000, method="fixed", tolerance=2.0)
        for claim in claims
    )
    assert (false.verdict, right.verdict) == (Verdict.FAIL, Verdict.PASS), right.reason


@pytest.mark.filterwarnings("error")
def test_nothing_is_planted_where_one_dataset_gives_no_numbers():
    """The suite of a user may turn warnings into errors, such as that of a median of nothing."""

    def mechanism(data, rng):
        return rng.laplace(size=3).tolist() if data.sum() else "no records"

    result = audit.check_privacy(audit.per_call(mechanism), PrivacyClaim(1.0), [(np.zeros(1), np.ones(1))], budget=40)
    assert result.verdict is Verdict.FAIL
