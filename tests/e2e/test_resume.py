"""Long runs: killed at any moment, resumed to the certificate of an undisturbed run, nothing finished audited twice.

What the machine does to a run is one line that names the path, and an exit status, without a traceback.
"""

import errno
import json
import os
import random
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import audit
from audit import Verdict
from audit import runner as suite
from audit.certificate import document as certificate_module
from audit.certificate.document import load_certificate
from audit.cli import cli, main
from audit.errors import InvalidArgument
from audit.runner import FOLDER, Checkpoint
from tests.processes import Python, is_alive

CHECKS, KILLS = 25, 10
MODULE = """
import os, time
import numpy as np
from audit import PrivacyCheck, PrivacyClaim, Verdict

PAIR = (np.zeros(3), np.r_[1.0, 0, 0])

class Logged:
    '''Noisy sum that writes a line when its audit begins, and takes a moment.'''

    def __init__(self, name):
        self.name, self.begun = name, False

    def __call__(self, data, size, rng):
        if not self.begun:
            self.begun = True
            if not os.path.exists("worker"):
                with open("worker", "w") as worker:
                    worker.write(str(os.getpid()))
            with open("log", "a") as log:
                log.write(self.name + chr(10))
            while os.path.exists("wait"):
                time.sleep(0.02)
            time.sleep({pause})
        return data.sum() + rng.laplace(size=size)

CHECKS = [
    PrivacyCheck(
        name=f"check {k}", mechanism=Logged(f"check {k}"), claim=PrivacyClaim(1.5), pairs=[PAIR], budget=400,
        method="fixed", expected=Verdict.INCONCLUSIVE,  # so small a budget decides nothing
    )
    for k in range({count})
]
"""


def write(folder, count=CHECKS, pause=0.1):
    (folder / "mine.py").write_text(MODULE.replace("{count}", str(count)).replace("{pause}", str(pause)))
    return folder


def start(folder, *arguments, workers=0, **streams):
    code = "from audit.cli import main; main()"
    return Python(["-c", code, "run", "mine", "--workers", str(workers), *arguments], folder, **streams)


def finished(folder):
    """The checks on disk; every file under its final name is whole."""
    return {json.loads(path.read_text())["document"]["name"] for path in (folder / "out" / FOLDER).glob("[0-9]*.json")}


def log_of(folder):
    log = folder / "log"
    return log.read_text().split("\n")[:-1] if log.exists() else []


def without_times(folder):
    certificate = load_certificate(folder)
    provenance = {**certificate["provenance"], "time": "", "command": ""}
    return {**certificate, "provenance": provenance, "timing": sorted(certificate["timing"]), "seal": ""}


def test_killed_at_ten_random_moments(tmp_path):
    """kill -9 in the first, second or third check that is under way; the moments have a fixed seed."""
    write(tmp_path)
    moments = random.Random(1)
    killed = 0
    for _ in range(KILLS):
        before, logged = finished(tmp_path), len(log_of(tmp_path))
        process = start(tmp_path, "--out", "out", "--resume")
        wanted = logged + moments.choice([1, 1, 2])
        while len(log_of(tmp_path)) < wanted and process.poll() is None:
            time.sleep(0.005)
        time.sleep(moments.uniform(0, 0.11))
        process.send_signal(signal.SIGKILL)
        process.wait()
        killed += process.returncode == -signal.SIGKILL
        assert not before & set(log_of(tmp_path)[logged:]), "a finished check was audited again"
        assert before <= finished(tmp_path)
        assert not (tmp_path / "out" / "certificate.json").exists() or process.returncode == 0
    assert killed >= KILLS - 2
    assert start(tmp_path, "--out", "out", "--resume").wait() == 0
    assert start(tmp_path, "--out", "undisturbed").wait() == 0
    assert without_times(tmp_path / "out") == without_times(tmp_path / "undisturbed")
    assert not (tmp_path / "out" / FOLDER).exists()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for a process in /proc")
def test_a_killed_run_leaves_no_worker_behind(tmp_path):
    process = start(write(tmp_path, pause=300), "--out", "out", workers=1)
    while not log_of(tmp_path) and process.poll() is None:
        time.sleep(0.01)
    worker = int((tmp_path / "worker").read_text())
    assert worker != process.pid
    assert is_alive(worker)
    process.kill()
    process.wait()
    for _ in range(1000):
        if not is_alive(worker):
            return
        time.sleep(0.03)
    pytest.fail("the worker outlived the run by half a minute")


@pytest.fixture
def run_here(tmp_path, monkeypatch, capsys):
    """Call `dp-audit run mine` in this process."""
    monkeypatch.chdir(write(tmp_path, count=3, pause=0))

    def call(*arguments, out="out", killed_in=None):
        """Call it; the run ends as if killed where it calls a function: an owner and a name."""
        monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
        sys.modules.pop("mine", None)
        with monkeypatch.context() as patch:
            if killed_in:
                patch.setattr(*killed_in, stop_here)
            with pytest.raises(SystemExit) as stop:
                main(["run", "mine", "--workers", "0", "--out", out, *arguments])
        return stop.value.code, *capsys.readouterr()

    return call


def stop_here(*arguments, **named):
    raise KeyboardInterrupt


AT_ITS_END = (Checkpoint, "end")


