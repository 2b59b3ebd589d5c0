"""Against a real Dask cluster: the same evidence anywhere, and whatever dies, hangs or vanishes leaves it as it is."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from functools import partial
from pathlib import Path

import cluster_subjects as subjects
import pytest
from cluster_subjects import Marking, check, judged, marks
from local_cluster import Cluster, end_with_parent, wait_until

import audit
from audit import Verdict
from audit import runner as suite
from audit.certificate.document import load_certificate
from audit.cli import main
from audit.execution import workers as workers_module
from audit.execution.seeds import Place
from audit.execution.workers import open_pool
from tests.processes import is_alive

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


def certificate(checks, **where):
    shares = {"significance": SHARE * len(checks), "confirmation": CONFIRMED * len(checks)}
    return judged(audit.run(checks, budget=80_000, **shares, **where).certificate)


@pytest.fixture(scope="module")
def expected():
    """The certificate of the mixed checks, made in this process."""
    return certificate(subjects.mixed(PROGRAM), executor="serial")


@pytest.mark.parametrize("workers", [1, 2])
def test_processes_give_the_evidence_of_this_process(expected, workers):
    """By one worker every check is drawn whole; the blocks of the first one are spread over two."""
    assert certificate(subjects.mixed(PROGRAM), workers=workers) == expected


def test_the_workers_of_a_cluster_give_the_evidence_of_this_process(cluster, expected):
    assert expected["counts"] == {"PASS": 4, "FAIL": 1, "INCONCLUSIVE": 1}
    wait_until(lambda: cluster.width() == 2)
    assert certificate(subjects.mixed(PROGRAM), executor=cluster.address) == expected


def test_a_call_comes_back_with_what_the_function_does(cluster, tmp_path):
    wait_until(lambda: cluster.width() == 2)
    with open_pool(Place(cluster.address)) as pool:
        assert pool.width == 2
        assert pool.call(divmod, 7, 2, timeout=60) == [3, 1]  # plain data
        with pytest.raises(ZeroDivisionError):
            pool.call(divmod, 7, 0, timeout=60)
        with pytest.raises(TimeoutError, match=r"took longer than 0\.5 s"):
            pool.call(time.sleep, 1e6, timeout=0.5)
        large = Path(os.path.dirname(subjects.__file__)), b"x" * 200_000  # sent once, kept on the cluster
        assert pool.call(partial(len_of, large), 1, timeout=60) == 200_001
        assert pool.call(os.getcwd) == os.getcwd()


def len_of(large, more):
    return len(large[1]) + more


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
    assert report["hangs"].reason.startswith("the mechanism took longer than 8 s (")
    assert report["hangs"].reason.endswith(" 0 outputs): set timeout=16")
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


COMMAND = """
import sys
sys.path[:0] = {path!r}
from audit.cli import main
main()
"""
MODULE = """
import os
from cluster_subjects import Marking, check, laplace, sleeping

FOLDER = os.path.join(os.path.dirname(__file__), "marks")
CHECKS = [check("quick", laplace), check("long", {long})]
"""


def start(folder, long, *arguments):
    """`dp-audit run mine`, in a process."""
    (folder / "mine.py").write_text(MODULE.replace("{long}", long))
    (folder / "marks").mkdir(exist_ok=True)
    path = [str(Path(audit.__file__).parents[1]), str(Path(subjects.__file__).parent)]
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND.format(path=path), "run", "mine", "--budget", "8e4", *arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hear_ctrl_c,
    )


def hear_ctrl_c():
    """A suite that a shell started in the background ignores Ctrl-C, and what it starts inherits that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    end_with_parent()


HANGING = "Marking(FOLDER, hangs_away=True)"


def test_ctrl_c_ends_the_run_and_what_it_started(cluster, tmp_path):
    process = start(tmp_path, HANGING, "--executor", cluster.address, "--out", "out")
    wait_until(lambda: marks(tmp_path / "marks") or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=200)
    assert process.returncode == 130
    assert "--resume goes on from here" in said
    wait_until(lambda: not any(is_alive(drawing) for _, drawing in marks(tmp_path / "marks")))


@pytest.fixture
def fragile(tmp_path):
    """A cluster of one worker without a nanny, to be broken."""
    cluster = Cluster(tmp_path, workers=1, nanny=False)
    yield cluster
    cluster.close()


def test_a_scheduler_that_vanishes_leaves_a_checkpoint(fragile, tmp_path, expected):
    small = certificate(subjects.mixed(PROGRAM)[1:], executor=fragile.address)["checks"]
    assert small == expected["checks"][1:]  # one worker, while there is one
    process = start(tmp_path, HANGING, "--executor", fragile.address, "--out", "out")
    wait_until(lambda: marks(tmp_path / "marks") or process.poll() is not None)
    fragile.scheduler.kill()
    _, said = process.communicate(timeout=200)
    assert process.returncode == 2
    assert "the same command with --resume goes on from here" in said
    quick, long = load_certificate(tmp_path / "out")["checks"]
    assert (quick["verdict"], long["verdict"]) == ("PASS", "INCONCLUSIVE")
    assert "a worker cannot do what it is sent" in long["reason"]


def test_no_scheduler_at_all_is_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(workers_module, "_ANSWER", 1.0)
    with pytest.raises(SystemExit) as stop:
        main(["run", "tests.core.mechanisms", "--executor", "dask://127.0.0.1:9", "--out", str(tmp_path / "out")])
    assert stop.value.code == 64
    said = capsys.readouterr().err.strip()
    assert said.startswith("dp-audit: no Dask scheduler with a worker answers at tcp://127.0.0.1:9")
    assert "\n" not in said


OWNER = """
import sys, time
from pathlib import Path
sys.path.insert(0, {here!r})
from local_cluster import Cluster, wait_until
cluster = Cluster(Path({folder!r}), workers=2)
wait_until(lambda: cluster.width() == 2)
Path({folder!r}, "started").write_text("")
time.sleep(1e6)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the end of a parent is told by Linux")
def test_a_suite_ended_by_sigterm_leaves_no_cluster(tmp_path):
    code = OWNER.format(here=str(Path(subjects.__file__).parent), folder=str(tmp_path))
    owner = subprocess.Popen([sys.executable, "-c", code], preexec_fn=end_with_parent)
    wait_until(lambda: (tmp_path / "started").exists() or owner.poll() is not None)
    left = below(owner.pid)
    assert len(left) >= 4, "a scheduler, a nanny and two workers"
    owner.terminate()
    assert owner.wait(60) == -signal.SIGTERM
    wait_until(lambda: not any(map(is_alive, left)), seconds=60)


def below(process):
    """Return the processes that one has started, and those that they have."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    return [*children, *(other for child in children for other in below(child))]
