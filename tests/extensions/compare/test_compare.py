"""A run of comparisons from end to end: verdicts, waste, errors, laws, what broke, and its renderings.

At 20,000 outputs per dataset epsilon = 2 against a claim of 1 is missed with probability below 1e-9 (over 30
standard errors of the bound); a true claim fails with probability at most the significance, 1e-6. Seeds are fixed.
The last tests are of what a comparison admits and refuses, and of how targets are found.
"""

import io
import json
import sys
import types
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from audit import Comparison, GaussianClaim, Implementation, PrivacyClaim, Verdict
from audit.certificate.verify import replay
from audit.cli import cli
from audit.errors import InvalidArgument, NotNeighboring, UnknownTarget
from audit.extensions.adapters import Documented
from audit.extensions.compare.comparison import (
    ComparisonReport,
    collect,
    compare,
    measure_waste,
    print_comparisons,
    render_comparisons,
    require_comparisons,
    sentences,
    speed,
)
from audit.laws import Finite, Laplace
from tests.core.certificate.test_certificates import COMMANDS, NAME, harmless
from tests.offenders import refused

SPITEFUL = "<script>alert(1)</script> | *x*"
PAIR = (np.zeros(4), np.array([1.0, 0, 0, 0]))


def noisy_sum(scale, data, size, rng):
    return data.sum() + rng.laplace(scale=scale, size=size)


def in_two_steps(data, size, rng):
    return data.sum() + rng.exponential(size=size) - rng.exponential(size=size)


def raises(data, size, rng):
    raise RuntimeError(SPITEFUL)


def shared_noise(data, size, rng):
    return np.full(size, data.sum() + rng.laplace())


def law(scale, data):
    return Laplace(float(data.sum()), scale)


def exact(scale):
    return Documented(partial(noisy_sum, scale), partial(law, scale))


def comparison(**changes):
    settings = {
        "name": f"noisy sum {SPITEFUL}",
        "claim": PrivacyClaim(1.0),
        "pairs": [PAIR],
        "truth": np.sum,
        "sample": 4_000,
        "implementations": [
            Implementation(name="exact", mechanism=exact(1.0)),
            Implementation(name="two exponentials", mechanism=in_two_steps, tolerance=2.0),
            Implementation(name="wasteful", mechanism=exact(2.0), note="scale 2"),
            Implementation(name="too little noise", mechanism=partial(noisy_sum, 0.5), expected=Verdict.FAIL),
            Implementation(name="broken", mechanism=raises),
            Implementation(name="shared noise", mechanism=shared_noise, tolerance=1.0),
        ],
    }
    return Comparison(**{**settings, **changes})


@pytest.fixture(scope="module")
def compared() -> ComparisonReport:
    return compare([comparison()], significance=1e-6, budget=20_000, seed=1, workers=0)


@pytest.fixture(scope="module")
def rows(compared):
    return {row["name"]: row for row in compared.table["comparisons"][0]["implementations"]}


@pytest.mark.false_alarm(1e-06)
def test_verdicts(compared, rows):
    verdicts = {name: row["verdict"] for name, row in rows.items()}
    assert verdicts == {
        "exact": "PASS",
        "two exponentials": "PASS",
        "wasteful": "PASS",
        "too little noise": "FAIL",
        "broken": "INCONCLUSIVE",
        "shared noise": "INCONCLUSIVE",
    }
    assert compared.verdict is Verdict.INCONCLUSIVE


def test_waste_is_exact_by_the_law_and_an_upper_bound_from_outputs(rows):
    assert rows["exact"]["wasted"] == {"factor": pytest.approx(1), "at_most": False}
    assert rows["wasteful"]["wasted"] == {"factor": pytest.approx(2), "at_most": False}
    bound = rows["two exponentials"]["wasted"]
    assert bound["at_most"]
    assert 1 < bound["factor"] < 1.3
    assert rows["broken"]["wasted"] is None
    assert [measure_waste(rows[name]) for name in ("exact", "broken")] == ["1", "–"]
    assert measure_waste(rows["two exponentials"]).startswith("≤ ")


