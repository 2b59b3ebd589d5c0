"""Conversations that are forked between turns: what they certify, what they leave open, and what a record must hold.

The correct session claims the loss that it has; it is refuted with probability 1e-8 at most.
"""

import copy
import math

import numpy as np
import pytest

from audit import InteractiveCheck, Moves, PrivacyClaim, Refusal, Verdict, check_interactive, run
from audit.certificate.document import load_certificate
from audit.certificate.verify import problems_of, replay
from audit.errors import InvalidArgument, InvalidCertificate
from audit.extensions.interactive.conversation import Conversation
from audit.extensions.interactive.forked import BranchingProcess, ForkEvidence
from audit.extensions.interactive.forks import _SHARES, Plan, TurnScores, _best_cut, answer_score, scored, survivors

PAIRS = [([0.0], [1.0])]


class Answers:
    """Laplace noise at 0.3 for each answer, without end."""

    def __init__(self, data, rng):
        self.data, self.rng = data, rng

    def ask(self):
        return self.data[0] + self.rng.laplace(scale=1 / 0.3)


class Sided:
    """Answers the first question by a fair coin, and the second one by the same."""

    def __init__(self, data, rng):
        self.data, self.rng, self.coin = data, rng, None

    def flip(self):
        if self.coin is None:
            self.coin = float(self.rng.integers(2))
        return self.coin


def asking():
    for _ in range(8):
        answer = yield ("ask",)
        if isinstance(answer, Refusal):
            return


def forked(claimed, budget, **settings):
    given = {"analyst": asking, "fork": copy.deepcopy, "workers": 0, "budget": budget, **settings}
    return check_interactive(Answers, PrivacyClaim(claimed), PAIRS, **given)


@pytest.mark.false_alarm(1e-8)
def test_forks_certify_more_of_a_long_conversation_than_it_shows_by_itself(tmp_path):
    """Eight answers at 0.3 lose 2.4. Null: the claim is 2.4; 40,000 answers on each dataset."""
    right = forked(2.4, 40_000, significance=1e-8, confirmation=None)
    assert right.verdict is Verdict.INCONCLUSIVE
    assert "leave out `fork` for a PASS" in right.reason
    wrong = forked(1.2, 40_000)
    assert wrong.verdict is Verdict.FAIL
    assert wrong.epsilon_lower_bound > 1.6
    check = InteractiveCheck(
        name="it", make=Answers, claim=PrivacyClaim(1.0), pairs=PAIRS, analyst=asking, fork=copy.deepcopy
    )
    run([check], budget=20_000, workers=0, directory=tmp_path)
    certificate = load_certificate(tmp_path)
    assert problems_of(certificate) == []
    assert replay(certificate).differences == ()
    certificate["checks"][0]["evidence"]["ways"][0]["survivors"] = []
    assert replay(certificate).differences


def test_a_state_is_kept_by_its_copies():
    """Of a coin that is tossed once, all copies survive or none: half of the conversations hold all four."""
    scores = TurnScores((None, None))
    cuts = np.array([[0.0, 0.0], [-1.0, -1.0]])  # all that answer "left", none that answers "right"
    plan = Plan(0.0, scores, cuts, (1, 4), 0.5, 100)
    talk = Conversation(Sided, True, (("flip",), ("flip",)))
    assert survivors(talk, [0.0], plan, copy.deepcopy, 50, np.random.default_rng(0))[0].tolist() == [4] * 50
    rows = survivors(
        talk, [0.0], plan._replace(scores=TurnScores((Value(), Value())), cuts=np.array([[1.0, 1.0], [-1.0, -1.0]])),
        copy.deepcopy, 50, np.random.default_rng(0),
    )  # fmt: skip
    assert set(rows[0].tolist()) == {0, 4}
    assert not rows[1].any()


class Value:
    """The answer is its own score."""

    def __call__(self, outputs):
        return outputs.numbers.copy()


