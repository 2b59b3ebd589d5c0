"""Two certificates compared: what is worse, and what is merely other; a result as a figure."""

import copy
import json

import pytest

import audit
from audit import PrivacyCheck, PrivacyClaim
from audit.cli import main
from audit.extensions.certificates.changes import Change, list_changes
from tests.core.mechanisms import PAIR, NoisySum, laplace

CHECKS = [
    PrivacyCheck(name="drawn", mechanism=laplace, claim=PrivacyClaim(1.5), pairs=[PAIR], tolerance=1.0, method="fixed"),
    PrivacyCheck(name="exact", mechanism=NoisySum(), claim=PrivacyClaim(1.0), pairs=[PAIR]),
]


@pytest.fixture(scope="module")
def written():
    return audit.run(CHECKS, budget=20_000, workers=0).certificate


@pytest.fixture
def old(written):
    return copy.deepcopy(written)


def of(certificate, **wanted):
    """The first check whose fields are these."""
    return next(check for check in certificate["checks"] if all(check[key] == value for key, value in wanted.items()))


def worse(old, new):
    return [change.what for change in list_changes(old, new) if change.is_regression]


def test_a_certificate_is_no_different_from_itself(old):
    assert list_changes(old, copy.deepcopy(old)) == []


def test_lost_and_new_checks(old):
    new = copy.deepcopy(old)
    gone = new["checks"].pop(0)
    assert list_changes(old, new) == [Change(gone["name"], "no longer checked")]
    assert list_changes(new, old) == [Change(gone["name"], "is new", False)]


@pytest.mark.parametrize(
    ("was", "now", "is_worse"),
    [
        (("PASS", "law", "PASS"), ("FAIL", "law", "PASS"), True),
        (("PASS", "law", "PASS"), ("PASS", "outputs", "PASS"), True),
        (("PASS", "outputs", "PASS"), ("PASS", "law", "PASS"), False),
        (("INCONCLUSIVE", "none", "PASS"), ("FAIL", "law", "PASS"), True),
        (("FAIL", "law", "PASS"), ("PASS", "law", "PASS"), False),
        (("FAIL", "law", "PASS"), ("PASS", "outputs", "PASS"), False),
        (("FAIL", "law", "FAIL"), ("PASS", "law", "FAIL"), True),
    ],
)
def test_verdicts(old, was, now, is_worse):
    new = copy.deepcopy(old)
    for certificate, (verdict, basis, expected) in ((old, was), (new, now)):
        certificate["checks"][0].update(verdict=verdict, basis=basis, expected=expected)
    (change,) = list_changes(old, new)
    assert change.is_regression is is_worse
    assert f"{was[0]} ({was[1]}) became {now[0]} ({now[1]})" in change.what


def test_expecting_a_fail_is_worse(old):
    new = copy.deepcopy(old)
    check = of(new, verdict="PASS", kind="privacy")
    check["expected"] = "FAIL"
    assert "expected PASS, now expected FAIL" in worse(old, new)


def test_another_claim_or_tolerance(old):
    """A claim has to be looked at, whatever it was; a larger tolerance is worse."""
    new = copy.deepcopy(old)
    check = of(new, verdict="PASS", kind="privacy", basis="outputs")
    check["claim"]["epsilon"] = 8.0
    check["settings"]["tolerance"] = 2.0
    claimed = "claimed (1.5, 0) substitution, now (8, 0) substitution"
    assert worse(old, new) == [claimed, "tolerance was 1.0, is 2.0"]
    assert "tolerance was 2.0, is 1.0" not in worse(new, old)
    of(old, name="drawn")["settings"]["tolerance"] = None
    assert worse(old, new) == [claimed, "tolerance was None, is 2.0"]
    assert "tolerance was 2.0, is None" not in worse(new, old)


@pytest.fixture
def run_diff(capsys):
    """Call the command with two paths; return its exit status and what it printed."""

    def call(*paths):
        with pytest.raises(SystemExit) as ended:
            main(["diff", *map(str, paths)])
        said = capsys.readouterr()
        return ended.value.code, said

    return call


def test_the_command_prints_what_got_worse(old, run_diff, tmp_path):
    """A verdict without its check is lost, a hostile name is printed without its commands."""
    new = copy.deepcopy(old)
    new["checks"] = [of(new, name="exact") | {"name": "x\x1b[2J"}]
    paths = [tmp_path / name for name in ("old.json", "new.json", "none.json", "broken.json")]
    for path, certificate in zip(paths, (old, new), strict=False):
        path.write_text(json.dumps(certificate))
    paths[3].write_text("{")
    assert run_diff(paths[0], paths[0])[0] == 0
    status, said = run_diff(*paths[:2])
    assert status == 1
    assert "worse  drawn: no longer checked" in said.out
    assert "x\\x1b[2J: is new" in said.out
    assert [run_diff(paths[0], path)[0] for path in paths[2:]] == [66, 65]
    assert "type: dp-audit diff [OPTIONS] OLD NEW" in run_diff(paths[0])[1].err


def test_the_outputs_and_the_event_of_a_privacy_check_are_drawn():
    pytest.importorskip("matplotlib")
    result = audit.check_privacy(mechanism=laplace, claim=PrivacyClaim(0.3), pairs=[PAIR], budget=6_000)
    first, second, third = result.plot().axes
    assert second.get_title() == "Errors of tests that tell the two datasets apart"
    texts = [text.get_text() for text in first.get_legend().get_texts()]
    assert texts[:2] == ["outputs on left", "outputs on right"]
    assert texts[2].startswith("event: output ")
    assert third.get_title() == "Ledger of the code"
    assert [bar.get_width() for bar in third.patches] == [draw.spends for draw in result.ledger.draws] == [1.0]


def test_the_scores_of_canaries_are_drawn_as_a_roc_curve():
    pytest.importorskip("matplotlib")
    result = audit.check_canaries([1, 2, 3, 4], [0, 1, 2, 3], PrivacyClaim(1.0, relation=audit.AddRemove()))
    (axes,) = result.plot().axes
    assert axes.lines[0].get_xydata().tolist() == [[1, 1], [0.75, 1], [0.5, 0.75], [0.25, 0.5], [0, 0.25], [0, 0]]


def test_a_check_without_pictures_says_so():
    pytest.importorskip("matplotlib")
    result = audit.check_inequality(values=lambda: [("one case", 1.0, 2.0)])
    assert [text.get_text() for text in result.plot().axes[0].texts] == ["This kind of check has no picture."]


def test_a_notebook_shows_a_figure_also_after_a_semicolon():
    pytest.importorskip("matplotlib")
    capture_output = pytest.importorskip("IPython.utils.capture").capture_output
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    shell.user_ns["result"] = audit.check_privacy(laplace, PrivacyClaim(1.0), [PAIR], budget=500)
    assert shell.run_cell("result.plot()").result._repr_png_().startswith(b"\x89PNG")
    with capture_output() as shown:
        shell.run_cell("result.plot();", store_history=True)
    (output,) = shown.outputs
    assert output.data["image/png"].startswith(b"\x89PNG")
