"""Python processes that start at once: forked from a server that has the libraries imported.

A fresh interpreter takes two CPU seconds to import SciPy and its like; the package itself is imported anew in each.
Tests of what an interpreter imports start one of their own.
"""

import atexit
import functools
import importlib
import json
import multiprocessing
import os
import runpy
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import types
from pathlib import Path

LIBRARIES = ["numpy", "scipy.stats", "statsmodels.stats.proportion", "dp_accounting.pld.privacy_loss_distribution"]
LIBRARIES += ["sklearn.linear_model", "jinja2", "rich.progress", "pytest"]

# What follows `python` in place of a program on a command line.
PROGRAMS = {"python": [], "pytest": ["-m", "pytest"], "dp-audit": [Path(sysconfig.get_path("scripts"), "dp-audit")]}

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(LIBRARIES)


class Python:
    """A process with these arguments of `python`, and methods of `subprocess.Popen`; it prints into files, if any."""

    def __init__(self, arguments, cwd, env=None, stdout=os.devnull, stderr=os.devnull):
        self.args = [sys.executable, *map(str, arguments)]
        files = [os.fspath(cwd), str(stdout), str(stderr)]
        environment = dict(os.environ if env is None else env)
        self._process = _context.Process(target=_run, args=(self.args[1:], *files, environment, _path()))
        self._process.start()
        self.pid, self.stdin = self._process.pid, None

    @property
    def returncode(self):
        return self._process.exitcode

    def poll(self):
        return self.returncode

    def wait(self, timeout=None):
        self._process.join(timeout)
        if self.returncode is None:
            self.kill()
            raise subprocess.TimeoutExpired(self.args, timeout)
        return self.returncode

    def send_signal(self, number):
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)


def run_python(*arguments, cwd, env=None, timeout=None):
    """Return the `subprocess.CompletedProcess` of a Python process, with what it printed as text."""
    with tempfile.TemporaryDirectory() as folder:
        stdout, stderr = Path(folder, "stdout"), Path(folder, "stderr")
        process = Python(arguments, cwd, env, stdout, stderr)
        status = process.wait(timeout)
        return subprocess.CompletedProcess(process.args, status, stdout.read_text(), stderr.read_text())


def popen_of(pytester):
    """Return what `Pytester.run` may start its processes with, in place of `subprocess.Popen`."""

    def popen(command, stdin, stdout, stderr, **options):
        python, *arguments = [part for word in command for part in (["-m", "pytest"] if word == "-mpytest" else [word])]
        assert python == sys.executable
        path = os.pathsep.join(filter(None, [str(pytester.path), os.environ.get("PYTHONPATH")]))  # of a copy, as well
        environment = {**os.environ, "PYTHONPATH": path, "HOME": str(pytester.path)}
        return Python(arguments, os.getcwd(), environment, stdout.name, stderr.name)

    return popen


_main = os.getpid()


def start_forked(serve, **options):
    """Take the place of `audit.execution.sandbox.start` in this process; one that was forked starts an interpreter."""
    from audit.execution.sandbox import Child, ProcessLine, start

    if os.getpid() != _main or not options.keys() <= {"prints"}:
        return start(serve, **options)
    mine, other = socket.socketpair()
    names = serve.__module__, serve.__qualname__
    process = _context.Process(target=_serve, args=(other, *names, sys.path, dict(os.environ)), daemon=True)
    process.start()
    other.close()
    return Child(process.pid, ProcessLine.of_socket(mine), types.SimpleNamespace(wait=process.join))


def _serve(end, module, name, path, environment):
    """In the process: import the package anew, and serve at the end of a line."""
    os.setsid()
    for number in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    os.environ.clear()
    os.environ.update(environment)
    _forget()
    sys.path[:] = path
    line = importlib.import_module("audit.execution.sandbox").ProcessLine.of_socket(end)
    getattr(importlib.import_module(module), name)(line)


def _forget():
    """Drop what a new interpreter would import anew, and the random state that every fork would repeat."""
    for name in [name for name in sys.modules if name.partition(".")[0] in ("tests", "audit", "__mp_main__")]:
        del sys.modules[name]
    sys.modules["numpy"].random.seed()


@functools.cache
def _path():
    """Return the import path of a fresh interpreter, without its first entry."""
    code = "import json, sys; print(json.dumps(sys.path[1:]))"
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return json.loads(subprocess.run([sys.executable, "-c", code], env=clean, capture_output=True, check=True).stdout)


def _run(arguments, cwd, stdout, stderr, environment, path):
    """In the process: become what `python` would be with these arguments."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell runs the tests in the background
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, file in ((1, stdout), (2, stderr)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    _forget()
    added = environment.get("PYTHONPATH", "")
    kind = arguments[0]
    first = {"-c": "", "-m": cwd}.get(kind, os.path.dirname(kind))
    sys.path[:] = [first, *filter(None, added.split(os.pathsep)), *path]
    sys.argv = ["-c", *arguments[2:]] if kind == "-c" else arguments[kind == "-m" :]
    try:
        if kind == "-c":
            sys.modules["__main__"] = main = types.ModuleType("__main__")
            exec(compile(arguments[1], "<string>", "exec"), main.__dict__)
        elif kind == "-m":
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(kind, run_name="__main__")
    finally:
        atexit._run_exitfuncs()  # multiprocessing leaves without them


def is_alive(process: int) -> bool:
    """Return whether a process runs; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