def test_interrupted_says_how_to_go_on(run_here, tmp_path):
    status, _, err = run_here(killed_in=AT_ITS_END)
    assert status == 130
    assert "--resume" in err
    status, _, err = run_here()
    assert status == 64
    assert "3 of 3 checks done; add --resume" in err
    assert len(err.strip().splitlines()) == 1
    assert run_here("--resume")[0] == 0
    assert len(log_of(tmp_path)) == 3


@pytest.mark.parametrize("change", [["--seed", "1"], ["--budget", "500"], ["--significance", "0.01"], ["code"]])
def test_nothing_is_resumed_under_another_plan(run_here, tmp_path, change):
    run_here(killed_in=AT_ITS_END)
    if change == ["code"]:
        write(tmp_path, count=3, pause=0.001)
        change = []
    status, _, err = run_here("--resume", *change)
    assert status == 64
    assert "of other checks, settings, code or versions" in err


def test_a_file_that_cannot_be_read_is_audited_again(run_here, tmp_path):
    run_here(killed_in=AT_ITS_END)
    (tmp_path / "out" / FOLDER / "00001.json").write_text("{")
    assert run_here("--resume")[0] == 0
    assert log_of(tmp_path) == ["check 0", "check 1", "check 2", "check 1"]


def test_a_run_in_python_goes_on_from_a_folder(tmp_path):
    """As on the command line: a finished check is not run again."""
    checks = suite.collect(["tests.core.mechanisms"], "sum eps=[12]")
    assert len(checks) == 2
    begun = []

    def interrupted(check):
        begun.append(check.name)
        if len(begun) == 2:
            raise KeyboardInterrupt

    options = dict(budget=2000, workers=0, directory=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        audit.run(checks, **options, announce=interrupted)
    with pytest.raises(InvalidArgument, match="resume=True"):
        audit.run(checks, **options)
    report = audit.run(checks, **options, announce=interrupted, resume=True)
    assert begun == [checks[0].name, checks[1].name, checks[1].name]
    assert not (tmp_path / FOLDER).exists()
    saved = load_certificate(tmp_path)
    assert saved == report.certificate
    fresh = audit.run(checks, budget=2000, workers=0)
    assert fresh.certificate["checks"] == saved["checks"]


def test_a_kept_result_has_all_that_its_certificate_says(tmp_path):
    """Beside the record: its seconds, where it ran, what it printed, and the code that was audited."""
    checks = suite.collect(["tests.core.mechanisms"], "sum eps=1")
    apart = {"seconds": 1.5, "isolation": "process", "printed": "said", "source": {"file": "a.py"}}
    result = replace(audit.run(checks, budget=2000, workers=0).results[0], **apart)
    kept, again = (Checkpoint(tmp_path, checks, [], []) for _ in range(2))
    kept.begin(resume=False)
    kept.keep(result)
    found = again.begin(resume=True)[result.name]
    assert found.record() == result.record()
    assert {name: getattr(found, name) for name in apart} == apart


def test_a_report_of_an_unfinished_run_shows_what_is_finished(run_here, tmp_path):
    run_here(killed_in=(suite, "Report"))
    (tmp_path / "out" / FOLDER / "00002.json").unlink()
    shown = CliRunner().invoke(cli, ["report", "out"], standalone_mode=False)
    assert shown.return_value == Verdict.INCONCLUSIVE.exit_status
    assert "check 1" in shown.output
    assert "unfinished: 2 of 3 checks" in shown.output


def one_line(said, *words):
    said = said.strip()
    assert len(said.splitlines()) == 1, said
    assert said.startswith("dp-audit: ")
    assert all(word in said for word in words), said


@pytest.mark.parametrize("full_after", [0, 2, 4])  # the plan, a check, the certificate
def test_a_full_disk_is_one_line_and_resume_goes_on(run_here, monkeypatch, tmp_path, full_after):
    written = []

    def replace(old, new, real=os.replace):
        written.append(new)
        if len(written) > full_after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), old)
        real(old, new)

    with monkeypatch.context() as patch:
        patch.setattr(certificate_module.os, "replace", replace)
        status, _, said = run_here()
    assert status == 74
    one_line(said, "No space left on device", str(written[-1]), "repeat the command")
    assert not list(tmp_path.rglob(".*"))  # no half-written file
    assert run_here("--resume")[0] == 0


@pytest.mark.parametrize("out", ["file/out", "/proc/nowhere"])
def test_a_folder_that_cannot_be_written_is_one_line_before_anything_is_drawn(run_here, tmp_path, out):
    (tmp_path / "file").write_text("")
    status, _, said = run_here(out=out)
    assert status == 74
    one_line(said, out, "cannot be written", "choose another folder")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_a_run_with_its_checkpoint_and_its_processes(tmp_path, number, status):
    (write(tmp_path, count=3, pause=0) / "wait").touch()
    process = start(tmp_path, "--out", "out", workers=2, stderr=tmp_path / "said")
    while not log_of(tmp_path) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    assert process.wait(60) == status
    one_line((tmp_path / "said").read_text(), "the same command with --resume goes on from here")
    (tmp_path / "wait").unlink()
    assert json.loads((tmp_path / "out" / FOLDER / "plan.json").read_text())["checks"] == 3
    assert start(tmp_path, "--out", "out", "--resume", workers=2).wait(60) == 0
