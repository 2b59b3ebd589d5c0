"""Verdicts are texts that compare with the three words only; nothing else, and no truth value, decides anything."""

import copy
import csv
import io
import json
import pickle

import numpy as np
import pandas as pd
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


@pytest.mark.parametrize("verdict", Verdict)
def test_it_is_written_as_text(verdict):
    word = verdict.value
    assert type(word) is str
    assert (str(verdict), f"{verdict:>14}", "/".join([verdict])) == (word, f"{word:>14}", word)
    assert repr(verdict) == f"<Verdict.{word}: '{word}'>"
    assert json.loads(json.dumps({verdict: [verdict]}, indent=1)) == {word: [word]}
    file = io.StringIO()
    csv.writer(file).writerow([verdict])
    assert file.getvalue() == f"{word}\r\n"
    assert pickle.loads(pickle.dumps(verdict)) is copy.deepcopy(verdict) is verdict


def test_dicts_sets_arrays_and_frames_find_it_by_its_word():
    counts = {"PASS": 1, Verdict.FAIL: 2, "fail": 3}
    assert (counts[Verdict.PASS], counts["FAIL"], counts.get("Fail")) == (1, 2, None)
    assert Verdict.PASS in {"PASS", "Pass"}
    assert Verdict.PASS not in {"Pass", "FAIL"}
    assert {*WORDS} == {*Verdict}
    assert (np.array([*Verdict], dtype=object) == "FAIL").tolist() == [False, False, True]
    column = pd.DataFrame({"verdict": [*Verdict, Verdict.FAIL]}).verdict
    assert column.value_counts().to_dict() == {"FAIL": 2, "PASS": 1, "INCONCLUSIVE": 1}
    assert (column == "FAIL").sum() == 2


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
