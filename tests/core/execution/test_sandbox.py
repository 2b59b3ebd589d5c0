"""A child process: its line of bytes, its end, and all that ends with it."""

import os
import signal
import subprocess
import sys
import time

import pytest

from audit.execution.sandbox import FORKS, ProcessLine, fork, start, start_program
from tests.processes import is_alive

pytestmark = pytest.mark.skipif(not FORKS, reason="forks")
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


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_death_is_the_end_of_the_line_and_a_status(begun, number):
    begun.append(child := fork(lambda line: os.kill(os.getpid(), number)))
    with pytest.raises(EOFError):
        child.line.receive(60)
    assert child.wait(60) == -number
    assert child.kill() == -number


def start_program_of_group() -> int:
    return subprocess.Popen(["sleep", "1236"]).pid


def fork_child() -> int:
    child = fork(lambda line: time.sleep(1236))
    child.__dict__["kept"] = child  # a copy that is killed has no time to end it
    return child.number


@pytest.mark.parametrize("begin", [start_program_of_group, fork_child])
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
