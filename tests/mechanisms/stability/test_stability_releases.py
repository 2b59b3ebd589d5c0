"""The releases: samplers against laws and against the interactive session, distances, chunks, services, validators.

Null of the randomized tests: the two samplers have one law, or the sampler has the stated one. Exact tests of
`audit.laws` at 1e-8 each, 20,000 outputs unless said otherwise.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from audit import AuditError
from mechanisms.stability import services
from mechanisms.stability.accuracy import needed_margin, printed_failure, printed_k, sparse_alpha, sure_failure
from mechanisms.stability.aggregate import (
    BinaryClassificationService,
    SubsampleAggregate,
    VoteTable,
    printed_teachers,
    runs_votes,
    service_size,
)
from mechanisms.stability.calibration import Calibration, printed_soft
from mechanisms.stability.chunks import assignment_rule, by_hash, by_position, independent
from mechanisms.stability.epochs import SIDES, StoppingTimes, prefix_attack, stopping_masses
from mechanisms.stability.instability import DistanceToInstability, Majority, labels
from mechanisms.stability.online import NO_ANSWER, CalibratedRelease, OnlineQueryRelease, Session, Transcripts
from mechanisms.stability.soft_labels import SoftLabelService, SoftTranscripts, both_tests, histograms
from mechanisms.stability.vote_pairs import attack_pair, unstable_pair, vote_pair
from mechanisms.stability.votes import DISTANCES, changed_votes, count_votes, exact_distance, winner

N, ALARM = 20_000, 1e-8
SHORT = Calibration(1.0, 4.0, 2)


def questions(dataset):
    """Five questions at the distances 3, 5, 2, 6, 4, with values 0 to 4."""
    return np.arange(5), np.array([3.0, 5.0, 2.0, 6.0, 4.0])


def follows(outputs, law, seed=3):
    return law.fit_pvalue(outputs, np.random.default_rng(seed)) > ALARM


@pytest.mark.false_alarm(1e-08)
def test_transcript_law_sums_to_one_and_fits_the_sampler():
    mechanism = Transcripts(questions, SHORT)
    law = mechanism.law(None)
    assert math.fsum(law.pmf.values()) == pytest.approx(1, abs=1e-14)
    assert follows(mechanism(None, 100_000, np.random.default_rng(1)), law)


@pytest.mark.false_alarm(1e-08)
def test_the_session_has_the_law_of_the_transcripts():
    release = OnlineQueryRelease(1.0, 1e-6, 1, 5)
    object.__setattr__(release, "calibration", SHORT)
    values, distances = questions(None)

    def analyst(transcript):
        j = len(transcript)
        return (lambda _: (int(values[j]), distances[j])) if j < 5 else None

    rng = np.random.default_rng(2)
    played = np.array([release.play(analyst, None, rng) for _ in range(N)])
    assert follows(played, Transcripts(questions, SHORT).law(None))


@pytest.mark.false_alarm(1e-08)
def test_an_adaptive_analyst_has_the_law_of_the_stopping_times():
    """Who restarts its list after each BOTTOM, and forces one at the end of the list, sees the stopping times."""
    attack = prefix_attack(Calibration(2.0, 100.0, 2), shape=5)
    answers = attack.queries(0)
    rng = np.random.default_rng(5)

    def stops():
        session, found = Session(Calibration(2.0, 100.0, 2), None, rng), []
        while session.running:
            j = 0
            while j < len(answers) and session.ask(lambda _, d=answers[j]: (0, d)) == 0:
                j += 1
            if j == len(answers):
                session.pay()  # the certain BOTTOM
            found.append(j)
        return found

    assert follows(np.array([stops() for _ in range(N)]), attack.law(SIDES[0]))


def test_a_broken_sampler_is_noticed():
    mechanism = Transcripts(questions, SHORT)
    outputs = Transcripts(questions, SHORT, query_scale=1.5)(None, N, np.random.default_rng(1))
    assert not follows(outputs, mechanism.law(None))


@pytest.mark.parametrize("query_scale", [0.0, 1.0, 2.0])
@pytest.mark.false_alarm(1e-08)
def test_stopping_times_follow_their_law(query_scale):
    mechanism = StoppingTimes(lambda data: np.array([1.0, 0.0, -1.0]), 0.5, 1.5, 3, query_scale)
    assert follows(mechanism(SIDES[0], N, np.random.default_rng(4)), mechanism.law(SIDES[0]))


def test_stopping_masses_add_up():
    masses, rest = stopping_masses(np.array([math.inf, 3.0, -40.0, 0.0]))
    assert masses[0] == 0.0
    assert math.fsum([*masses, rest]) == pytest.approx(1, abs=1e-14)


def test_nothing_is_answered_after_the_last_bottom():
    outputs = Transcripts(lambda data: (np.ones(4, dtype=int), np.zeros(4)), Calibration(1.0, 50.0, 2))(
        None, 50, np.random.default_rng(0)
    )
    assert outputs.tolist() == [[-1, -1, NO_ANSWER, NO_ANSWER]] * 50


def test_distance_to_instability_is_exactly_half_of_delta():
    mechanism = DistanceToInstability(Majority(), 1.0, 1e-2)
    loss = mechanism.law(labels(21)).loss_against(mechanism.law(labels(20)))
    assert loss.delta(5.0) == pytest.approx(0.5e-2, rel=1e-12)
    assert follows(mechanism(labels(27), N, np.random.default_rng(0)), mechanism.law(labels(27)))


@pytest.mark.parametrize("records", range(1, 8))
def test_majority_knows_how_far_it_is_from_change(records):
    for ones in range(records + 1):
        value, distance = Majority()(labels(ones, records))
        steps = [abs(ones - other) for other in range(records + 1) if Majority()(labels(other, records))[0] != value]
        if steps:
            assert distance == min(steps) - 1


@pytest.mark.parametrize(("teachers", "classes"), [(5, 2), (6, 2), (5, 3), (6, 3)])
def test_exact_distance_is_that_of_a_search(teachers, classes):
    before, after = changed_votes(teachers, classes, barred=False)
    reached = {tuple(row): 0 for row in before.tolist()}
    neighbors: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for a, b in zip(before.tolist(), after.tolist(), strict=True):
        neighbors.setdefault(tuple(a), []).append(tuple(b))
    for start in reached:
        level, seen, steps = {start}, {start}, 0
        while all(winner(np.array(each)) == winner(np.array(start)) for each in level):
            level = {near for each in level for near in neighbors[each]} - seen
            seen |= level
            steps += 1
        assert exact_distance(np.array([start]))[0] == steps - 1


def test_votes_and_pairs():
    assert count_votes([[0, 2], [1, 2], [0, 0]], 3).tolist() == [[2, 1, 0], [1, 0, 2]]
    left, right = vote_pair([3, 7], [True, False], 41)
    assert (left != right).any(axis=1).sum() == 1
    assert VoteTable()(left)[1].tolist() == [3, 8]
    assert VoteTable()(right)[1].tolist() == [4, 7]
    assert [VoteTable()(side)[0].tolist() for side in unstable_pair(2)] == [[1, 1], [0, 0]]
    gaps = VoteTable(distance="gap")
    first, second = (gaps(side)[1] for side in attack_pair(100.0, 4.0, np.array([0.0, 1.0]), np.array([1, 0]), True))
    assert (first - second).tolist() == [2, -2]
    assert np.abs((first + second) / 2 - [100, 104]).max() <= 1


def test_assignments():
    records = [(i, i % 2) for i in range(30)]
    assert by_position(records, 7).tolist() == sorted(by_position(records, 7).tolist())
    assert np.bincount(by_position(records, 7)).max() - np.bincount(by_position(records, 7)).min() <= 1
    kept = by_hash(records, 7, b"key")
    np.testing.assert_array_equal(np.delete(kept, 4), by_hash([*records[:4], *records[5:]], 7, b"key"))
    np.testing.assert_array_equal(kept, by_hash(np.array(records), 7, b"key"))
    assert set(independent(records, 7, np.random.default_rng(0))) <= set(range(7))


@given(st.lists(st.lists(st.integers(0, 6), min_size=9, max_size=9), min_size=1, max_size=4), st.integers(0, 9))
def test_votes_of_all_runs_are_those_of_each_chunk(assigned, ones):
    data, teacher = services.records(ones, 9), services.MeanLabelTeacher()
    runs = [np.array(run) for run in assigned]
    assert np.array_equal(teacher.of_runs(data, runs, 7), runs_votes(teacher, data, runs, 7))


@pytest.mark.parametrize(("bins", "scores", "first", "second"), [
    (4, [0.0, 0.25, 0.26, 1.0], [2, 1, 0, 1], [0, 0, 0]),
    (2, [0.2, 0.3, 0.7, 0.8], [2, 2], [2]),
    (1, [0.2, 0.9, 0.1, 0.5], [4], []),
])  # fmt: skip
def test_histograms(bins, scores, first, second):
    plain, shifted = histograms(np.array(scores)[:, None], bins)
    assert plain[0].tolist() == first
    if bins != 4:
        assert shifted[0].tolist() == second


def test_a_single_bin_never_fails():
    (codes, near), _ = both_tests(np.full((5, 1), 0.3), 1)
    assert codes.tolist() == [1]
    assert np.isinf(near).all()
    _, (shifted, far) = both_tests(np.full((5, 1), 0.3), 2)
    assert shifted.tolist() == [2]
    assert np.isinf(far).all()


@pytest.mark.false_alarm(1e-08)
def test_soft_transcripts_follow_their_law():
    columns = [np.repeat([0.3, 0.7], [30, 11]), np.repeat([0.45, 0.55], [22, 19]), np.full(41, 0.9)]
    scores = np.stack(columns, axis=1)
    mechanism = SoftTranscripts(4, Calibration(2.0, 9.0, 4))
    law = mechanism.law(scores)
    assert math.fsum(law.pmf.values()) == pytest.approx(1, abs=1e-14)
    assert follows(mechanism(scores, 50_000, np.random.default_rng(1)), law)


def test_printed_numbers_of_teachers():
    assert printed_teachers(1.0, 1e-6, 1, 100, 0.05, labels=3) == 10_261
    assert printed_teachers(1.0, 1e-6, 10, 1000, 0.05) == 39_991
    assert printed_k(100.0) == 34
    assert printed_failure(100.0, "gap") == pytest.approx(0.34, abs=5e-3)
    assert printed_failure(100.0) == pytest.approx(0.95, abs=8e-3)
    assert printed_failure(50.0, "gap") == pytest.approx(0.010, abs=5e-4)
    assert printed_failure(50.0) == pytest.approx(0.17, abs=5e-3)


@pytest.mark.false_alarm(1e-08)
def test_accuracy_of_sparse_vector_by_simulation():
    """Null: ten queries at margin 6 in two epochs fail with the stated probability; 1e-8 by Hoeffding."""
    rng = np.random.default_rng(8)
    falls = [(6 + rng.laplace(scale=2, size=(200_000, 5)) <= rng.laplace(size=(200_000, 1))).any(axis=1) for _ in "ab"]
    assert abs(np.mean(falls[0] | falls[1]) - sure_failure(6.0, 10, 2)) < math.sqrt(math.log(2e8) / 4e5)
    assert sure_failure(needed_margin(0.05, 999, 2), 999, 2) == pytest.approx(0.05, rel=1e-6)
    assert needed_margin(0.05, 999, 2) < 0.46 * sparse_alpha(1000, 1, 0.05)


def test_a_service_answers():
    rng = np.random.default_rng(0)
    X = rng.random((4000, 2))
    y = (X[:, 0] > 0.5).astype(int)
    service = SubsampleAggregate(
        DecisionTreeClassifier(max_depth=1), 401, 4.0, 1e-3, 5, 50, calibrated=True, random_state=1
    ).fit(X, y)
    assert service.predict([[0.05, 0.5], [0.95, 0.5]]).tolist() == [0, 1]
    assert service.get_params()["n_teachers"] == 401
    with pytest.raises(AuditError, match="`X` must leave at most max_queries"):
        service.predict(np.zeros((49, 2)))


def test_a_soft_service_answers():
    rng = np.random.default_rng(0)
    X, y = rng.random(4000), rng.integers(2, size=4000)
    mean = lambda X, y: lambda points: np.full(len(points), 0.3 + 0 * np.sum(y))  # noqa: E731
    service = SoftLabelService(mean, 4001, 4.0, 1e-3, bins=5, max_queries=50, random_state=1).fit(X, y)
    assert service.predict([0.1, 0.2]).tolist() == [0.3, 0.3]


def test_binary_service_sizes_itself():
    teachers, cutoff = service_size(1.0, 1e-6, 10_000, 0.01, 0.05)
    errors = 100 + math.sqrt(10_000 * math.log(3 * teachers / 0.05) / 2)
    assert cutoff == math.ceil(3 * errors)
    assert teachers == printed_teachers(1.0, 1e-6, cutoff, 10_000, 0.05)
    service = BinaryClassificationService(DecisionTreeClassifier(), 1.0, 1e-6, 10_000, 0.01)
    assert (service.n_teachers, service.cutoff) == (teachers, cutoff)
    with pytest.raises(AuditError, match="`max_queries` must exceed the cutoff"):
        service_size(1.0, 1e-6, 100, 0.2, 0.05)


def test_bad_arguments_are_refused():
    for build, name in [
        (lambda: VoteTable(distance="gaps"), "distance"),
        (lambda: assignment_rule("sorted"), "assignment"),
        (lambda: CalibratedRelease(1.0, 1e-6, 1, variant="best"), "variant"),
        (lambda: SubsampleAggregate(3, 5, 1.0, 1e-6), "learner"),
        (lambda: count_votes([[0, 3]], 2), "votes"),
        (lambda: vote_pair([3], [True], 40), "teachers"),
        (lambda: histograms([[1.5]], 4), "scores"),
        (lambda: Transcripts(lambda d: (np.array([0]), np.array([-1.0])), SHORT).law(None), "questions"),
        (lambda: DistanceToInstability(Majority(), 0.0, 0.1), "epsilon"),
        (lambda: SubsampleAggregate(DecisionTreeClassifier(), 5, 1.0, 1e-6).fit(np.zeros((3, 1)), [0, 1, 2]), "y"),
    ]:
        with pytest.raises(AuditError, match=f"`{name}` must"):
            build()
    assert set(DISTANCES) == {"safe", "exact", "gap", "gap_minus_one"}
    with pytest.raises(AuditError, match="`fit` must be called"):
        SubsampleAggregate(DecisionTreeClassifier(), 5, 1.0, 1e-6).predict([[0.0]])


def test_soft_calibration_doubles():
    soft = printed_soft(1.0, 1e-6, 3, 100)
    assert soft.epochs == 8
    assert soft.lam == pytest.approx(math.sqrt(64 * 3 * math.log(2e6)))
