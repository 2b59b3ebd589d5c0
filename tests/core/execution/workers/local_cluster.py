"""A real Dask cluster on this machine: a scheduler and workers, each a process of its own."""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[4]
PR_SET_PDEATHSIG = 1  # Linux: the signal that a process gets when its parent dies
SETTINGS = {
    "DASK_LOGGING__DISTRIBUTED": "critical",
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
    "DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD": "forkserver",  # imports once what every new worker needs
    # by default idle workers look around many times a second
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL": "5s",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__TICK__LIMIT": "30s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
}


class Cluster:
    """A scheduler with workers of one thread each; a nanny replaces those that die."""

    def __init__(self, folder, workers):
        self._file, self._client = folder / "scheduler.json", None
        where = ["--port", "0", "--host", "127.0.0.1"]
        self._processes = [self._start("scheduler", *where, "--scheduler-file", self._file)]
        try:
            wait_until(lambda: self._file.exists() and self._file.read_text().endswith("}"))
            self.address = json.loads(self._file.read_text())["address"]
            more = ["--nworkers", str(workers), "--nthreads", "1", "--nanny"]
            self._processes.append(self._start("worker", self.address, *more))
        except BaseException:  # nobody has the cluster yet, to close it
            self.close()
            raise

    def width(self):
        """Return the number of workers there are now, asked over one connection."""
        from distributed import Client

        if self._client is None:
            self._client = Client(self.address, set_as_default=False)
        return len(self._client.ncores())

    def kill_scheduler(self):
        """End the scheduler; the cluster is of no use after that."""
        os.killpg(self._processes[0].pid, signal.SIGKILL)

    def close(self):
        if self._client is not None:
            self._client.close(timeout=2)
        for process in reversed(self._processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _start(self, kind, *arguments):
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--no-dashboard", *map(str, arguments)]
        environment = {**os.environ, **SETTINGS, "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(
            command,
            cwd=self._file.parent,
            env=environment,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=end_with_parent,
        )


def end_with_parent():
    """Have the system kill this process when the tests are killed: no fixture is torn down then. Linux only."""
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def wait_until(holds, seconds=200.0):
    """Wait until something holds; fail when it never does."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.1)