@pytest.mark.false_alarm(1e-08)
def test_errors_and_speed(rows):
    """The mean of |Laplace(b)| is b, its standard deviation b: 6 standard errors are missed with probability 1e-8."""
    assert rows["exact"]["errors"]["mean"] == pytest.approx(1, abs=6 / np.sqrt(4000))
    assert rows["wasteful"]["errors"]["mean"] == pytest.approx(2, abs=12 / np.sqrt(4000))
    assert rows["two exponentials"]["relative_error"] == pytest.approx(1, abs=0.2)
    assert rows["wasteful"]["relative_error"] == pytest.approx(2, abs=0.4)
    assert rows["too little noise"]["relative_error"] < 1  # refuted: it is not the best
    assert rows["broken"]["errors"] is rows["shared noise"]["errors"] is None
    assert SPITEFUL in rows["broken"]["sample_failed"]
    assert [speed({"per_second": value}) for value in (None, 0.123, 1234567)] == ["–", "0.12", "1,200,000"]


@pytest.mark.false_alarm(1e-06)
def test_laws(compared):
    laws = {law["name"]: law for law in compared.table["comparisons"][0]["laws"]}
    assert laws["exact"]["tests"] == []
    assert [(test["from"], test["differ"]) for test in laws["two exponentials"]["tests"]] == [("exact", False)]
    assert [(test["from"], test["differ"]) for test in laws["too little noise"]["tests"]] == [
        ("exact", True),
        ("wasteful", True),
    ]
    assert "no sample" in laws["broken"]["why_not"]
    assert laws["shared noise"]["why_not"] == "its outputs are not independent"
    said = sentences(compared.table["comparisons"][0])
    assert "two exponentials: not told from exact." in said
    assert said[-1].startswith("With 5,452 guesses")  # 2 (3,000 - 5 sqrt(3,000)) of the 3,000 outputs that do not train


def test_the_verdicts_replay(compared):
    outcome = replay(compared.report.certificate)
    assert not outcome.differences
    assert outcome.verdict is compared.verdict


def test_the_significance_is_shared_between_checks_and_laws(compared):
    settings = compared.table["settings"]
    assert settings["significance"] == pytest.approx(1e-6)
    assert compared.report.significance == pytest.approx(5e-7)
    assert settings["law_significance"] == pytest.approx(5e-7 / 15)  # pairs of six


def test_renderings_escape_and_show_every_row(compared, rows):
    text = render_comparisons(compared.table)
    console = Console(width=160, file=io.StringIO())
    print_comparisons(console, compared.table)
    for shown in (text, console.file.getvalue()):
        assert all(name in shown for name in rows)
        assert "scale 2" in shown
    assert r"\<script\>" in text
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert len({line.replace(r"\|", "").count("|") for line in lines}) == 1


def test_text_that_would_command_a_terminal_or_a_ci_system_does_not_leave_as_it_is():
    implementations = [
        Implementation(name=name, mechanism=raises, note=COMMANDS, budget=400) for name in (NAME, "other")
    ]
    claim = PrivacyClaim(1.0, source=COMMANDS)
    found = compare([comparison(name=NAME, claim=claim, implementations=implementations, sample=200)], workers=0)
    console = Console(file=io.StringIO(), width=60)
    print_comparisons(console, found.table)
    for text in (console.file.getvalue(), render_comparisons(found.table)):
        assert harmless(text)
        assert "forged" in text


def exact_sum(data, size, rng):
    return np.full(size, data.sum())


def point_law(data):
    return Finite({float(data.sum()): 1.0})


