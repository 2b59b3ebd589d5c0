"""Against a real Dask cluster: the same evidence anywhere, and whatever dies, hangs or vanishes leaves it as it is."""

import os
import signal
import sys
import textwrap
import threading
from pathlib import Path

import cluster_subjects as subjects
import pytest
from cluster_subjects import Marking, check, judged, marks
from local_cluster import Cluster, wait_until

import audit
from audit import Verdict
from audit import runner as suite
from audit.cli import main
from audit.execution import workers as workers_module
from tests.processes import Python, is_alive

pytest.importorskip("distributed")
adapters = pytest.importorskip("audit.extensions.adapters")

PROGRAM = adapters.Program((sys.executable, "-c", textwrap.dedent("""
    import json, random, sys
    for line in sys.stdin:
        request = json.loads(line)
        draw = random.Random(request["seed"]).expovariate
        outputs = [sum(request["dataset"]) + draw(1) - draw(1) for _ in range(request["size"])]
        print(json.dumps({"request": request["request"], "outputs": outputs}), flush=True)
    """)))  # fmt: skip


SHARE, CONFIRMED = 0.01, 1e-7  # significance and confirmation of each check


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two workers, shared by the tests that leave them as they are: what dies is replaced."""
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), workers=2)
    yield cluster
    cluster.close()


def certificate(checks, **where):
    shares = {"significance": SHARE * len(checks), "confirmation": CONFIRMED * len(checks)}
    return judged(audit.run(checks, budget=80_000, **shares, **where).certificate)


@pytest.fixture(scope="module")
def expected():
    """The certificate of the mixed checks, made in this process."""
    return certificate(subjects.mixed(PROGRAM), executor="serial")


def test_the_workers_of_a_cluster_give_the_evidence_of_this_process(cluster, expected):
    assert expected["counts"] == {"PASS": 4, "FAIL": 1, "INCONCLUSIVE": 1}
    wait_until(lambda: cluster.width() == 2)
    assert certificate(subjects.mixed(PROGRAM), executor=cluster.address) == expected


def test_deaths_and_hangs_are_each_one_inconclusive_among_others(cluster, tmp_path):
    """A subject may end its process, its worker, or never; the cluster goes on, and no process is left behind."""
    bad = [check(name, getattr(subjects, name)) for name in ("dies", "kills_its_parent")]
    bad += [check("hangs", Marking(str(tmp_path), hangs_away=True), timeout=8)]
    bad.append(check("holds a lock", subjects.HoldsALock()))
    report = audit.run([*bad, check("good", subjects.laplace)], budget=80_000, executor=cluster.address)
    assert [result.verdict for result in report.results] == [Verdict.INCONCLUSIVE] * 4 + [Verdict.PASS]
    assert report["dies"].reason == "the mechanism killed its process"
    assert report["kills_its_parent"].reason == "the mechanism killed its process, and the one that watches it"
    assert "cannot pickle '_thread.lock' object" in report["holds a lock"].reason
    assert " took longer than 8 s" in report["hangs"].reason  # with its audit, where the machine is busy
    wait_until(lambda: not any(is_alive(process) for _, process in marks(tmp_path)))


@pytest.mark.parametrize("spread", [False, True])
def test_a_worker_killed_under_its_task_changes_nothing(cluster, tmp_path, monkeypatch, expected, spread):
    """SIGKILL to the Dask worker on which a whole check, or a group of blocks of a spread one, is being drawn."""
    if not spread:
        monkeypatch.setattr(suite, "LEAST_SPREAD", 10**9)
    mechanism, found = Marking(str(tmp_path), home=os.getpid()), []
    arguments = dict(significance=SHARE, confirmation=CONFIRMED, executor=cluster.address)
    thread = threading.Thread(target=lambda: found.append(audit.run([subjects.large(mechanism)], **arguments)))
    thread.start()
    wait_until(lambda: marks(tmp_path))
    worker, process = marks(tmp_path)[0]
    os.kill(worker, signal.SIGKILL)
    thread.join(200)
    assert found[0].certificate["checks"][0]["evidence"] == expected["checks"][0]["evidence"]
    assert len({parent for parent, _ in marks(tmp_path)}) >= 2
    wait_until(lambda: not is_alive(process))


def test_no_scheduler_at_all_is_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(workers_module, "_ANSWER", 1.0)
    with pytest.raises(SystemExit) as stop:
        main(["run", "tests.core.mechanisms", "--executor", "dask://127.0.0.1:9", "--out", str(tmp_path / "out")])
    assert stop.value.code == 64
    said = capsys.readouterr().err.strip()
    assert said.startswith("dp-audit: no Dask scheduler with a worker answers at tcp://127.0.0.1:9")
    assert "\n" not in said


RUN = """
import os, sys
sys.path.insert(0, sys.argv[1])
import audit
from cluster_subjects import Marking, check
from audit.cli import main

sys.modules["mine"] = type("module", (), {"CHECKS": [check("long", Marking(os.getcwd(), hangs_away=True))]})
main(["run", "mine", "--executor", sys.argv[2], "--out", "out"])
"""


def test_ctrl_c_ends_a_run_on_a_cluster_and_the_processes_under_its_tasks(cluster, tmp_path):
    said, folder = tmp_path / "said", Path(subjects.__file__).parent
    process = Python(["-c", RUN, folder, cluster.address], tmp_path, stderr=said)
    wait_until(lambda: marks(tmp_path) or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    assert process.wait(100) == 130
    assert "--resume" in said.read_text()
    wait_until(lambda: not any(is_alive(drawing) for _, drawing in marks(tmp_path)))


def test_a_scheduler_that_vanishes_leaves_one_check_open_and_the_other_to_be_resumed(cluster, tmp_path, monkeypatch):
    """The last test of the cluster, whose scheduler it kills."""
    hangs, found, kept = Marking(str(tmp_path), hangs_away=True), [], tmp_path / "out" / "unfinished"
    checks = [check("quick", subjects.laplace), check("long", hangs)]
    arguments = dict(executor=cluster.address, budget=80_000, directory=tmp_path / "out")
    thread = threading.Thread(target=lambda: found.append(audit.run(checks, **arguments)))
    thread.start()
    wait_until(lambda: marks(tmp_path) and (kept / "00000.json").exists())
    monkeypatch.setattr(workers_module, "_ANSWER", 0.5)
    cluster.kill_scheduler()
    thread.join(100)
    assert [result.verdict for result in found[0].results] == [Verdict.PASS, Verdict.INCONCLUSIVE]
    assert "its scheduler was lost" in found[0]["long"].reason
    assert sorted(path.name for path in kept.iterdir()) == ["00000.json", "plan.json"]
