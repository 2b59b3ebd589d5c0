"""A child process: its line of bytes, its end, and all that ends with it.

A process that holds an end of a connection hides the death of a supervisor, or the end of the process that calls:
whoever waits waits on. So a copy holds none but its own.
"""

import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from audit.execution import sandbox, workers
from audit.execution.sandbox import FORKS, ProcessLine, fork, start, start_program
from tests.processes import is_alive

pytestmark = pytest.mark.skipif(not (FORKS and Path("/proc/self/fd").exists()), reason="forks, and looks into /proc")
LARGE = bytes(range(256)) * 4096  # more than a pipe or a socket holds


@pytest.fixture
def begun():
    """What is appended is killed after the test."""
    children = []
    yield children
    for child in children:
        child.kill()


def test_messages_of_any_size_come_whole_and_in_order(begun):
    sent = [b"", b"one", LARGE, b"\n"]
    begun.append(child := fork(lambda line: [line.send(message) for message in sent]))
    assert [child.line.receive(60) for _ in sent] == sent
    with pytest.raises(EOFError):
        child.line.receive(60)


def test_no_more_bytes_are_kept_than_are_asked_for():
    reading, writing = os.pipe()
    with open(reading, "rb", buffering=0) as raw, open(writing, "wb", buffering=0) as other:
        line = ProcessLine(raw, most=4)
        other.write(b"123456")
        assert line.fill()
        assert line.rest == b"1234"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_death_is_the_end_of_the_line_and_a_status(begun, number):
    begun.append(child := fork(lambda line: os.kill(os.getpid(), number)))
    with pytest.raises(EOFError):
        child.line.receive(60)
    assert child.wait(60) == -number
    assert child.kill() == -number


def fork_child() -> int:
    child = fork(lambda line: time.sleep(1236))
    child.__dict__["kept"] = child  # a copy that is killed has no time to end it
    return child.number


@pytest.mark.parametrize(
    "begin", [lambda: subprocess.Popen(["sleep", "1236"]).pid, fork_child], ids=["program", "fork"]
)
def test_a_killed_child_takes_with_it_what_it_has_started(begun, begin):
    def work(line):
        line.send(str(begin()).encode())
        os.kill(os.getpid(), signal.SIGSTOP)

    begun.append(child := fork(work))
    grandchild = int(child.line.receive(60))
    assert child.wait(0) is None
    assert child.kill() == -signal.SIGKILL
    deadline = time.monotonic() + 60
    while is_alive(grandchild):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_child_that_nobody_holds_is_killed_by_its_owner_alone():
    child = fork(lambda line: (line.send(b"here"), time.sleep(1e6)))
    number, kill = child.number, child.kill
    assert child.line.receive(60) == b"here"
    copy = fork(lambda line: line.send(str(kill()).encode()))
    assert copy.line.receive(60) == b"None"
    copy.kill()
    assert child.wait(0) is None
    del child
    assert not is_alive(number)


def echo(line: ProcessLine) -> None:
    print("printed")
    while True:
        line.send(line.receive() + os.environ.get("GREETING", "").encode())


def test_a_new_interpreter_answers_until_nobody_asks(begun, capfd):
    begun.append(child := start(echo, prints=False, GREETING=" you"))
    for content in (b"hello", LARGE):
        child.line.send(content)
        assert child.line.receive(120) == content + b" you"
    child.line.close()
    assert child.wait(60) == 0
    assert capfd.readouterr() == ("", "")


def test_a_program_is_read_while_it_is_written_to(begun, tmp_path):
    """Neither side reads all before it writes: each pipe is full at some time."""
    code = "import sys\nfor line in sys.stdin: sys.stdout.write(line); sys.stdout.flush()"
    with (tmp_path / "errors").open("w+b") as errors:
        begun.append(child := start_program((sys.executable, "-c", code), errors))
        until = time.monotonic() + 60
        child.line.write(b"x" * 2**20 + b"\n" + b"yes\n", until)
        assert child.line.read_line(2**21, until) == b"x" * 2**20
        assert child.line.read(3, until) == b"yes"
        with pytest.raises(TimeoutError):
            child.line.read(2, time.monotonic() + 0.1)


@pytest.fixture
def fork_one():
    """Return a new supervisor; all of them end after the test."""
    made = []
    yield lambda: made.append(sandbox.fork_supervisor(workers.answer, workers.prepare)) or made[-1]
    for supervisor in made:
        supervisor.stop()


def sockets(number):
    links = {os.readlink(entry) for entry in Path(f"/proc/{number}/fd").iterdir() if entry.is_symlink()}
    return {link for link in links if link.startswith("socket:")}


def test_a_new_supervisor_holds_no_line_of_an_older_one(fork_one):
    first, second = fork_one(), fork_one()
    second.begin(pickle.dumps(([], pickle.dumps(("/", [], ())), b"")))
    lines = {os.readlink(f"/proc/self/fd/{supervisor._line.fileno()}") for supervisor in (first, second)}
    assert not lines & sockets(second._child.number)
    assert not lines & sockets(second._numbers[0])


def test_threads_that_fork_at_a_time_leave_no_line_open(fork_one, monkeypatch):
    """The pair of sockets of one thread is open while another one forks."""
    made = sandbox.socket.socketpair

    def slowly():
        pair = made()
        time.sleep(0.02)
        return pair

    with monkeypatch.context() as patch, ThreadPoolExecutor(4) as threads:
        patch.setattr(sandbox.socket, "socketpair", slowly)
        supervisors = list(threads.map(lambda _: fork_one(), range(8)))
    for supervisor in supervisors:
        supervisor._line.send(b"not a request")  # which ends a supervisor
        with pytest.raises(EOFError):  # nobody else holds its end, so that its end is seen
            supervisor._line.receive(30)


@pytest.mark.parametrize(("number", "kind"), [(signal.SIGSTOP, "hung"), (signal.SIGKILL, None)])
def test_a_call_cannot_stop_its_supervisor_before_that_tells_of_it(monkeypatch, number, kind):
    """A call is only blamed once it is known to have begun; on a busy machine, its supervisor may come second."""
    send = sandbox.ProcessLine.send

    def send_late(line, message):
        if len(message.split()) == 2:  # the numbers of the supervisor and of the call
            time.sleep(0.5)
        send(line, message)

    monkeypatch.setattr(sandbox.ProcessLine, "send", send_late)
    monkeypatch.setattr(sandbox, "_START", 3.0)
    supervisor = sandbox.fork_supervisor(
        lambda request: bytes(os.kill(os.getppid(), number) or 60), lambda request: b""
    )
    supervisor.begin(b"a call")
    outcome = supervisor.finish(1.0)
    assert (outcome and outcome.kind) == kind
    supervisor.stop()
