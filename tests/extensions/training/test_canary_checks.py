"""Checks by canaries: verdicts of one run and of fresh ones, records, what bars a PASS, refusals."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import audit
from audit import AddRemove, AuditError, CanaryCheck, GaussianClaim, PrivacyClaim, Verdict, check_canaries, run
from audit.certificate.verify import judge_record, list_problems
from audit.extensions.training.canaries.check import CanaryEvidence, Judged
from audit.extensions.training.canaries.guesses import why_unfair
from audit.extensions.training.canaries.one_run import pvalue
from tests.core.certificate.forging import completed
from tests.offenders import refused

CLAIM = GaussianClaim(0.5, relation=AddRemove(), source="the accountant")


def training(mu, canaries):
    """A run whose canaries have Gaussian scores: mu-Gaussian DP."""

    def train(rng):
        coins = rng.integers(0, 2, canaries)
        scores = mu * coins + rng.normal(size=canaries)
        return scores[coins == 1], scores[coins == 0]

    return train


def scores(mu, canaries, seed=0):
    return training(mu, canaries)(np.random.default_rng(seed))


@pytest.mark.parametrize("labels_of", [np.asarray, lambda labels: labels.astype(bool), list])
def test_labels_are_not_taken_for_scores(labels_of):
    """They were: scores and labels of a leak gave INCONCLUSIVE. The lines of the message give its FAIL."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 2_000)
    all_scores = 3.0 * labels + rng.normal(size=2_000)
    with pytest.raises(AuditError, match="`scores_out` must hold scores, got labels") as refused:
        check_canaries(all_scores, labels_of(labels), CLAIM)
    with pytest.raises(AuditError, match="`scores_in` must hold scores"):
        check_canaries(labels_of(labels), all_scores, CLAIM)
    names = {"scores": all_scores, "labels": labels, "claim": CLAIM, "audit": audit}
    split, call = map(str.strip, str(refused.value).splitlines()[1:])
    exec(split, names)
    assert eval(call, names).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("scores_in", "scores_out"),
    [(np.ones(100), np.zeros(100)), ([0, 1, 1, 1], [0, 0, 0, 1]), ([0.5, 2.0, 3.0], [0, 1]), ([0.5, 2.0], [0, 0])],
)
def test_scores_of_0_and_1_are_scores(scores_in, scores_out):
    """Where both sides have them, where there are not as many, or where one value is all there is."""
    assert check_canaries(scores_in, scores_out, CLAIM).samples == 1


def test_a_true_claim_passes_with_a_bound_below_the_truth():
    result = check_canaries(*scores(0.5, 20_000), CLAIM)
    assert result.verdict is Verdict.PASS
    assert 0 < result.mu_lower_bound < 0.5
    assert 0 < result.epsilon_lower_bound < 1.99
    assert "with power 0.8" in result.reason
    assert result.evidence.is_final


def test_one_run_fails_at_the_confirmation_level_only():
    clear = check_canaries(*scores(3.0, 2_000), CLAIM)
    assert clear.verdict is Verdict.FAIL
    doubtful = check_canaries(*scores(1.0, 2_000), CLAIM)
    assert doubtful.verdict is Verdict.INCONCLUSIVE
    assert "refuted, but not for certain" in doubtful.reason
    assert "1e-06" in doubtful.reason
    assert check_canaries(*scores(1.0, 2_000), CLAIM, confirmation=None).verdict is Verdict.FAIL


@pytest.mark.parametrize("structure", ["any", "independent"])
@pytest.mark.parametrize("claim", [CLAIM, PrivacyClaim(3.0, 1e-5, relation=AddRemove())], ids=["mu", "epsilon"])
def test_records_are_judged_again_and_drawn(tmp_path, structure, claim):
    left, right = scores(0.5, 4_000)
    check = CanaryCheck(name="sgd", claim=claim, scores_in=left, scores_out=right, structure=structure)
    report = run([check], workers=0)
    (record,) = json.loads(report.save(tmp_path).read_text())["checks"]
    judged = judge_record(record)
    assert {key: record[key] for key in judged} == judged
    assert ("declared" in record["claim"]["summary"]) == (structure == "independent")
    assert record["claim"]["source"] == claim.source
    assert "canaries" in (tmp_path / "certificate.html").read_text()


