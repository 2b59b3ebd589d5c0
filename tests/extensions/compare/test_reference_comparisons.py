"""The comparisons that come with the package: every implementation releases in the form of the truth.

That the samplers follow their stated laws, and keep the claim, is what `dp-audit compare mechanisms.comparisons`
audits; here the laws alone are held against the claim, and a few outputs against the truth.
"""

import importlib
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("opendp")
pytest.importorskip("diffprivlib")
pytest.importorskip("pydp")

from audit.errors import MissingExtra
from audit.evidence.stated_law import stated_loss
from audit.mechanism.call import states_a_law
from mechanisms.comparisons import COMPARISONS, compile_once
from mechanisms.comparisons.libraries import diffprivlib_noise, opendp_laplace, pydp_laplace
from mechanisms.geometric import GeometricMechanism
from mechanisms.laplace import LaplaceMechanism

IMPLEMENTATIONS = [(comparison, one) for comparison in COMPARISONS for one in comparison.implementations]
NAMES = [f"{comparison.name}/{one.name}" for comparison, one in IMPLEMENTATIONS]


def some_counts(data):
    return np.array([1, 40, 900])


def real_counts(data):
    return some_counts(data).astype(float)


@pytest.mark.parametrize(("comparison", "one"), IMPLEMENTATIONS, ids=NAMES)
def test_outputs_have_the_form_of_the_truth(comparison, one):
    """Noise of scale 2 at most reaches 100 times its scale with probability below 1e-40 an entry."""
    data = comparison.pairs[0][0]
    truth = np.asarray(comparison.truth(data), dtype=float)
    mechanism = pickle.loads(pickle.dumps(one.mechanism))
    outputs = np.asarray(mechanism(data, 5, np.random.default_rng(0)), dtype=float)
    assert outputs.shape == (5, *truth.shape)
    assert np.all(np.abs(outputs - truth) < 200)


@pytest.mark.parametrize(("comparison", "one"), IMPLEMENTATIONS, ids=NAMES)
def test_stated_laws_use_all_of_the_claim(comparison, one):
    if not states_a_law(one.mechanism):
        assert one.name in {"PyDP Count", "PyDP BoundedMean"}
        return
    loss = stated_loss(one.mechanism, *comparison.pairs[0])
    assert loss.epsilon(0.0) == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize(
    ("stated", "ours"),
    [
        *(
            (stated, LaplaceMechanism(real_counts, 3, 0.4))
            for stated in (opendp_laplace, diffprivlib_noise, pydp_laplace)
        ),
        *((stated, GeometricMechanism(some_counts, 3, 0.4)) for stated in (opendp_laplace, diffprivlib_noise)),
    ],
)
@pytest.mark.false_alarm(5e-10)
def test_a_library_follows_the_law_of_ours_off_its_defaults(stated, ours):
    """Null: 2,000 vectors at sensitivity 3 and epsilon 0.4 follow the law; 1e-10 each."""
    mechanism = stated(ours)
    outputs = np.asarray(mechanism(np.ones(4), 2_000, np.random.default_rng(0)))
    assert ours.law(np.ones(4)).fit_pvalue(outputs, np.random.default_rng(1)) > 1e-10


@pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="needs a compiler")
def test_a_program_is_compiled_again_once_its_source_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    source, said = tmp_path / "status.c", []
    for status in (3, 3, 4):
        source.write_text(f"int main(void) {{ return {status}; }}")
        said.append(subprocess.run([compile_once(source)]).returncode)
    assert said == [3, 3, 4]


@pytest.mark.parametrize(("library", "imported"), [("opendp", "opendp.prelude"), ("diffprivlib", "diffprivlib")])
def test_a_missing_library_says_what_to_install(library, imported, monkeypatch):
    monkeypatch.setitem(sys.modules, imported, None)
    monkeypatch.delitem(sys.modules, "mechanisms.comparisons.libraries", raising=False)
    with pytest.raises(MissingExtra, match=rf"`{library}` is not installed.*pip install '.\[libraries\]'$"):
        importlib.import_module("mechanisms.comparisons.libraries")
