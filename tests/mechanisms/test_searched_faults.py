"""A search over the parameters of a fault finds the setting that breaks its claim, and certifies it."""

import pytest

from mechanisms.faults import parameters as faults
from tests.core.checks.test_searched_parameters import run, short_search  # noqa: F401 - a fixture of every test


@pytest.mark.parametrize("name", ["rounded scale", "short tail", "sample deviation", "classical Gaussian"])
def test_faults_at_some_parameters_are_caught(name):
    """Each keeps its claim at most settings; the setting that breaks it is found, and certified on fresh outputs."""
    made = next(made for made in faults.CHECKS if made.name.endswith(name))
    result = run(made, significance=0.001, budget="quick")
    assert result.outcome == "FAIL, expected", result.reason
    assert result.evidence.searched.settings > 20