def test_what_bars_a_pass():
    few = check_canaries([1.0, 2.0], [0.0], PrivacyClaim(4.0, relation=AddRemove()))
    assert few.verdict is Verdict.INCONCLUSIVE
    assert "too few" in few.reason
    coarse = check_canaries(*scores(0.5, 50), CLAIM)
    assert coarse.verdict is Verdict.INCONCLUSIVE
    assert "too coarse" in coarse.reason
    blind = check_canaries(np.zeros(3_000), np.zeros(3_000), CLAIM)
    assert blind.verdict is Verdict.INCONCLUSIVE
    assert "no better than chance" in blind.reason


def test_a_cut_refutes_at_its_share_of_the_level():
    (look,) = check_canaries(*scores(1.0, 1_000), CLAIM, guesses=400).evidence.guessed
    evidence = CanaryEvidence(1, canaries=2_000, guessed=(look,))
    level = 1.001 * pvalue(CLAIM, look.right, look.guesses, 2_000, "any")
    whole = Judged(CLAIM, 1e-5, "any", evidence, level)
    assert whole.refutes(look)
    assert not whole.refutes(replace(look, share=0.5))
    chance, said = whole.why_broken(replace(look, share=0.5))
    assert chance == pytest.approx(2 * level / 1.001)
    assert f"with probability at most {chance:.2g} for all cuts together" in said


def test_guesses_that_are_given_are_made():
    result = check_canaries(*scores(2.0, 1_000), CLAIM, guesses=80, delta=1e-6)
    (look,) = result.evidence.guessed
    assert look.guesses == 80
    assert look.share == 1.0
    assert any("1e-06" in part.quantity for part in result.bounds)


test_refusals = refused([
    (lambda: check_canaries([np.nan], [0.0], CLAIM), "`scores_in` must hold no NaN, which is at 1 of 1 places"),
    (lambda: check_canaries([1.0, None], [0.0], CLAIM), "at 1 of 2 places"),
    (lambda: check_canaries(np.ones((2, 2)), [0.0], CLAIM), "one number for each canary, got .2, 2."),
    (lambda: check_canaries([], [], CLAIM), "at least one canary"),
    (lambda: check_canaries([1.0], [0.0], CLAIM, structure="iid"), "structure"),
    (
        lambda: check_canaries(np.ma.masked_less([1.0, 9.0], 5.0), [0.0], CLAIM),
        "hold no NaN, which is at 1 of 2 pl",
    ),
    (lambda: check_canaries([1j], [0.0], CLAIM), "`scores_in` must be real numbers"),
    (lambda: check_canaries(["a"], [0.0], CLAIM), r"`scores_in` must be real numbers, got \['a'\]"),
    (lambda: check_canaries([1.0], [[0.0, 1.0], [2.0, 3.0]], CLAIM), "`scores_out` must be one number"),
    *[
        (lambda given=given: check_canaries([1.0], [0.0], CLAIM, guesses=given), "`guesses` must .*, got ")
        for given in (3, 0, (1, 1))
    ],
    (lambda: check_canaries([1.0], [0.0], CLAIM, guesses=1, significance=1.0), "`significance` must .*, got 1.0"),
    (lambda: check_canaries([1.0], [0.0], CLAIM, guesses=1, delta=1.5), "`delta` must .*, got 1.5"),
    (lambda: check_canaries([1.0], [0.0], "mu"), "claim"),
], error=AuditError)  # fmt: skip


def test_the_evidence_does_not_depend_on_the_order_of_scores():
    included, left_out = scores(1.0, 500)
    orders = included, np.random.default_rng(1).permutation(included)
    first, second = (check_canaries(part, left_out, CLAIM).evidence for part in orders)
    assert first == second
    assert len(first.digest) == 64


def test_bounds_do_not_depend_on_how_much_is_claimed():
    """The truth is mu = 1; of a claim that is refuted, the bound at the confirmation level stands beside."""
    given = scores(1.0, 2_000, seed=1)
    results = [check_canaries(*given, GaussianClaim(mu, relation=AddRemove())) for mu in (0.3, 1.0, 3.0)]
    assert len({result.mu_lower_bound for result in results}) == 1
    assert 0.5 < results[0].mu_lower_bound < 1
    confirmed = [result.confirmed_epsilon_lower_bound / result.epsilon_lower_bound for result in results]
    assert len({*confirmed}) == 1
    assert 0.3 < confirmed[0] < 0.75
    wide, tight = (check_canaries(*given, PrivacyClaim(e, 1e-5, relation=AddRemove())) for e in (0.3, 5.0))
    assert wide.epsilon_lower_bound == tight.epsilon_lower_bound > wide.confirmed_epsilon_lower_bound


