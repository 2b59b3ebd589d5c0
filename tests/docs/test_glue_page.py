"""The page on stability maps runs as printed; faults of its pipeline are convicted, decoys are not. FAIL is a fact."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import audit
from audit import Verdict
from benchmarks.stability.pipeline import DECOYS, FAULTS, verdict_of
from benchmarks.stability.programs import QueryLibrary

PAGE = (Path(__file__).parents[2] / "docs" / "glue.md").read_text()
STEPS, OPENDP, SPENT = re.findall(r"```python\n(.*?)```", PAGE, flags=re.S)
(SHOWN,) = re.findall(r"```text\n(.*?)```", PAGE, flags=re.S)
COMMANDS, _ = re.findall(r"```console\n(.*?)```", PAGE, flags=re.S)
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


def test_the_command_for_every_commit_exists_and_takes_what_the_page_passes():
    """A worker is not started: the library's environment is made where the command runs."""
    module, options = re.search(r"python -m (benchmarks\S+) (.*)", COMMANDS).groups()
    root = Path(__file__).parents[2]
    assert all((root / path).is_file() for path in re.findall(r"-r (\S+)", COMMANDS))
    done = subprocess.run(
        [sys.executable, "-m", module, "--help"], capture_output=True, text=True, cwd=root, check=True
    )
    assert set(re.findall(r"--[a-z]+", options)) | {"--mask", "--causes"} <= set(re.findall(r"--[a-z]+", done.stdout))


def test_the_page_names_the_methods_that_a_library_states():
    stated = {name for name in vars(QueryLibrary) if not name.startswith("_")}
    said = re.search(r"five methods: (.*?) \(`QueryLibrary`\)", PAGE, flags=re.S)[1]
    assert set(re.findall(r"`(\w+)`", said)) == stated
