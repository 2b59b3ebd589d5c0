"""The server of a library's mechanisms: what goes in, what comes out, and how it meets the adapter for programs.

The server runs under this Python, on `served.py` files written here. One test is random: Laplace noise of scale 1
keeps epsilon = 1, a FAIL has probability 1e-6; scale 1/2 gives a bound of 1.9, by more than ten standard errors above.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

from audit import AddRemove, PrivacyClaim, SubjectFailed, Verdict, check_privacy
from wild import environments, mechanism
from wild.environments import CATALOGUE
from wild.mechanism import Served

SERVED = """
import numpy as np
import beside

def noisy_count(dataset, size, rng):
    return len(dataset) + rng.laplace(scale=beside.SCALE, size=size)

def raises_when_empty(dataset, rng):
    return 1.0 / len(dataset)

def batch_raises_when_empty(dataset, size, rng):
    return [rng.random() / len(dataset) for _ in range(size)]

def chatty(dataset, rng):
    print("a library that prints")
    return "answer"

MECHANISMS = {
    "noisy count": noisy_count,
    "raises": raises_when_empty,
    "batch raises": batch_raises_when_empty,
    "chatty": chatty,
    "echo": lambda dataset, rng: dataset,
    "vector": lambda dataset, rng: np.array([rng.random(), math.inf]),
    "mixed": lambda dataset, size, rng: [float("nan"), 2**60, None, (1, np.int64(2))][:size],
    "integers": lambda dataset, size, rng: np.arange(size),
}
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A library `fake` whose environment is this Python."""
    folder = tmp_path / "fake"
    folder.mkdir()
    (folder / "served.py").write_text("import math\n" + SERVED)
    (folder / "beside.py").write_text("SCALE = 1.0\n")
    (tmp_path / "serve.py").write_text((CATALOGUE / "serve.py").read_text())
    (folder / "audits.toml").write_text("not_audited = []\n")
    (folder / "requirements.txt").write_text("numpy==0\n")
    monkeypatch.setattr(mechanism, "CATALOGUE", tmp_path)
    monkeypatch.setattr(environments.Environment, "python", Path(sys.executable))
    served = []

    def of(name):
        served.append(Served("fake", name))
        return served[-1]

    yield of
    for each in served:
        each.program.close()


def drawn(mechanism, dataset, size, seed=0):
    return mechanism(dataset, size, np.random.default_rng(seed))


def test_floats_come_back_bit_by_bit_and_repeat_under_a_seed(library):
    first, again, other = (drawn(library("noisy count"), [0, 0], 1000, seed) for seed in (1, 1, 2))
    assert first.shape == (1000,)
    assert first.dtype == np.float64
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_an_exception_of_one_call_is_an_output(library):
    assert drawn(library("raises"), [], 2) == [{"raised": "ZeroDivisionError"}] * 2
    assert np.array_equal(drawn(library("raises"), [0, 0], 2), [0.5, 0.5])


def test_a_batch_that_raises_is_asked_for_one_by_one(library):
    with pytest.raises(SubjectFailed, match="ZeroDivisionError") as caught:
        drawn(library("batch raises"), [], 2)
    assert caught.value.kind == "raised"
    assert drawn(library("batch raises"), [], 1) == [{"raised": "ZeroDivisionError"}]
    claim = PrivacyClaim(1.0, 0.0, AddRemove())
    result = check_privacy(library("batch raises"), claim, [([], [0])], budget=200, significance=1e-6, seed=0)
    assert result.verdict is Verdict.FAIL
    assert "ZeroDivisionError" in result.witness.text or result.witness.direction == "right"


@pytest.mark.parametrize(("scale", "verdict"), [(1.0, Verdict.PASS), (0.5, Verdict.FAIL)])
@pytest.mark.false_alarm(1e-06)
def test_an_audit_through_the_server(library, tmp_path, scale, verdict):
    (tmp_path / "fake" / "beside.py").write_text(f"SCALE = {scale}\n")
    claim = PrivacyClaim(1.0, 0.0, AddRemove())
    settings = {"budget": 20_000, "significance": 1e-6, "seed": 0, "tolerance": 2.0, "workers": 0}
    result = check_privacy(library("noisy count"), claim, [([], [0])], **settings)
    assert result.verdict is verdict
    assert result.epsilon_lower_bound < 1 / scale
