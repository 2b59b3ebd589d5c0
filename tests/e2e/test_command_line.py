"""The command line as a user meets it: exit status, one line for a mistake, a certificate, checks that it finds."""

import json
import sys
from dataclasses import dataclass

import pytest

import audit
from audit import PrivacyCheck, PrivacyClaim
from audit.certificate.render import RENDERERS
from audit.cli import main
from audit.discover import discover_targets
from audit.errors import UnknownTarget
from tests.core.mechanisms import PAIR, laplace

MODULE = """
import numpy as np
from audit import PrivacyCheck, PrivacyClaim, Verdict

PAIR = (np.zeros(3), np.r_[1.0, 0, 0])

def laplace(data, size, rng):
    return data.sum() + rng.laplace(size=size)

def check(name, epsilon, **more):
    return PrivacyCheck(name=name, mechanism=laplace, claim=PrivacyClaim(epsilon), pairs=[PAIR], **more)

CHECKS = [{checks}]
"""


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def dp_audit(monkeypatch, capsys):
    """Call the command line in this process, from a folder of the test's own."""

    def call(folder, *arguments):
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
        sys.modules.pop("mine", None)
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        out, err = capsys.readouterr()
        return Done(stop.value.code, out, err)

    return call


def write(folder, checks):
    (folder / "mine.py").write_text(MODULE.replace("{checks}", checks))
    return folder


@pytest.mark.parametrize(
    ("checks", "status"),
    [
        ("check('a/one', 1.5)", 0),
        ("check('a/one', 1.5), check('leak', 0.5)", 1),
        ("check('a/one', 1.0, budget=100, method='fixed')", 2),
        ("check('leak', 0.5, expected=Verdict.FAIL)", 0),
        ("check('missed', 1.5, expected=Verdict.FAIL)", 2),
    ],
)
def test_exit_status_follows_the_worst_verdict(dp_audit, tmp_path, checks, status):
    done = dp_audit(write(tmp_path, checks), "run", "mine", "--out", "r", "--budget", "6e4", "--workers", "0")
    assert done.returncode == status, done.stdout + done.stderr
    certificate = json.loads((tmp_path / "r" / "certificate.json").read_text())
    assert certificate["checks"][0]["name"] in done.stdout
    again = dp_audit(tmp_path, "replay", "r")
    assert again.returncode == status
    assert "computed anew from the evidence" in again.stdout
    assert certificate["verdict"] in dp_audit(tmp_path, "report", "r").stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "no_such_package"], "target 'no_such_package' cannot be imported"),
        (["run", "mylib.audits:count"], "for one function, type dp-audit check mylib.audits:count --epsilon"),
        (["run", "json"], "lists no CHECKS"),
        (["run", "raising"], "ZeroDivisionError"),
        (["run", "mine", "--select", "zzz*"], "no check of mine matches 'zzz*'"),
        (["run", "mine", "--budget", "1"], "`budget` must be an integer >= 2"),
        (["run", "mine", "--wrong"], "No such option"),
        ([], "type: dp-audit --help"),
        (["reprot", "r"], "did you mean: dp-audit report"),
        (["verify"], "type: dp-audit verify [OPTIONS] DIR"),
    ],
)
def test_bad_usage_is_one_line_and_64(dp_audit, tmp_path, arguments, says):
    (tmp_path / "raising.py").write_text("1 / 0")
    done = dp_audit(write(tmp_path, "check('a', 1.0)"), *arguments)
    assert done.returncode == 64
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize("command", ["verify", "replay", "report"])
def test_a_missing_certificate_is_66_and_says_no_more(dp_audit, tmp_path, command):
    (tmp_path / "empty").mkdir()
    for path in ("no", "empty"):
        done = dp_audit(tmp_path, command, path)
        assert done.returncode == 66
        assert done.stderr.endswith("cannot be read: No such file or directory\n")
        assert done.stdout == ""


@pytest.mark.parametrize("command", ["verify", "replay", "report"])
def test_a_certificate_that_was_edited_is_65_and_is_not_shown(dp_audit, tmp_path, command):
    write(tmp_path, "check('a', 1.5)")
    assert dp_audit(tmp_path, "run", "mine", "--out", "r", "--budget", "6e4", "--workers", "0").returncode == 0
    path, page = tmp_path / "r" / "certificate.json", (tmp_path / "r" / "certificate.html").read_bytes()
    path.write_text((text := path.read_text()).replace('"epsilon":1.5', '"epsilon":1.75'))
    assert path.read_text() != text
    done = dp_audit(tmp_path, command, "r")
    assert done.returncode == 65
    assert "verdict" not in done.stdout  # the head of a table
    assert (tmp_path / "r" / "certificate.html").read_bytes() == page


