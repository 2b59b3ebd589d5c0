"""Verdicts are texts that compare with the three words only; nothing else, and no truth value, decides anything."""

import pytest

import audit
from audit import Verdict
from audit.certificate.verify import Replay
from audit.errors import MisreadVerdict
from audit.verdict import AnyResult, worst

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
