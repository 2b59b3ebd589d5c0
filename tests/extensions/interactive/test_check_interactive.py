"""Conversations as outputs: what analysts get, what transcripts hold, and what convicts.

What must be convicted is so at 1e-6, with fixed seeds; the one null states its probability of a false alarm.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import audit
from audit import InteractiveCheck, Moves, PrivacyClaim, Refusal, Verdict, check_interactive
from audit.certificate.document import load_certificate
from audit.certificate.verify import list_problems, replay
from audit.errors import InvalidArgument, InvalidCertificate, NotNeighboring
from audit.extensions.interactive.conversation import OVER, Conversation, StatedConversation, move_of
from audit.extensions.interactive.ledger import Ledger, Transcript, Turn, overspent, rational
from audit.laws import Finite, Laplace
from benchmarks.sessions import AdmitsNan, Session
from tests.offenders import refused

PAIRS = [([0.0, 0.0], [1.0, 0.0])]
CLAIM = PrivacyClaim(1.0)
BUDGET = 4_000


class Budget(Session):
    """Answers rows of data with Laplace noise until 1 is spent; exact."""

    def child(self):
        return Budget(self.data, self.rng)


class Unlimited(Budget):
    def pay(self, epsilon, name=None):
        """Charge nothing."""


class SameNoise(Budget):
    """One noise for all answers."""

    noise = None

    def ask(self, row, epsilon):
        if self.noise is None:
            self.noise = self.rng.laplace(scale=1 / epsilon)
        return self.data[row] + self.noise


def transcript(make, analyst, data=(0.0, 0.0), **parts):
    return Conversation(make, True, analyst, **parts).transcript(list(data), np.random.default_rng(0))


def test_a_law_of_numbers_and_refusals_reads_them_as_they_are():
    law = lambda data, moves: Finite({"no": 1} if moves[1:] else {0: 0.25, 1: 0.75})  # noqa: E731
    stated = StatedConversation(Moves, False, (("ask", 1), ("ask", 2)), stated=law)
    density = stated.log_likelihood(0, [(1, "no"), (1, "yes")])
    np.testing.assert_allclose(density, [np.log(0.75), -np.inf])


def audited(make, analyst, **settings):
    return check_interactive(make, CLAIM, PAIRS, analyst=analyst, **{"budget": BUDGET, "workers": 0, **settings})


def test_a_generator_reads_answers_and_refusals():
    seen = []

    def analyst():
        seen.append((yield "ask", 0, 0.9))
        seen.append((yield "ask", 1, 0.9))

    answer, refusal = transcript(Budget, analyst)
    assert seen == [answer, refusal]
    assert isinstance(answer, float)
    assert isinstance(seen[1], Refusal)
    assert (type(refusal), refusal) == (str, "PermissionError: the budget is spent")


def test_every_conversation_is_counted():
    opened = []

    class Counted(Budget):
        def __init__(self, data, rng):
            opened.append(self)
            super().__init__(data, rng)

    assert audited(Counted, [("ask", 0, 0.1)] * 3, budget=400).samples == len(opened) > 0


@pytest.mark.parametrize(("chance", "step", "shown"), [(1.0, 1, "0"), (1.0, -1, "1"), (0.5, 1, "1"), (0.5, -1, "1")])
def test_the_conversation_that_is_shown_was_held_on_the_side_of_the_witness(chance, step, shown):
    """The answer is 1 on one dataset, with a chance: the event is 0 where it leads the left one, else 1."""

    class Open(Budget):
        def ask(self, row, epsilon):
            return float(self.data[row] * (self.rng.random() < chance))

    result = check_interactive(Open, CLAIM, [PAIRS[0][::step]], analyst=[("ask", 0, 0.5)], budget=1_000, workers=0)
    (transcript,) = [way for way in result.evidence.ways if isinstance(way, Transcript)]
    assert transcript.turns[0].answer == shown
    assert f"a conversation on {transcript.side} that breaks the claim:" in result.details()


def test_an_object_that_is_answered_is_asked_in_turn():
    class Door(Budget):
        def child(self):
            return Plain(self.data)

    class Plain:
        def __init__(self, data):
            self.data = data

        def ask(self):
            return self.data[0]

    def analyst():
        child = yield ("child",)
        yield child, "ask"
        yield lambda opened: opened.spent

    assert transcript(Door, analyst, handles=(Plain,)) == ("<Plain>", 0.0, Fraction(0))
    assert transcript(Budget, (("child",),)) == ("<Budget>",)
    assert isinstance(transcript(Door, analyst)[0], Plain)  # what nobody calls an object to be asked is read as it is


def test_an_object_that_cannot_be_opened_is_an_output():
    def closed(data, rng):
        raise ValueError("closed" if data[0] else "shut")

    result = audited(closed, [("ask", 0, 0.1)])
    assert result.verdict is Verdict.FAIL
    assert result.conversation == ()


@pytest.mark.parametrize(
    ("analyst", "said"),
    [
        ([("nothing",)], "it has no method 'nothing'"),
        (lambda: iter([]).missing, "the analyst raised AttributeError"),
        (lambda: (move for move in [3]), "3 is no move"),
        (lambda: (("ask", 0, 0.0001) for _ in iter(int, 1)), "more than 10,000 times"),
    ],
)
def test_an_analyst_that_cannot_ask_gets_no_verdict(analyst, said):
    result = audited(Unlimited, analyst, budget=40)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert said in result.reason


GIVEN = {"name": "it", "make": Budget, "claim": CLAIM, "pairs": PAIRS, "analyst": [("ask", 0, 0.1)]}
test_what_does_not_fit_is_refused = refused([
    ({"make": 3}, "`make` must be callable"),
    ({"analyst": [3]}, "`analyst` must be a generator function"),
    ({"analyst": []}, "`analyst` must be a generator function"),
    ({"charged": lambda opened: 0}, "`charged` needs `cost`"),
    ({"cost": lambda move, answer: 0, "claim": PrivacyClaim(1.0, 1e-6)}, "`limit` must be given"),
    ({"parameters": {"x": 1}}, "`parameters` must be left out"),
    ({"pairs": [([0, 0], [1, 1])]}, "neighbor"),
], InteractiveCheck, error=(InvalidArgument, NotNeighboring), **GIVEN)  # fmt: skip


def test_a_table_of_moves_that_has_none_is_refused():
    assert Moves({"ask": [[1]]}, 1).length == 1
    for table, length in ({}, 8), ({"ask": 3}, 8), ({"ask": [[]]}, 8), ({"ask": [[1]]}, 0), ([], 8):
        with pytest.raises(InvalidArgument):
            Moves(table, length)


@pytest.mark.false_alarm(1e-07)
def test_a_budget_that_holds_is_not_refuted_and_one_without_limit_is_told_by_turns(tmp_path):
    """Null of the first: it is 1-private. Budget 20,000."""
    asks = [("ask", 0, 1.0)] * 3
    assert audited(Budget, asks, confirmation=1e-7).verdict is not Verdict.FAIL
    check = InteractiveCheck(name="it", make=Unlimited, claim=CLAIM, pairs=PAIRS, analyst=asks, expected=Verdict.FAIL)
    report = audit.run([check], budget=BUDGET, workers=0, directory=tmp_path)
    (result,) = report.results
    assert result.verdict is Verdict.FAIL
    assert result.epsilon_lower_bound > 2
    turns = result.conversation
    assert [turn.move for turn in turns] == ["ask(0, 1)"] * 3
    sign = 1 if result.evidence.by(Transcript).side == "right" else -1  # answers about a 1 are the larger ones
    assert sign * (sum(float(turn.answer) for turn in turns) - 1.5) > 0
    certificate = load_certificate(tmp_path)
    assert list_problems(certificate) == []
    assert replay(certificate).differences == ()
    page = (tmp_path / "certificate.html").read_text()
    assert all(turn.answer in page for turn in turns)
    assert f"3. ask(0, 1) -> {turns[2].answer}" in str(result)


class Echo(Unlimited):
    def tell(self, value):
        return value


def test_a_shown_move_names_the_answer_that_it_repeats():
    def analyst():
        answer = yield "ask", 0, 30.0
        yield "tell", answer

    assert [turn.move for turn in audited(Echo, analyst).conversation] == ["ask(0, 30)", "tell(answer 1)"]


def test_hostile_arguments_are_tried_though_no_table_names_them():
    result = audited(AdmitsNan, Moves({"ask": [[0], [0.5]]}, length=8))
    assert result.verdict is Verdict.FAIL, result.reason
    assert result.evidence.searched.setting["plan"][0][-1] in ("<NaN>", "<-inf>", "<-1>")


@pytest.mark.parametrize(
    ("table", "way"),
    [
        ({"reserve": [[0]], "redeem": []}, [["reserve", 0]] * 2 + [["redeem"]] * 2),
        ({"ask": [[0], [0.5, 0.9]]}, [["ask", 0, 0.5], ["ask", 0, 0.9]] * 2),
        ({"ask": [[0.5]]}, [["ask", "<NaN>"]] + [["ask", 0.5]] * 3),
        ({"ask": [[0.5]]}, [["ask", "<-1>"]] * 4),
    ],
)
def test_a_checklist_holds_what_breaks_budgets(table, way):
    """To act late, to ask for another part, to poison a sum, and to be paid."""
    assert way in Moves(table, 4).checklist()


def laplace_turn(data, moves):
    _, row, epsilon = moves[-1]
    if sum(rational(move[2]) for move in moves) > 1:
        return Finite({"PermissionError: the budget is spent": 1.0})
    return Laplace(data[row], 1 / epsilon)


def test_an_object_that_leaves_the_law_of_its_turns_does_not_pass():
    """Each answer has its stated law, and all share one noise."""
    result = audited(SameNoise, [("ask", 0, 0.1)] * 2, law=lambda data, moves: Laplace(data[0], 10.0))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "disagree" in result.reason


def test_a_law_needs_a_list_of_moves():
    def analyst():
        yield "ask", 0, 0.1

    result = audited(Budget, analyst, law=laplace_turn, budget=400)
    assert result.verdict is not Verdict.PASS
    assert "`law` must have an analyst that is a list of moves" in result.reason


def cost_of(move, answer):
    return 0 if isinstance(answer, Refusal) else move[2]


class Creep(Budget):
    """Adds floats: ten times 0.1 is less than 1."""

    def pay(self, epsilon, name=None):
        if self.spent >= 1.0:
            raise PermissionError("the budget is spent")
        self.spent += epsilon


class Forgetful(Budget):
    """Answers, and charges every second answer."""

    def ask(self, row, epsilon):
        answer = super().ask(row, epsilon)
        self.turn = getattr(self, "turn", 0) + 1
        self.spent -= rational(epsilon) * (self.turn % 2)
        return answer


def test_the_ledger_counts_in_fractions_what_sampling_cannot_see(tmp_path):
    asks = [("ask", 0, 0.1)] * 12
    creep = audited(Creep, asks, cost=cost_of)
    assert (creep.verdict, creep.basis, creep.samples) == (Verdict.FAIL, "computed", 100)
    assert "the 12 turns of a conversation cost 11/10 (1.1), and 1 is claimed" in creep.reason
    assert audited(Budget, asks, cost=cost_of, charged=lambda opened: opened.spent).verdict is not Verdict.FAIL
    spent = audited(Forgetful, asks[:4], cost=cost_of, charged=lambda opened: opened.spent)
    assert "after turn 1, ask(0, 0.1), 0 is charged for a cost of 1/10 (0.1)" in spent.reason
    check = InteractiveCheck(name="it", make=Creep, claim=CLAIM, pairs=PAIRS, analyst=asks, cost=cost_of)
    audit.run([check], workers=0, directory=tmp_path)
    certificate = load_certificate(tmp_path)
    assert list_problems(certificate) == []
    assert "breaks the ledger" in (tmp_path / "certificate.html").read_text()
    certificate["checks"][0]["evidence"]["ways"][0]["limit"] = "2"
    assert replay(certificate).differences
    certificate["checks"][0]["evidence"]["ways"][0]["limit"] = "1/2"
    with pytest.raises(InvalidCertificate, match="less than the claimed"):
        InteractiveCheck.judge_record(certificate["checks"][0])


def test_sums_of_fractions():
    paid = tuple(Turn("ask", "1", str(rational(0.1)), charged) for charged in ("1/10", "2/10", "29/100"))
    assert overspent(paid[:2], Fraction(1, 5)) == ""
    assert overspent(paid[:2], Fraction(1, 5) - Fraction(1, 10**30)).startswith("the 2 turns")
    assert overspent(paid[:2], Fraction(1, 6)).startswith("the 2 turns of a conversation cost 1/5 (0.2)")
    assert overspent(paid, Fraction(1)).startswith("after turn 3")
    nearly = (replace(paid[0], charged="999999999999/10000000000000"),)
    assert overspent(nearly, Fraction(1)) == ""
    assert isinstance(audited(Budget, [("ask", 0, 0.1)], cost=cost_of, budget=400).evidence.by(Ledger), Ledger)


class Votes:
    """Says yes with probability 1/4 or 1/2."""

    def __init__(self, data, rng):
        self.data, self.rng = data, rng

    def ask(self):
        return bool(self.rng.integers(4) < 1 + self.data[0])


@pytest.mark.parametrize(("claimed", "verdict"), [(np.log(2.25) + 1e-6, "PASS"), (np.log(2.25) - 1e-3, "FAIL")])
def test_the_enumeration_decides_on_a_conversation(claimed, verdict):
    """No, no has probability 9/16 or 1/4; after a yes nothing is asked."""

    def until_yes():
        if not (yield ("ask",)):
            yield ("ask",)

    given = {"analyst": until_yes, "method": "enumerate", "workers": 0}
    result = check_interactive(Votes, PrivacyClaim(claimed), PAIRS, **given)
    assert (result.verdict, result.basis) == (verdict, "proof")
    assert result.exact_epsilon == pytest.approx(np.log(2.25))


def test_the_generator_is_bound_by_position():
    """By its name, as a second argument that is required, or through a subclass that forwards; not as a default."""

    class Named:
        def __init__(self, data, generator):
            self.data, self.generator = data, generator

        def ask(self):
            return self.data[0] + self.generator.laplace()

    class Forwards(Named):
        def __init__(self, *given):
            super().__init__(*given)

    class Defaults:
        def __init__(self, data, scale=1.0):
            self.data, self.scale = data, scale

        def ask(self):
            return self.data[0] + np.random.default_rng().laplace(scale=self.scale)

    for make in (Named, Forwards, Defaults):
        check = InteractiveCheck(
            name="one", make=make, claim=CLAIM, pairs=[([0.0], [1.0])], analyst=[("ask",)], law=None
        )
        opened = check.mechanism.open([0.0], np.random.default_rng(0))
        assert isinstance(opened.ask(), float)


def test_a_method_of_an_object_is_asked_of_the_one_that_was_answered_last():
    first, last = object(), object()
    assert move_of((".ask", 1), [first, 0.5, last, "text"]) == (last, "ask", 1)
    assert move_of((".ask", 1), [0.5, "text"]) is OVER
