"""What the machine does to a run: each is one line that names the path, an exit status, and no traceback."""

import errno
import json
import os
import signal
import sys
import time

import pytest

from audit.certificate import document as certificate_module
from audit.cli import main
from audit.runner import FOLDER, collect
from tests.processes import Python

MODULE = """
import os, time
import numpy as np
from audit import PrivacyCheck, PrivacyClaim, Verdict

PAIR = (np.zeros(3), np.r_[1.0, 0, 0])

def laplace(data, size, rng):
    while os.path.exists("wait"):
        open("waits", "w").close()
        time.sleep(0.02)
    return data.sum() + rng.laplace(size=size)

CHECKS = [
    PrivacyCheck(name=name, mechanism=laplace, claim=PrivacyClaim(1.5), pairs=[PAIR], budget=400, method="fixed",
                 expected=Verdict.INCONCLUSIVE)
    for name in ("a", "b", "c")
]
"""


@pytest.fixture
def run_here(tmp_path, monkeypatch, capsys):
    """Call `dp-audit run mine` in this process; return its status and the only line that it says of its failure."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MODULE)

    def call(*arguments, out="out", workers="0"):
        monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
        sys.modules.pop("mine", None)
        with pytest.raises(SystemExit) as stop:
            main(["run", "mine", "--workers", workers, "--out", out, *arguments])
        return stop.value.code, capsys.readouterr().err.strip()

    return call


def one_line(said, *words):
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
        status, said = run_here()
    assert status == 74
    one_line(said, "No space left on device", str(written[-1]), "repeat the command")
    assert not list(tmp_path.rglob(".*"))  # no half-written file
    assert run_here("--resume")[0] == 0


@pytest.mark.parametrize("out", ["file/out", "/proc/nowhere"])
def test_a_folder_that_cannot_be_written_is_one_line_before_anything_is_drawn(run_here, tmp_path, out):
    (tmp_path / "file").write_text("")
    status, said = run_here(out=out)
    assert status == 74
    one_line(said, out, "cannot be written", "choose another folder")


def checks_of(folder):
    sys.path.insert(0, str(folder))
    try:
        sys.modules.pop("mine", None)
        return collect(["mine"])
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("mine", None)


def until(path, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_a_run_with_its_checkpoint_and_its_processes(tmp_path, number, status):
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "wait").touch()
    code = "from audit.cli import main; main()"
    arguments = ["-c", code, "run", "mine", "--workers", "2", "--out", "out"]
    process = Python(arguments, tmp_path, stderr=tmp_path / "said")
    until(tmp_path / "waits")
    process.send_signal(number)
    assert process.wait(60) == status
    one_line((tmp_path / "said").read_text().strip(), "the same command with --resume goes on from here")
    (tmp_path / "wait").unlink()
    assert json.loads((tmp_path / "out" / FOLDER / "plan.json").read_text())["checks"] == 3
    assert Python([*arguments, "--resume"], tmp_path).wait(60) == 0
