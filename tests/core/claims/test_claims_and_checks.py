"""Impossible arguments raise before anything is drawn; verdicts compare with their three words; results are data."""

import math
import pickle
from functools import partial

import numpy as np
import pytest

import audit
from audit import AuditError, PrivacyCheck, PrivacyClaim, Substitution, Verdict
from audit.certificate.verify import Replay
from audit.errors import InvalidArgument, MisreadVerdict
from audit.verdict import AnyResult, worst
from tests.core.mechanisms import PAIR, laplace

STRANGERS = (np.zeros(2), np.ones(2))


class Counting:
    """Counts its calls: refused arguments must leave the count at zero."""

    calls = 0

    def __call__(self, data, size, rng):
        self.calls += 1
        return rng.laplace(size=size)


IMPOSSIBLE = {
    "epsilon": [-1.0, math.nan, math.inf, "1", None, True],
    "delta": [-1e-9, 1.0000001, math.nan, "0"],
    "relation": [None, "substitution", Substitution, 3],
}


@pytest.mark.parametrize(("name", "wrong"), [(name, wrong) for name, values in IMPOSSIBLE.items() for wrong in values])
def test_a_claim_outside_its_set_is_refused(name, wrong):
    with pytest.raises(InvalidArgument, match=f"`{name}` must"):
        PrivacyClaim(**{"epsilon": 1.0, name: wrong})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(budget=1), "`budget` must be an integer >= 2"),
        (dict(budget=math.nan), "`budget` must"),
        (dict(budget=10.5), "`budget` must"),
        (dict(significance=0.0), "`significance` must lie strictly between 0 and 1"),
        (dict(significance=1.0), "`significance` must"),
        (dict(significance=math.nan), "`significance` must"),
        (dict(seed=-1), "`seed` must"),
        (dict(workers=-1), "`workers` must"),
        (dict(method="sequential?"), "`method` must be one of"),
        (dict(tolerance=0.0), "`tolerance` must"),
        (dict(timeout=-1.0), "`timeout` must"),
        (dict(pairs=[]), "`pairs` must hold at least one"),
        (dict(pairs=[(1, 2, 3)]), "`pairs` must be a sequence"),
        (dict(pairs=None), "`pairs` must be a sequence"),
        (dict(claim="private"), "`claim` must be a PrivacyClaim"),
        (dict(pairs=[PAIR, STRANGERS]), r"`pairs\[1\]` must be neighboring under substitution: 2 records"),
        (dict(pairs=[PAIR] * 3, budget=4), "`budget` must be at least 6, 2 outputs for each of 3 pairs, got 4"),
    ],
)
def test_check_privacy_refuses_before_drawing(arguments, message):
    mechanism = Counting()
    complete = dict(claim=PrivacyClaim(1.0), pairs=[PAIR], budget=100) | arguments
    with pytest.raises(AuditError, match=message):
        audit.check_privacy(mechanism, **complete)
    assert mechanism.calls == 0


@pytest.mark.parametrize("budget", [2, 100])
def test_small_budgets_are_kept_and_decide_nothing(budget):
    result = audit.check_privacy(
        lambda data, size, rng: data[0] + rng.laplace(size=size),
        PrivacyClaim(1.0),
        [([0.0], [1.0])],
        budget=budget,
        method="fixed",
    )
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.samples <= 2 * budget


def test_a_mechanism_of_the_wrong_length_is_refused_before_the_budget_is_spent():
    drawn = []

    def longer(data, size, rng):
        drawn.append(size)
        return np.zeros(size + 1)

    with pytest.raises(AuditError, match="returned 3 outputs, expected 2"):
        audit.check_privacy(longer, PrivacyClaim(1.0), [PAIR])
    assert drawn == [2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (dict(name=""), "`name` must"),
        (dict(name=None), "`name` must"),
        (dict(expected="MAYBE"), "`expected` must be a Verdict"),
        (dict(budget=1), "`budget` must"),
    ],
)
def test_checks_refuse_impossible_settings(changes, message):
    good = dict(name="x", mechanism=Counting(), claim=PrivacyClaim(1.0), pairs=[PAIR])
    PrivacyCheck(**good)
    with pytest.raises(AuditError, match=message):
        PrivacyCheck(**(good | changes))


def test_runs_refuse_empty_and_duplicate_checks():
    check = PrivacyCheck(name="x", mechanism=Counting(), claim=PrivacyClaim(1.0), pairs=[PAIR])
    with pytest.raises(AuditError, match="at least one check"):
        audit.run([])
    with pytest.raises(AuditError, match="unique names, got 'x'"):
        audit.run([check, check])
    with pytest.raises(AuditError, match="hold checks only"):
        audit.run([check, "y"])
    assert check.mechanism.calls == 0