def test_a_run_writes_every_rendering_and_report_writes_them_again(dp_audit, tmp_path):
    write(tmp_path, "check('a', 1.5)")
    assert dp_audit(tmp_path, "run", "mine", "--out", "r", "--budget", "6e4", "--workers", "0").returncode == 0
    first = {name: (tmp_path / "r" / name).read_text() for name in RENDERERS}
    assert json.loads((tmp_path / "r" / "certificate.json").read_text())["audited"]["targets"] == ["mine"]
    for name in RENDERERS:
        (tmp_path / "r" / name).unlink()
    short, whole = (dp_audit(tmp_path, "report", "r", *more) for more in ((), ("-v",)))
    assert short.returncode == whole.returncode == 0
    assert len(whole.stdout) > len(short.stdout)  # all of the reasons
    assert {name: (tmp_path / "r" / name).read_text() for name in RENDERERS} == first


def test_a_seal_and_a_plan_kept_elsewhere(dp_audit, tmp_path):
    run = ["--budget", "2e3", "--workers", "0"]
    dp_audit(write(tmp_path, "check('a', 1.5), check('b', 2.0)"), "run", "mine", "--out", "old", *run)
    isolated = ["--budget", "2e3", "--workers", "1"]  # which the seal covers, and the plan does not
    dp_audit(write(tmp_path, "check('a', 1.5), check('b', 2.0)"), "run", "mine", "--out", "new", *isolated)
    dp_audit(write(tmp_path, "check('a', 1.5), check('b', 19.0)"), "run", "mine", "--out", "other", *run)
    whole, *lines = dp_audit(tmp_path, "verify", "old").stdout.splitlines()
    assert whole.startswith("whole: 2 checks, verdict ")
    kept = dict(line.split(": ") for line in lines)
    assert set(kept) == {"seal", "plan"}
    for folder, seal, plan in (("old", 0, 0), ("new", 65, 0), ("other", 65, 65)):
        assert dp_audit(tmp_path, "verify", folder).returncode == 0
        assert dp_audit(tmp_path, "verify", folder, "--seal", kept["seal"].upper()).returncode == seal
        done = dp_audit(tmp_path, "verify", folder, "--plan", kept["plan"])
        assert done.returncode == plan
        assert ("not " + kept["plan"] in done.stdout) == bool(plan)
    assert dp_audit(tmp_path, "verify", "old", "--seal", "short").returncode == 64
    path = tmp_path / "old" / "certificate.json"
    path.write_text(path.read_text().replace('"seed":0', '"seed":1'))
    broken = dp_audit(tmp_path, "verify", "old")
    assert broken.returncode == 65
    assert "chain: the settings or the plan are not those that were chained" in broken.stdout


@pytest.fixture(scope="module")
def written():
    """The text of a certificate."""
    check = PrivacyCheck(name="sum", mechanism=laplace, claim=PrivacyClaim(1.5), pairs=[PAIR])
    return json.dumps(audit.run([check], budget=2_000, workers=0).certificate)


@pytest.mark.parametrize(
    ("old", "new"),
    [('"left_plus":', f'"left_plus":{10**400}'), ('"relation": "', f'"relation": "{"group(1) of " * 9_999}')],
    ids=range(2),
)
def test_a_hostile_certificate_is_one_line_and_65(dp_audit, tmp_path, written, old, new):
    assert old in written
    (tmp_path / "c.json").write_text(written.replace(old, new, 1))
    done = dp_audit(tmp_path, "verify", "c.json")
    assert done.returncode == 65
    assert done.stderr.startswith("dp-audit: ")
    assert len(done.stderr.splitlines()) == 1


FILES = {
    "mylib/__init__.py": "",
    "mylib/audits.py": "CHECKS = [1]",
    "mylib/more.py": "from typing import Any\nCHECKS: list[Any] = [2]",
    "mylib/uses.py": "from mylib.audits import CHECKS\nprint(CHECKS)",
    "mylib/declares.py": "CHECKS: list",
    "mylib/inside.py": "def f():\n    CHECKS = 1",
    "mylib/broken.py": "CHECKS = (",
    "mylib/fails.py": "raise SystemExit\nCHECKS = [3]",
    "whole/__init__.py": "from whole.part import CHECKS as part\nCHECKS = [*part]",
    "whole/part.py": "CHECKS = [4]",
    "no-package/audits.py": "CHECKS = [5]",
    ".hidden/audits.py": "CHECKS = [6]",
    "env/pyvenv.cfg": "",
    "env/lib/audits.py": "CHECKS = [7]",
    "tests/test_audits.py": "CHECKS = [8]",
    "audits.py": "CHECKS = [9]",
}


def test_modules_that_list_checks_are_found(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert discover_targets(tmp_path) == ("audits", "mylib.audits", "mylib.fails", "mylib.more", "whole")


def test_a_folder_without_checks_says_what_to_type(tmp_path):
    with pytest.raises(UnknownTarget, match=r"has a list CHECKS; .* dp-audit run mylib.audits"):
        discover_targets(tmp_path)
