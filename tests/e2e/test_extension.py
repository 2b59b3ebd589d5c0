"""An extension of another distribution, examples/extension: its kind, scorer and command, by its entry point."""

import json
import os
from pathlib import Path

import pytest

from tests.processes import run_python

ROOT = Path(__file__).parents[2]
AUDITED = """
import numpy as np
from bounded import BoundedCheck
from audit import PrivacyCheck, PrivacyClaim, Verdict

def fraction_tells(data, size, rng):
    return rng.integers(20, size=size) + (rng.random(size) + (data.sum() > 0)) / 2

CHECKS = [
    BoundedCheck(name="kept", function=sum, datasets=[[0, 1], [1, 0]]),
    BoundedCheck(name="broken", function=sum, datasets=[[0, 1], [1, 3]], expected=Verdict.FAIL),
    PrivacyCheck(name="told", mechanism=fraction_tells, claim=PrivacyClaim(1.0),
                 pairs=[(np.zeros(2), np.r_[1.0, 0])], expected=Verdict.FAIL),
]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of packages, as `pip install ./examples/extension` leaves one, and checks beside it."""
    made = tmp_path_factory.mktemp("installed")
    project = ROOT / "examples" / "extension"
    (made / "bounded.py").write_text((project / "bounded.py").read_text())
    stated = (project / "pyproject.toml").read_text()
    assert '[project.entry-points.dp_audit]\nbounded = "bounded:PLUGIN"\n' in stated
    info = made / "dp_audit_bounded-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dp-audit-bounded\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[dp_audit]\nbounded = bounded:PLUGIN\n")
    (made / "audited.py").write_text(AUDITED)
    return made


def dp_audit(folder, *arguments, **variables):
    code = "from audit.cli import main; import sys; main(sys.argv[1:])"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]), **variables}
    return run_python("-c", code, *arguments, cwd=folder, env=environment)


@pytest.fixture(scope="module")
def saved(folder):
    done = dp_audit(folder, "run", "audited", "--budget", "5000", "--workers", "0", "--out", "out")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((folder / "out" / "certificate.json").read_text())


def test_its_kind_gets_verdicts_and_a_privacy_check_beside_it(saved):
    found = {check["name"]: (check["kind"], check["verdict"], check["reason"]) for check in saved["checks"]}
    assert found["kept"][:2] == ("bounded", "PASS")
    assert found["broken"][:2] == ("bounded", "FAIL")
    assert "a value of 4" in found["broken"][2]
    assert found["told"][:2] == ("privacy", "FAIL")


@pytest.mark.parametrize("command", ["verify", "replay", "report"])
def test_its_certificate_is_read_again(folder, saved, command):
    done = dp_audit(folder, command, "out")
    assert done.returncode == 0, done.stdout + done.stderr


def test_its_command_is_listed_and_works(folder):
    assert "Test whether values are in [-1, 1]." in dp_audit(folder, "--help").stdout
    assert dp_audit(folder, "bounded", "0.5", "1").stdout.startswith("PASS: all values are in")
    broken = dp_audit(folder, "bounded", "0.5", "3")
    assert broken.stdout.startswith("FAIL: ")
    assert broken.returncode != 0


def test_a_switch_leaves_it_out(folder):
    assert "bounded" not in dp_audit(folder, "--help", DP_AUDIT_NO_PLUGINS="1").stdout