def test_an_infinite_loss_is_said_in_every_rendering():
    """Nothing is wasted by a release without noise; its errors are 0, and nothing is the best of them."""
    told = Implementation(name="exact sum", mechanism=Documented(exact_sum, point_law), expected=Verdict.FAIL)
    found = compare(
        [comparison(implementations=[told, *comparison().implementations[:1]])], budget=5_000, workers=0
    ).table
    row = found["comparisons"][0]["implementations"][0]
    assert (row["exact_epsilon"], row["wasted"]) == ("inf", None)
    assert row["errors"]["mean"] == 0
    assert "inf" in render_comparisons(found)
    json.dumps(found, allow_nan=False)


def test_command(monkeypatch, tmp_path):
    module = type("module", (), {"COMPARISONS": [comparison(implementations=comparison().implementations[:2])]})
    monkeypatch.setitem(sys.modules, "some_comparisons", module)
    arguments = ["compare", "some_comparisons", "--out", str(tmp_path / "out"), "--budget", "2e4", "--workers", "0"]
    outcome = CliRunner().invoke(cli, arguments, standalone_mode=False, catch_exceptions=False)
    assert outcome.return_value == 0
    assert "two exponentials" in outcome.output
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written >= {"comparison.json", "comparison.md", "certificate.json"}
    assert json.loads((tmp_path / "out" / "comparison.json").read_text())["verdict"] == "PASS"


TWO = comparison().implementations[:2]


def made(**changes):
    return comparison(**{"name": "sum", "implementations": TWO, **changes})


def test_a_comparison_makes_one_check_for_each_implementation():
    first, second = TWO
    second = replace(second, expected=Verdict.FAIL, budget=1000, method="fixed", tolerance=0.5)
    checks = made(implementations=[first, second]).checks
    assert [check.name for check in checks] == ["sum/exact", "sum/two exponentials"]
    assert {check.claim for check in checks} == {PrivacyClaim(1.0)}
    assert checks[1].expected is Verdict.FAIL
    assert (checks[1].budget, checks[1].method, checks[1].tolerance) == (1000, "fixed", 0.5)


test_refusals = refused([
    ({"claim": PrivacyClaim(0.0)}, "`claim` must be a PrivacyClaim with epsilon > 0"),
    ({"claim": GaussianClaim(1.0)}, "`claim` must be a PrivacyClaim"),
    ({"truth": 3}, "`truth` must be a function"),
    ({"truth": str}, "`truth` must answer with a number or a vector"),
    ({"sample": 199}, "`sample` must be an integer >= 200"),
    ({"implementations": []}, "`implementations` must hold at least two"),
    ({"implementations": TWO[:1]}, "`implementations` must hold at least two"),
    ({"implementations": TWO[:1] * 2}, "`implementations` must have names, each different"),
    ({"implementations": [Implementation(name="", mechanism=raises), TWO[0]]}, "`implementations` must have names"),
    ({"implementations": [Implementation(name="a", mechanism=3), TWO[0]]}, "`mechanism` must be callable"),
    ({"name": ""}, "`name` must be text, not empty"),
    ({"pairs": []}, "`pairs` must hold at least one pair"),
], made)  # fmt: skip


def test_pairs_must_be_neighboring():
    with pytest.raises(NotNeighboring):
        made(pairs=[(np.zeros(4), np.ones(4))])


def test_a_run_needs_comparisons_of_different_names():
    assert [comparison.name for comparison in require_comparisons(iter([made()]))] == ["sum"]
    twice = [made(), made()]
    for wrong, message in (([], "at least one"), ([3], "instances of Comparison"), (twice, "each different")):
        with pytest.raises(InvalidArgument, match=message):
            require_comparisons(wrong)


def test_targets(monkeypatch):
    module = types.ModuleType("some_comparisons")
    monkeypatch.setitem(sys.modules, "some_comparisons", module)
    with pytest.raises(UnknownTarget, match="lists no COMPARISONS"):
        collect(["some_comparisons"])
    module.COMPARISONS = [made()]
    assert [comparison.name for comparison in collect(["some_comparisons"])] == ["sum"]
    with pytest.raises(UnknownTarget, match="cannot be imported: ModuleNotFoundError"):
        collect(["no_such_module_anywhere"])