def test_the_worst_verdict_wins_and_nothing_is_not_a_pass():
    from audit.verdict import standing, worst

    assert worst([Verdict.PASS, Verdict.INCONCLUSIVE]) is Verdict.INCONCLUSIVE
    assert worst([Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS]) is Verdict.FAIL
    assert worst([]) is Verdict.INCONCLUSIVE
    assert standing(Verdict.FAIL, Verdict.FAIL) is Verdict.PASS
    assert standing(Verdict.PASS, Verdict.FAIL) is Verdict.INCONCLUSIVE
    assert standing(Verdict.FAIL, Verdict.PASS) is Verdict.FAIL
    assert [v.exit_status for v in (Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE)] == [0, 1, 2]


WORDS = ["PASS", "INCONCLUSIVE", "FAIL"]
NAMED = {getattr(audit, name) for name in audit.__all__ if name.endswith(("Result", "Report"))}  # which loads them
KINDS = sorted({*NAMED, Replay, *AnyResult.__subclasses__(), *audit.Result.__subclasses__()}, key=str)


@pytest.mark.parametrize("verdict", Verdict)
def test_a_verdict_equals_its_word_and_no_other(verdict):
    assert [word for word in WORDS if verdict == word] == [verdict.value]
    assert [word for word in WORDS if not word != verdict] == [verdict.value]  # noqa: SIM202
    assert [other for other in Verdict if other == verdict] == [verdict]
    assert verdict is Verdict(verdict.value)
    assert (verdict == None, verdict != 3, verdict in (None, 3)) == (False, True, False)  # noqa: E711


@pytest.mark.parametrize("other", ["Fail", "fail", "failed", "", "ERROR", " PASS", True, False])
def test_what_is_no_verdict_is_refused(other):
    for compare in (
        lambda: other == Verdict.FAIL,
        lambda: other != Verdict.FAIL,
        lambda: Verdict.FAIL in [other],
        lambda: other in [Verdict.FAIL],
    ):
        with pytest.raises(MisreadVerdict, match='"PASS", "INCONCLUSIVE" or "FAIL", compared with'):
            compare()


def test_it_has_no_order_but_severity():
    for compare in (
        lambda: Verdict.FAIL < Verdict.PASS,
        lambda: Verdict.FAIL >= "PASS",
        lambda: sorted(Verdict),
        lambda: max(Verdict),
    ):
        with pytest.raises(MisreadVerdict, match=r"verdict\.severity"):
            compare()
    assert worst(Verdict) is Verdict.FAIL
    assert [verdict.severity for verdict in Verdict] == [0, 1, 2]


@pytest.mark.parametrize("verdict", Verdict)
def test_it_is_not_a_truth_value(verdict):
    for use in (
        bool,
        lambda it: not it,
        lambda it: it or "x",
        lambda it: any([it]),
        lambda it: list(filter(None, [it])),
    ):
        with pytest.raises(MisreadVerdict, match='write `verdict == "PASS"`'):
            use(verdict)


@pytest.mark.parametrize("kind", KINDS, ids=[kind.__name__ for kind in KINDS])
def test_results_and_reports_are_neither_true_nor_texts(kind):
    found = object.__new__(kind)
    for use in (bool, lambda it: not it, lambda it: it or None, lambda it: all([it]), lambda it: it == True):  # noqa: E712
        with pytest.raises(MisreadVerdict, match=f'a {kind.__name__} is not .*write `assert result.verdict == "PASS"'):
            use(found)
    for compare in (lambda: found == "FAIL", lambda: found != "FAIL"):
        with pytest.raises(MisreadVerdict, match=r"write `result\.verdict == 'FAIL'`"):
            compare()
    assert found == found
    assert found != object.__new__(kind)
    assert len({found, found}) == 1


MECHANISMS = {
    "lambda": lambda data, size, rng: laplace(data, size, rng),
    "per call": audit.per_call(lambda data, rng: laplace(data, 1, rng)[0]),
    "partial": partial(lambda data, size, rng, shift: shift + laplace(data, size, rng), shift=1),
}


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
def test_a_pickled_result_says_the_same(mechanism):
    result = audit.check_privacy(mechanism, PrivacyClaim(0.3), [PAIR], budget=2_000, workers=0)
    read = pickle.loads(pickle.dumps(result))
    assert read.to_dict() == result.to_dict()
    assert str(read) == str(result)
    with pytest.raises(AuditError, match=r"^<lambda> is not in this pickled result"):
        read.check.mechanism(PAIR[0], 1, None)


def test_code_that_can_be_pickled_stays():
    result = audit.check_privacy(laplace, PrivacyClaim(1.0), [PAIR], budget=500, workers=0)
    assert pickle.loads(pickle.dumps(result)).check.mechanism is laplace
