"""The way of one audit through the package stays short, and the measure of it counts what it says."""

import pytest

from benchmarks import path
from benchmarks.path import Call, moves_and_returns, traced

MOST_FILES, MOST_RETURNS = 42, 18  # measured; 24 files and 4 returns are wanted


@pytest.fixture(scope="module")
def calls():
    return traced()


def test_an_audit_enters_few_files(calls):
    files = {call.file for call in calls}
    assert {"checks/privacy.py", "checks/judge.py", "evidence/guess_game.py"} <= files
    assert len(files) <= MOST_FILES, sorted(files)


def test_the_significance_is_not_handed_to_and_fro(calls):
    holders = [call for call in calls if call.holds]
    assert Call("checks/judge.py", "judge", True) in holders
    moves, returns = moves_and_returns(call.file for call in holders)
    assert moves > returns
    assert returns <= MOST_RETURNS, list(dict.fromkeys(holders))


def test_the_measure_sees_a_detour(monkeypatch):
    """An audit that runs twice comes back to every file of the significance's way."""
    once = moves_and_returns(call.file for call in traced() if call.holds)
    audited = path.audited
    monkeypatch.setattr(path, "audited", lambda: (audited(), audited()))
    twice = moves_and_returns(call.file for call in traced() if call.holds)
    assert twice[1] >= once[1] + once[0]
