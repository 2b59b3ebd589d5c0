"""Rates of the local settings, computed: true ones that begin too early, and faults."""

import numpy as np
import pytest

import audit
from audit.checks.run import run_check
from audit.evidence.allowance import Allowance
from audit.execution.seeds import Stream
from mechanisms.papers.berrett2019 import faults
from mechanisms.papers.berrett2019.settings import SETTINGS
from mechanisms.papers.berrett2019.theorems import ExcessOf
from tests.extensions.utility.test_rate import FAIL, LEVEL, OPEN, PASS, computed


@pytest.mark.parametrize("name", SETTINGS)
def test_true_rates_on_grids_that_begin_too_early_do_not_fail(name):
    """Twenty random grids in n = 100 ... 10,000 a setting; `benchmarks.utility` takes hundreds."""
    setting, rng = SETTINGS[name], np.random.default_rng(0)
    for _ in range(20):
        between = np.round(10 ** rng.uniform(2, 4, rng.integers(4, 8))).astype(int).tolist()
        sizes = sorted({100, 10_000, *between})
        result = computed(ExcessOf(setting), sizes=sizes, exponent=setting.exponent, margin=0.02)
        assert result.verdict is OPEN, (sizes, result.reason)


RATE_FAULTS = [check for check in faults.CHECKS if isinstance(check, audit.RateCheck)]


@pytest.mark.parametrize("fault", RATE_FAULTS, ids=lambda fault: fault.name)
def test_wrong_bandwidths_and_too_much_noise_still_fail(fault):
    result = run_check(fault, Allowance(2, LEVEL, Stream(0)))
    assert result.verdict is FAIL, result.reason
    assert len(result.evidence.beyond) == 5


def test_the_known_early_grid():
    """On these sizes the local exponents 0.078, 0.075, 0.106 look settled, far from 0.3."""
    setting, sizes = SETTINGS["d=1 s=5"], (100, 484, 2045, 2653, 7422, 10_000)
    settings = {"sizes": sizes, "exponent": setting.exponent, "margin": 0.02, "constant": setting.constant(1.0)}
    assert computed(ExcessOf(setting), **settings, horizon=1).verdict is not PASS
    assert computed(ExcessOf(setting), **settings).verdict is OPEN
