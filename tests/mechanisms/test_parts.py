"""The parts: samplers against laws and against each other, distances against a search, thresholds against all cuts.

Null of the randomized tests: the sampler has the stated law; exact tests of `audit.laws` at 1e-8 each, fixed seeds.
"""

import math

import numpy as np
import pytest
from scipy.special import softmax

from audit import AuditError
from mechanisms.parts import sparse_vector
from mechanisms.parts.exponential import choice_probabilities, choose
from mechanisms.parts.sparse_vector import (
    BOTTOM,
    NO_ANSWER,
    TOP,
    Noise,
    Runs,
    SparseVector,
    transcript_law,
)
from mechanisms.parts.thresholds import best_thresholds, wrong_votes
from mechanisms.parts.vote import (
    DISTANCES,
    VoteTable,
    attack_pair,
    changed_votes,
    count_votes,
    exact_distance,
    unstable_pair,
    winner,
)
from tests.offenders import refused

ANSWERS = np.array([3.0, 5.0, 2.0, 6.0, 4.0])
NOISES = [
    Noise(1.0, 4.0, 2),
    Noise(3.0, 4.0, 1),
    Noise(1.0, 4.0, 3, query_scale=0.0),
    Noise(1.0, 4.0, 2, query_scale=1.0, is_renewed=False),
]


def follows(outputs, law):
    return law.fit_pvalue(outputs, np.random.default_rng(3)) > 1e-8


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("block", [1, 40_000, 2**20])
@pytest.mark.false_alarm(1e-08)
def test_runs_follow_the_law_whatever_the_size_of_a_block(noise, block, monkeypatch):
    """Blocks of one query, of two, and of all five for 20,000 runs."""
    monkeypatch.setattr(sparse_vector, "_BLOCK", block)
    law = transcript_law(noise, ANSWERS)
    assert math.fsum(law.pmf.values()) == pytest.approx(1, abs=1e-13)
    assert follows(Runs(noise, 20_000, np.random.default_rng(1)).ask(ANSWERS), law)


@pytest.mark.parametrize("noise", [*NOISES, Noise(1.0, 4.0, 2, is_fresh=False)])
@pytest.mark.false_alarm(2e-08)
def test_one_run_asked_query_by_query_has_the_law_of_many(noise):
    """The law, or that of many runs where the noise of queries is kept, which has none: a test on each transcript."""
    rng = np.random.default_rng(2)

    def play():
        runs = Runs(noise, 1, rng)
        return [runs.ask_one(answer) for answer in ANSWERS]

    drawn, many = np.array([play() for _ in range(5_000)]), Runs(noise, 50_000, rng).ask(ANSWERS)
    if noise.is_fresh:
        assert follows(drawn, transcript_law(noise, ANSWERS))
    for row in np.unique(many, axis=0):
        one, all_of_them = (int(np.all(rows == row, axis=1).sum()) for rows in (drawn, many))
        assert abs(one / 5_000 - all_of_them / 50_000) < math.sqrt(math.log(2e10) / 10_000) * 1.32


def test_a_broken_sampler_is_noticed():
    wrong = Runs(Noise(1.0, 4.0, 2, query_scale=1.5), 20_000, np.random.default_rng(1)).ask(ANSWERS)
    assert not follows(wrong, transcript_law(NOISES[0], ANSWERS))


def test_a_long_run_goes_from_bottom_to_bottom():
    """Just above a block: 2^15 answers are drawn at once."""
    answers = np.full(3 * sparse_vector._BLOCK + 5, 10.0)
    falls = [7, sparse_vector._BLOCK, 2 * sparse_vector._BLOCK - 1, len(answers) - 1]
    answers[falls] = 0.0
    runs = Runs(Noise(1e-3, 5.0, 3), 1, np.random.default_rng(0))
    codes = runs.ask(answers)[0]
    assert np.flatnonzero(codes == BOTTOM).tolist() == falls[:3]
    assert np.all(codes[: falls[2]][np.delete(np.arange(falls[2]), falls[:2])] == TOP)
    assert np.all(codes[falls[2] + 1 :] == NO_ANSWER)
    assert runs.paid.tolist() == [3]
    assert runs.ask([10.0]).tolist() == [[NO_ANSWER]]
    runs = Runs(Noise(1e-3, 5.0, 70_000), 1, np.random.default_rng(0))
    assert {runs.ask_one(0.0) for _ in range(70_000)} == {BOTTOM}
    assert runs.ask_one(0.0) == NO_ANSWER


def test_an_answer_at_its_threshold_is_bottom():
    one, many = (Runs(Noise(1.0, 4.0, 3, query_scale=0.0), 1, np.random.default_rng(0)) for _ in range(2))
    level = float(one._thresholds[0])
    assert [one.ask_one(level), *many.ask([level])[0]] == [BOTTOM, BOTTOM]


