"""Where calls are run: the names of places, their settings, and what is refused before anything is drawn."""

import concurrent.futures
import os

import pytest
from cluster_subjects import check, laplace

import audit
from audit.errors import InvalidArgument
from audit.execution import workers as pool
from audit.execution.seeds import Place


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(executor="serial", workers=2), "leave `workers` out"),
        (
            dict(executor="dask://node:8786", workers=4),
            "dask://node:8786' has its own workers, got workers=4",
        ),
        (
            dict(executor="dask://node:8786", workers=0),
            "dask://node:8786' has its own workers, got workers=0",
        ),
        (dict(executor="somewhere"), "`executor` must"),
        (dict(workers=-1), "`workers` must be an integer >= 0"),
        (dict(workers=1.5), "`workers` must"),
        (dict(executor=concurrent.futures.Executor(), workers=0), "`workers` must be an integer >= 1"),
        (dict(resume=True), "`resume` needs `directory`"),
    ],
)
def test_settings_that_contradict_each_other_raise_before_anything_is_drawn(options, message):
    with pytest.raises(InvalidArgument, match=message):
        audit.run([check("never", laplace)], **options)


@pytest.mark.parametrize(("quota", "cores"), [("max 100000", 8), ("250000 100000", 3), ("1000 100000", 1), (None, 8)])
def test_a_container_has_the_cores_of_its_quota(quota, cores, monkeypatch, tmp_path):
    path = tmp_path / "cpu.max"
    if quota:
        path.write_text(f"{quota}\n")
    monkeypatch.setattr(pool, "_QUOTA", path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)))
    assert pool._count_cores() == cores
