"""What nobody has used yet is not imported: neither by the package, nor by the pytest plugin, nor by `--help`."""

import subprocess
import sys

import pytest

HEAVY = ("numpy", "scipy", "hypothesis", "statsmodels", "dp_accounting", "joblib", "jinja2")


def modules_after(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after running `code`."""
    program = f"{code}\nimport sys\nprint('loaded:', *{{name.partition('.')[0] for name in sys.modules}})"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    return set(printed.rpartition("loaded:")[2].split())


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("import audit.pytest_plugin", set(HEAVY)),
        ("from audit.cli import cli; cli(['run', '--help'], standalone_mode=False)", {*HEAVY, "rich"}),
    ],
)
def test_nothing_heavy_is_imported(code, heavy):
    assert not modules_after(code) & heavy
    assert "numpy" in modules_after("import audit; audit.PrivacyClaim")  # the same look finds what is loaded


CHECKED = """
import sys
import numpy as np
import audit
from audit import laws

def noisy(data, size, rng):
    return data + rng.laplace(size=size)

class Response:
    def __call__(self, data, size, rng):
        return (rng.random(size) < 0.75) ^ data

    def law(self, data):
        return laws.Finite({data: 0.75, not data: 0.25})

claim = audit.PrivacyClaim(1.2, relation=audit.Local())
for mechanism in (noisy, Response()):
    audit.check_privacy(mechanism, claim, [(False, True)], budget=400)
print(*sys.modules)
"""


def test_a_privacy_check_imports_nothing_more():
    """Every process that runs a check would import it again: `scipy.stats` takes half a second, most checks less."""
    printed = subprocess.run([sys.executable, "-c", CHECKED], capture_output=True, text=True, check=True).stdout.split()
    assert "audit.statistics.independence" in printed
    assert "audit.laws.outputs" in printed
    assert not {"scipy.stats", "scipy.optimize", "dp_accounting", "sklearn"} & set(printed)