def test_rows_are_asked_alone():
    runs = Runs(Noise(1e-3, 5.0, 2), 3, np.random.default_rng(0))
    assert runs.ask([[0.0, 9.0], [9.0, 0.0]], [2, 0]).tolist() == [[BOTTOM, TOP], [TOP, BOTTOM]]
    assert runs.paid.tolist() == [1, 0, 1]
    assert runs.ask([9.0, np.inf], np.array([False, True, False])).tolist() == [[TOP, TOP]]
    assert runs.ask(np.zeros(0)).shape == (3, 0)


@pytest.mark.parametrize(("queries", "epochs"), [(13, 13), (20, 4), (100, 2), (5000, 1)])
def test_a_law_of_too_many_transcripts_is_refused(queries, epochs):
    with pytest.raises(AuditError, match="`queries` must leave at most 5000 transcripts"):
        SparseVector(lambda data: np.zeros(queries), Noise(1.0, 0.0, epochs)).law(None)


@pytest.mark.parametrize(("voters", "classes"), [(5, 2), (6, 2), (5, 3), (6, 3)])
def test_exact_distance_is_that_of_a_search(voters, classes):
    before, after = changed_votes(voters, classes, barred=False)
    neighbors: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for a, b in zip(before.tolist(), after.tolist(), strict=True):
        neighbors.setdefault(tuple(a), []).append(tuple(b))
    for start in neighbors:
        level, seen, steps = {start}, {start}, 0
        while all(winner(np.array(each)) == winner(np.array(start)) for each in level):
            level = {near for each in level for near in neighbors[each]} - seen
            seen |= level
            steps += 1
        assert exact_distance(np.array([start]))[0] == steps - 1
        assert winner(np.array(start)) == list(start).index(max(start))


def test_votes_and_pairs():
    assert count_votes([[0, 2], [1, 2], [0, 0]], 3).tolist() == [[2, 1, 0], [1, 0, 2]]
    left, right = attack_pair([3.5, 7.5], [0, 1])
    assert (left != right).any(axis=1).sum() == 1
    assert [VoteTable()(side)[1].tolist() for side in (left, right)] == [[3, 8], [4, 7]]
    assert [VoteTable()(side)[0].tolist() for side in unstable_pair(2)] == [[1, 1], [0, 0]]
    gaps = VoteTable(distance="gap")
    first, second = (gaps(side)[1] for side in attack_pair([100.0, 104.0], [1, 0], gaps=True))
    assert (first - second).tolist() == [2, -2]
    assert np.abs((first + second) / 2 - [100, 104]).max() <= 1
    assert set(DISTANCES) == {"safe", "exact", "gap"}


@pytest.mark.false_alarm(1e-08)
def test_choices_follow_their_probabilities():
    """Null: index 1 of 20,000 choices; Hoeffding at 1e-8."""
    errors = np.array([3.0, 1.0, 2.0])
    due = softmax(-0.7 * errors)
    np.testing.assert_allclose(choice_probabilities(np.stack([errors, errors + 1e4]), 0.7), [due, due], rtol=1e-9)
    share = np.mean(choose(errors, 0.7, 20_000, np.random.default_rng(5)) == 1)
    assert abs(share - due[1]) <= math.sqrt(math.log(2e8) / 40_000)


def test_least_empirical_error_by_hand():
    """Labels 0 1 0 1 1 at .1 .2 .4 .6 .9: cuts have 2, 1, 2, 1, 2, 3 errors; the first best is between .1 and .2."""
    assert best_thresholds(np.array([[0.4, 0.1, 0.9, 0.2, 0.6]]), np.array([[0, 0, 1, 1, 1]]))[0] == pytest.approx(0.15)
    equal = best_thresholds(np.array([[0.5, 0.5, 0.2]]), np.array([[0, 1, 0]]))[0]
    assert equal in (pytest.approx(0.35), pytest.approx(0.75))


@pytest.mark.parametrize("flip", [0.0, 0.3])
def test_least_empirical_error_against_all_cuts(flip):
    rng = np.random.default_rng(4)
    features = rng.random((200, 9))
    labels = (features >= 0.4) ^ (rng.random(features.shape) < flip)
    for x, y, t in zip(features, labels, best_thresholds(features, labels), strict=True):
        ordered = np.r_[0.0, np.sort(x), 1.0]
        errors = [np.sum((x >= cut) != y) for cut in (ordered[:-1] + ordered[1:]) / 2]
        assert np.sum((x >= t) != y) == min(errors)


def test_wrong_votes_against_counting():
    rng = np.random.default_rng(5)
    for theta in (0.0, 0.4, 1.0):
        thresholds, features = np.clip(rng.normal(theta, 0.1, 50), 0, 1), np.r_[rng.random(200), theta, 0.0]
        counted = ((features >= thresholds[:, None]) != (features >= theta)).sum(axis=0)
        np.testing.assert_array_equal(wrong_votes(thresholds, features, theta), counted)


test_what_is_refused = refused(
    [
        (lambda: Noise(1.0, 1.0, 1, query_scale=-1.0), "`query_scale` must"),
        (lambda: SparseVector(3, Noise(1.0, 1.0, 1)), "`queries` must"),
        (lambda: VoteTable(distance="gaps"), "`distance` must"),
        (lambda: count_votes([[0, 3]], 2), "`votes` must"),
    ],
    error=AuditError,
)
