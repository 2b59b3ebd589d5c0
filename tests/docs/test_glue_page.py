"""The page on stability maps runs as printed; faults of its pipeline are convicted, decoys are not. FAIL is a fact."""

import json
import re
from pathlib import Path

import pytest

import audit
from audit import Verdict
from benchmarks.glue import DECOYS, FAULTS, verdict_of

PAGE = (Path(__file__).parents[2] / "docs" / "glue.md").read_text()
STEPS, OPENDP, SPENT = re.findall(r"```python\n(.*?)```", PAGE, flags=re.S)
(SHOWN,) = re.findall(r"```text\n(.*?)```", PAGE, flags=re.S)
QUICK = ("a mean with a private count", "keys from private data", "missing values filled with the mean", "running sums")


def test_the_blocks_run_and_print_what_is_shown(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(STEPS, names)
    printed = capsys.readouterr().out
    assert SHOWN in printed
    assert printed.count("PASS") == 2
    assert len([line for line in STEPS.splitlines() if line]) == 10
    kept = json.loads((tmp_path / "glue" / "certificate.json").read_text())
    assert "pairs" in json.dumps(kept)
    pytest.importorskip("opendp")
    exec(OPENDP, names)
    assert capsys.readouterr().out == "PASS\n"
    exec(SPENT, names)
    assert capsys.readouterr().out.endswith("PASS\n")
    said = audit.check_accounting(
        lambda event, delta: names["spent"](event, delta) * 0.9, names["events"], 1e-9, names["epsilon_bracket"]
    )
    assert said.verdict is Verdict.FAIL


def test_faults_of_the_pipeline_are_convicted_and_decoys_are_not():
    assert (len(FAULTS), len(DECOYS)) == (20, 10)
    assert {name for name in QUICK if verdict_of(FAULTS[name]).verdict is not Verdict.FAIL} == set()
    assert {name for name, query in DECOYS.items() if verdict_of(query, budget=200).verdict is Verdict.FAIL} == set()
