"""A real Dask cluster on this machine: a scheduler and workers, each a process of its own."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[3]
SETTINGS = {"DASK_LOGGING__DISTRIBUTED": "critical", "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}


class Cluster:
    """A scheduler with workers of one thread each; a nanny replaces those that die."""

    def __init__(self, folder, workers, nanny=True):
        self._file = folder / "scheduler.json"
        self._workers = []
        self.scheduler = self._start("scheduler", "--port", "0", "--host", "127.0.0.1", "--scheduler-file", self._file)
        wait_until(lambda: self._file.exists() and self._file.read_text().endswith("}"))
        self.address = json.loads(self._file.read_text())["address"]
        if workers:
            self.add(workers, nanny)

    def add(self, workers, nanny=True):
        """Start more workers; what is returned ends with all of them when it is killed by `end`."""
        more = ["--nworkers", str(workers), "--nthreads", "1", "--nanny" if nanny else "--no-nanny"]
        self._workers.append(self._start("worker", self.address, *more))
        return self._workers[-1]

    def close(self):
        for process in (*self._workers, self.scheduler):
            end(process)

    def _start(self, kind, *arguments):
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--no-dashboard", *map(str, arguments)]
        environment = {**os.environ, **SETTINGS, "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(
            command, cwd=self._file.parent, env=environment, stderr=subprocess.DEVNULL, start_new_session=True
        )


def end(process):
    """Kill a process and its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_until(holds, seconds=200.0):
    """Wait until something holds; fail when it never does."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)
