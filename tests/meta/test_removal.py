"""An extension can be taken off: what is left works in a copy without its folder, and so does the core without all.

`make test-apart` runs the suites in such copies, once a week.
"""

import json
import subprocess

import pytest

from audit import plugins
from tests.apart import EXTENSIONS, copy_without, run, suite_of

AUDITED = """
import audit
import numpy as np

def laplace(data, size, rng):
    return data.sum() + rng.laplace(size=size)

CLAIM, PAIR = audit.PrivacyClaim(0.5), (np.zeros(3), np.r_[1.0, 0, 0])
CHECKS = [audit.PrivacyCheck(name="sum", mechanism=laplace, claim=CLAIM, pairs=[PAIR], expected=audit.Verdict.FAIL)]

def test_sum(dp_audit):
    dp_audit.privacy(laplace, CLAIM, [PAIR], budget=5_000, expected=audit.Verdict.FAIL)
"""
STEPS = """
import json
import sys
import pytest
import audit
from audit import plugins
from audit.cli import main
from audit.errors import MissingExtension
from audited import CHECKS

KEPT, ABSENT = json.loads(sys.argv[1])
assert audit.__file__.startswith(sys.path[0]), audit.__file__
report = audit.run(CHECKS, budget=5_000, workers=0, directory="out")
assert report["sum"].outcome == "FAIL, expected", report
assert plugins.list_folders() == KEPT
for name, extension in ABSENT.items():
    assert name not in audit.__all__
    with pytest.raises(MissingExtension, match=f"`audit.{name}` needs the extension {extension}, whose folder"):
        getattr(audit, name)
assert pytest.main(["-q", "-p", "no:cacheprovider", "audited.py"]) == 0
main(["verify", "out"])
"""


def names_of(extension):
    return [name for names in plugins.list_plugins()[extension].names.values() for name in names]


def use_without(folder, *absent):
    """Import, a run with its certificate, the fixture, the error of an absent name, and `dp-audit verify`."""
    copy_without(folder, set(absent))
    (folder / "audited.py").write_text(AUDITED)
    (folder / "steps.py").write_text(STEPS)
    kept = [name for name in EXTENSIONS if name not in absent]
    lost = {name: extension for extension in absent for name in names_of(extension)}
    done = run(folder, "steps.py", json.dumps([kept, lost]), capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_core_works_alone(tmp_path):
    use_without(tmp_path, *EXTENSIONS)


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_what_is_left_of_one_works(tmp_path, extension):
    use_without(tmp_path, extension)


def test_the_core_collects_alone(tmp_path):
    """Without any extension, and so without one of them."""
    copy_without(tmp_path, set(EXTENSIONS))
    arguments = ["-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", *suite_of(tmp_path, "core")]
    done = run(tmp_path, *arguments, stdout=subprocess.PIPE)
    assert done.returncode == 0, done.stdout[-3000:]
