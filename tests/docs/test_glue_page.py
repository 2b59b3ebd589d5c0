"""The page on stability maps runs as printed; faults of its pipeline are convicted, decoys are not. FAIL is a fact."""

import json
import re
from pathlib import Path

import pytest

import audit
from audit import Verdict

PAGE = (Path(__file__).parents[2] / "docs" / "glue.md").read_text()
STEPS, OPENDP, SPENT = re.findall(r"```python\n(.*?)```", PAGE, flags=re.S)
(SHOWN,) = re.findall(r"```text\n(.*?)```", PAGE, flags=re.S)


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
