"""Numerical libraries use one thread where a mechanism is called, unless the user chose a number."""

import contextlib
import json
import os
import subprocess
import sys
import types
from pathlib import Path

from audit.execution import deadline
from audit.execution.deadline import one_thread, with_one_thread

PROGRAM = Path(__file__).with_name("thread_counts.py")
WORKERS = ("forked", "fresh", "brought")


def thread_counts(**chosen):
    """Return what the program prints in an environment that has only the chosen numbers of threads."""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_THREADS")}
    paths = [path for path in sys.path if path]
    environment |= {"PYTHONPATH": os.pathsep.join(paths), **chosen}
    done = subprocess.run([sys.executable, PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_workers_use_one_thread():
    found = thread_counts()
    for worker in WORKERS:
        counts, variables = found[worker]
        assert counts, worker
        assert {number for _, number in counts} == {1}, worker
        assert variables["OPENBLAS_NUM_THREADS"] == variables["OMP_NUM_THREADS"] == "1"
    assert found["here"][1] == found["calls here"][1] == {}
    assert {number for library, number in found["calls here"][0] if library == "openblas"} == {1}


def test_the_general_variable_speaks_for_every_library():
    assert with_one_thread({"OMP_NUM_THREADS": "3"}) == {"OMP_NUM_THREADS": "3"}
    assert with_one_thread({"MKL_NUM_THREADS": "3"})["MKL_NUM_THREADS"] == "3"
    assert with_one_thread({"MKL_NUM_THREADS": "3"})["OMP_NUM_THREADS"] == "1"


def test_within_one_limit_there_is_another_where_a_library_was_loaded_since(monkeypatch):
    for name in deadline._THREADS:
        monkeypatch.delenv(name, raising=False)
    seen = []
    libraries = types.SimpleNamespace(limit=lambda **limits: seen.append(limits) or contextlib.nullcontext())
    monkeypatch.setattr(deadline, "_libraries", lambda modules: libraries)
    with one_thread(), one_thread():
        assert len(seen) == 1
        monkeypatch.setitem(sys.modules, "loaded_since", types.ModuleType("loaded_since"))
        with one_thread(), one_thread():
            assert len(seen) == 2