@pytest.mark.parametrize("guesses", [200, None, 1_000])
@pytest.mark.parametrize("sizes", [(900, 100), (100, 900), (1_000, 0)])
def test_a_split_that_no_fair_coins_give_decides_nothing(sizes, guesses):
    """Scores of noise: with 900 of 1,000 included, 9 of 10 guesses "included" are right."""
    rng = np.random.default_rng(0)
    included, left_out = (rng.normal(size=size) for size in sizes)
    result = check_canaries(included, left_out, PrivacyClaim(0.5), guesses=guesses)
    assert (result.verdict, result.epsilon_lower_bound) == (Verdict.INCONCLUSIVE, 0.0)
    assert f"the coins were not fair: {sizes[0]:,} of 1,000 canaries were included" in result.reason


def test_the_error_of_the_test_of_the_coins_is_a_millionth_by_the_binomial_law():
    """Every split of few and of many canaries, by sums of the probabilities of splits."""
    for canaries in (1, 19, 20, 21, 60, 1_000):
        refused = [k for k in range(canaries + 1) if why_unfair(k, canaries)]
        assert math.fsum(math.comb(canaries, k) / 2**canaries for k in refused) <= 1e-6
        assert (0 in refused) == (canaries >= 21)  # 2 * 2^-21 < 1e-6 < 2 * 2^-20


def test_scores_come_in_many_shapes():
    """Frames with a column of scores, columns of one axis too many, series, text, booleans, and single precision."""
    pd = pytest.importorskip("pandas")
    included, left_out = scores(1.0, 500)
    with pytest.raises(AuditError, match=r"type scores_in=frame\['a'\]"):
        check_canaries(pd.DataFrame({"a": [1.0], "b": [2.0]}), [0.0], CLAIM)
    plain = check_canaries(included, left_out, CLAIM)
    for shape in (
        lambda part: part[:, None],
        lambda part: pd.Series(part),
        lambda part: pd.DataFrame({"label": 1, "score": part}),
        lambda part: [repr(float(number)) for number in part],
        lambda part: part[None, :],
    ):
        assert check_canaries(shape(included), shape(left_out), CLAIM).evidence == plain.evidence
    told = check_canaries(included > 0.5, left_out > 0.5, CLAIM)
    assert "500 canaries" in told.reason


def test_losses_in_place_of_scores_are_named():
    """Scores of the other sign say no more than chance, and the reversed order says all."""
    included, left_out = scores(3.0, 2_000)
    result = check_canaries(-included, -left_out, CLAIM)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "type check_canaries(-scores_in, -scores_out, claim)" in result.reason
    assert check_canaries(included, left_out, CLAIM).verdict is Verdict.FAIL


@pytest.mark.parametrize("delta", [0.0, 1e-7, 1e-6, 1e-5, 1e-3])
def test_canaries_that_are_all_told_apart_refute_at_twice_the_claimed_delta(delta, tmp_path):
    """A mechanism may tell everything with probability delta: that is the floor of what one run can refute."""
    claim = PrivacyClaim(1.0, delta, relation=AddRemove())
    check = CanaryCheck(name="all", claim=claim, scores_in=np.ones(1_000), scores_out=np.zeros(1_010))
    report = run([check], workers=0)
    (result,) = report.results
    assert result.verdict is Verdict.FAIL
    assert result.confirmation == max(1e-6, 2 * delta)
    assert 1 < result.confirmed_epsilon_lower_bound <= result.epsilon_lower_bound
    report.save(tmp_path)
    assert not list_problems(report.certificate)
    said = f"this run says FAIL with probability at most {max(1e-6, 2 * delta):.4g}"
    assert said in (tmp_path / "certificate.md").read_text()
    forged = json.loads(json.dumps(report.certificate))
    forged["checks"][0]["settings"]["confirmation"] *= 2
    assert "all: its shares of the significance and of the confirmation differ" in list_problems(completed(forged))
