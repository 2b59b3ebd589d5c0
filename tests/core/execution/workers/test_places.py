"""Where calls are run: the names of places, their settings, the threads of libraries, and what is refused."""

import concurrent.futures
import contextlib
import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest
from cluster_subjects import check, laplace

import audit
from audit.errors import InvalidArgument
from audit.execution import sandbox
from audit.execution import workers as pool
from audit.execution.sandbox import one_thread, with_one_thread
from audit.execution.seeds import Place
from tests.offenders import refused


@pytest.mark.parametrize(
    ("text", "is_here", "is_cluster"),
    [
        ("serial", True, False),
        ("processes", False, False),
        ("dask://node:8786", False, True),
        ("tcp://127.0.0.1:1", False, True),
        ("dask://[::1]:8786", False, True),
    ],
)
def test_a_name_or_an_address_means_one_place(text, is_here, is_cluster):
    place = Place(text)
    assert (place.is_here, place.is_cluster) == (is_here, is_cluster)


@pytest.mark.parametrize("text", ["", "threads", "dask", "dask://", "dask://node", "http://n:1", "tcp://n:x", 3, None])
def test_anything_else_is_refused_and_the_forms_are_named(text):
    with pytest.raises(InvalidArgument, match="`executor` must be one of 'serial', 'processes', 'dask://scheduler"):
        Place(text)


test_settings_that_contradict_each_other_raise_before_anything_is_drawn = refused(
    [
        (dict(executor="serial", workers=2), "leave `workers` out"),
        (dict(executor="dask://node:8786", workers=4), "dask://node:8786' has its own workers, got workers=4"),
        (dict(executor="dask://node:8786", workers=0), "dask://node:8786' has its own workers, got workers=0"),
        (dict(executor="somewhere"), "`executor` must"),
        (dict(workers=-1), "`workers` must be an integer >= 0"),
        (dict(workers=1.5), "`workers` must"),
        (dict(executor=concurrent.futures.Executor(), workers=0), "`workers` must be an integer >= 1"),
        (dict(resume=True), "`resume` needs `directory`"),
    ],
    audit.run,
    checks=[check("never", laplace)],
)


@pytest.mark.parametrize(("quota", "cores"), [("max 100000", 8), ("250000 100000", 3), ("1000 100000", 1), (None, 8)])
def test_a_container_has_the_cores_of_its_quota(quota, cores, monkeypatch, tmp_path):
    path = tmp_path / "cpu.max"
    if quota:
        path.write_text(f"{quota}\n")
    monkeypatch.setattr(pool, "_QUOTA", path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)))
    assert pool._count_cores() == cores


def test_workers_use_one_thread():
    """What `thread_counts.py` prints in an environment that names no number of threads."""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_THREADS")}
    environment |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    program = [sys.executable, Path(__file__).with_name("thread_counts.py")]
    found = json.loads(subprocess.run(program, env=environment, capture_output=True, text=True, check=True).stdout)
    for worker in ("forked", "fresh", "brought"):
        counts, variables = found[worker]
        assert {number for _, number in counts} == {1}, worker
        assert variables["OPENBLAS_NUM_THREADS"] == variables["OMP_NUM_THREADS"] == "1"
    assert found["here"][1] == found["calls here"][1] == {}
    assert {number for library, number in found["calls here"][0] if library == "openblas"} == {1}


def test_the_general_variable_speaks_for_every_library():
    assert with_one_thread({"OMP_NUM_THREADS": "3"}) == {"OMP_NUM_THREADS": "3"}
    assert with_one_thread({"MKL_NUM_THREADS": "3"})["MKL_NUM_THREADS"] == "3"
    assert with_one_thread({"MKL_NUM_THREADS": "3"})["OMP_NUM_THREADS"] == "1"


def test_within_one_limit_there_is_another_where_a_library_was_loaded_since(monkeypatch):
    for name in sandbox._THREADS:
        monkeypatch.delenv(name, raising=False)
    seen = []
    libraries = types.SimpleNamespace(limit=lambda **limits: seen.append(limits) or contextlib.nullcontext())
    monkeypatch.setattr(sandbox, "_libraries", lambda modules: libraries)
    with one_thread(), one_thread():
        assert len(seen) == 1
        monkeypatch.setitem(sys.modules, "loaded_since", types.ModuleType("loaded_since"))
        with one_thread(), one_thread():
            assert len(seen) == 2
