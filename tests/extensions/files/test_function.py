"""The command `check`: a function in any of its forms is audited, and a slip in the call is named."""

import click
import pytest

from audit.errors import AuditError
from tests.extensions.files.test_files import called as called_with

MODULE = """
import numpy as np

def batch(data, size, rng): return np.sum(data) + rng.laplace(size=size)
def single(data, rng): return float(np.sum(data) + rng.laplace())
def array(data, size, rng): return data.sum() + rng.laplace(size=size)
def length(data, size, rng): return len(data) + rng.laplace(size=size)
def bare(data, size, rng): return np.full(size, float(np.sum(data)))
def of_rows(rows, rng): return sum(row["spent"] for row in rows) + rng.laplace()
def of_frame(frame, rng): return float(frame["spent"].sum()) + rng.laplace()
class Sum:
    def release(self, data, rng): return single(data, rng)
total = Sum()
"""


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    (tmp_path / "sums_of_a_user.py").write_text(MODULE)
    (tmp_path / "left.json").write_text("[0, 0]")
    (tmp_path / "cut.json").write_text("[0, ")
    (tmp_path / "left.csv").write_text("name,spent\nann,0\nbob,0\n")
    (tmp_path / "right.csv").write_text("name,spent\nann,0\nbob,1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)


def called(target, *arguments, epsilon=1.0):
    claim = () if epsilon is None else ("--epsilon", epsilon)
    return called_with("check", target, *claim, "--budget", "quick", *arguments)


PAIR = "--left", "[0, 0]", "--right", "[0, 1]"


@pytest.mark.parametrize(
    ("target", "arguments"),
    [
        ("sums_of_a_user:batch", PAIR),
        ("sums_of_a_user.py:single", PAIR),
        ("sums_of_a_user:total.release", PAIR),
        ("sums_of_a_user:batch", ("--left", "@left.json", "--right", "[0, 1]")),
        ("sums_of_a_user:batch", ("--left", "left.json", "--right", "[0, 1]")),
        ("sums_of_a_user:array", (*PAIR, "--arrays")),
        ("sums_of_a_user:length", ("--relation", "add/remove", "--left", "[0]", "--right", "[0, 0]")),
        ("sums_of_a_user:length", ("--relation", "add-remove", "--left", "[0]", "--right", "[0, 0]")),
        ("sums_of_a_user:of_rows", ("--left", "left.csv", "--right", "right.csv")),
        ("sums_of_a_user:of_frame", ("--left", "@left.csv", "--right", "right.csv", "--frames", "--budget", "2e3")),
    ],
)
@pytest.mark.false_alarm(1e-6)
def test_a_function_is_audited(target, arguments):
    """The null: Laplace noise at exactly epsilon = 1; at half of it the claim is refuted."""
    if target == "sums_of_a_user:batch":
        assert called(target, *arguments, "-q") == (0, "PASS\n")
    assert called(target, *arguments, "-q", epsilon=0.4) == (1, "FAIL\n")


@pytest.mark.parametrize(("option", "name"), [("--rho", "0.5-zero-concentrated DP"), ("--mu", "0.5-Gaussian DP")])
def test_a_claim_in_rho_or_mu(option, name):
    status, said = called("sums_of_a_user:bare", *PAIR, option, "0.5", epsilon=None)
    assert (status, said.splitlines()[0]) == (1, f"FAIL: {name} under substitution")


def test_a_search_finds_the_pair_and_prints_it():
    status, said = called("sums_of_a_user:bare", "--datasets", "lists(floats(0, 1), min_size=1, max_size=2)")
    assert (status, said.splitlines()[0]) == (1, "FAIL: (1, 0)-DP under substitution")
    assert "left  = [0.0]" in said or "right = [0.0]" in said


@pytest.mark.parametrize(
    ("target", "arguments", "said"),
    [
        ("sums_of_a_user:bach", PAIR, "it has batch, single"),
        ("sums_of_a_user", PAIR, "type sums_of_a_user:FUNCTION"),
        ("sums_of_a_user.batch", PAIR, "type sums_of_a_user:batch"),
        ("sums_of_a_user:batch", (*PAIR, "--rho", "1"), "as --rho RHO"),
        ("no_such_module_here:f", PAIR, "cannot be imported"),
        ("sums_of_a_user:batch", ("--left", "0,0", "--right", "[0]"), "must be JSON, as in"),
        ("sums_of_a_user:batch", ("--left", "@no.json", "--right", "[0]"), "no.json cannot be read"),
        ("sums_of_a_user:batch", ("--left", "no.json", "--right", "[0]"), "no.json cannot be read"),
        ("sums_of_a_user:batch", ("--left", "cut.json", "--right", "[0]"), "got cut.json, which holds none: Expecting"),
        ("sums_of_a_user:batch", ("--left", "[0]"), "or --datasets STRATEGY"),
        ("sums_of_a_user:length", ("--left", "[0]", "--right", "[0, 0]"), "add --relation add/remove"),
        ("sums_of_a_user:batch", ("--datasets", "list(floats())"), "must be a strategy"),
    ],
)
def test_a_slip_is_named(target, arguments, said):
    with pytest.raises((AuditError, click.UsageError), match=said):
        called(target, *arguments)


def test_two_files_as_arguments_are_answered_with_the_options_of_the_datasets():
    with pytest.raises(click.UsageError) as refused:
        called("sums_of_a_user:batch", "left.csv", "right.csv")
    assert "--left JSON --right JSON" in refused.value.ctx.get_usage()
