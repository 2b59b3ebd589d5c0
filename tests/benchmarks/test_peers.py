"""The comparison with other auditors: its subjects exist, and its tables count what the tools said; nothing is run."""

from __future__ import annotations

from audit import Verdict
from audit.runner import collect
from benchmarks.peers.__main__ import Answer, counted, key, shown
from benchmarks.peers.subjects import CORRECT, FAULTY


def test_half_of_the_subjects_are_faults():
    checks = {check.name: check for check in collect(["mechanisms", "mechanisms.faults"])}
    assert len(FAULTY) == len(CORRECT) == 10
    assert {checks[name].expected for name in FAULTY} == {Verdict.FAIL}
    assert {checks[name].expected for name in CORRECT} == {Verdict.PASS}


def test_what_a_tool_does_not_take_counts_for_nothing():
    places = range(len(FAULTY) + len(CORRECT))
    found = {key(place, 0): Answer(place % 2 == 0, 0.5, "", 10) for place in places}
    found[key(0, 0)] = Answer(None, 9.0, "takes | numbers", 10)
    assert counted("a tool", found, 1) == ["a tool", "this one", 19, "4 of 9", 5, "5 of 10", "0.500", "10"]
    assert shown(found, 0, 1) == r"not taken: takes \| numbers"
    assert shown(found, 2, 1) == "1 of 1"