def test_the_product_by_hand():
    held = ForkEvidence(10, 0, (1, 2), 0.5, ((2, 0, 3), (0, 1, 1)), "")
    odds = math.exp(-0.7)
    assert held.evidence_against(0.7) == pytest.approx(3 * math.log(1 + 0.5 * odds) + math.log(1 - 0.25))
    assert held.evidence_against(0.7) < held.evidence_against(0.6)
    assert ForkEvidence(10, 0, (1,), 0.5, (), "").evidence_against(0.0) == 0.0


@pytest.mark.parametrize("survived", [((3, 0, 1),), ((2, 1, 1),), ((1, 0, 21),)])
def test_more_survivors_than_copies_are_no_record(survived):
    with pytest.raises(InvalidCertificate):
        ForkEvidence(10, 0, (1, 2), 0.5, survived, "")


def test_the_mean_of_the_product_is_at_most_1_whatever_copies_share():
    """All copies of a conversation share one coin, at the limit of the claim: log 3 and a bet of 0.9."""
    copies, odds, bet = 2, 1 / 3, 0.9
    means = []
    for chance in (0.75, 0.25):  # of the right guess on either dataset; a wrong one else
        right, wrong = (
            ForkEvidence(1, 0, (1, copies), bet, ((2, 0, 1),), ""),
            ForkEvidence(1, 0, (1, copies), bet, ((0, 2, 1),), ""),
        )
        both = [math.exp(each.evidence_against(-math.log(odds))) for each in (right, wrong)]
        means.append(chance * both[0] + (1 - chance) * both[1])
    assert means[0] == pytest.approx(1.0)
    assert means[0] * means[1] < 1


def test_answers_in_words_are_scored():
    """Yes is said in 60 of 100 conversations on the one dataset, and in 30 on the other."""
    score = answer_score([["yes"] * 60 + ["no"] * 40, ["yes"] * 30 + ["no"] * 70])
    yes, no = scored(score, ["yes", "no"])
    assert yes > 0 > no


def test_a_plan_follows_chances():
    """One turn in four survives: as many copies keep the number of conversations."""
    branching = BranchingProcess(np.full((2, 2, 4), 0.25))
    assert branching.copies(0) == (1, 4, 4, 4)
    assert branching.copies(1) == (1, 1, 4, 4)
    assert branching.copies(4) == (1, 1, 1, 1)
    assert branching.answers((1, 4, 4, 4)) == pytest.approx(1 + 3 * 4 * 0.5)
    mean, square = branching.moments((1, 1, 1, 1))
    assert mean == pytest.approx(np.full((2, 2), 0.25**4))
    assert square == pytest.approx(mean)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"fork": 3}, "fork=copy.deepcopy"),
        ({"analyst": Moves({"ask": []})}, "`fork` needs an analyst and pairs"),
        ({"claim": PrivacyClaim(1.0, 1e-6)}, "be pure where conversations are forked"),
    ],
)
def test_what_cannot_be_forked_is_refused(settings, said):
    given = {"claim": PrivacyClaim(1.0), "analyst": asking, "fork": copy.deepcopy, **settings}
    with pytest.raises(InvalidArgument, match=said):
        InteractiveCheck(name="it", make=Answers, pairs=PAIRS, **given)


@pytest.mark.parametrize(("budget", "said"), [(200, "answers where conversations are forked")])
def test_too_few_answers_are_refused(budget, said):
    with pytest.raises(InvalidArgument, match=said):
        forked(1.0, budget)


@pytest.mark.parametrize(("more", "cut"), [(0, 1.0), (1, 2.0)])
def test_each_score_is_tried_as_a_cut_while_there_are_no_more_than_shares(more, cut):
    """At 1 a share of 0.95 of the own scores survives, and half of the others: no share that is tried lies near it."""
    rest = np.arange(2.0, len(_SHARES) + more)
    own = np.r_[np.zeros(500), np.ones(100), np.resize(rest, 9_400)]
    other = np.r_[np.zeros(5_000), np.resize(rest, 5_000)]
    found, shares = _best_cut(own, other, rarity=0.0)
    assert found == cut
    assert shares == pytest.approx([0.95 if cut == 1 else 0.94, 0.5], abs=1e-4)
