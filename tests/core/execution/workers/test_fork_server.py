"""A fork server that is killed is forked again, by whichever thread sees it first, and holds no end of a connection.

A process that holds one hides the death of a supervisor, or the end of the process that calls: whoever waits waits on.
"""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from audit.execution import sandbox, workers

pytestmark = pytest.mark.skipif(not (sandbox.FORKS and Path("/proc/self/fd").exists()), reason="looks into /proc")


def sockets(number):
    links = {os.readlink(entry) for entry in Path(f"/proc/{number}/fd").iterdir() if entry.is_symlink()}
    return {link for link in links if link.startswith("socket:")}


def kill(forks):
    os.kill(forks._server.number, signal.SIGKILL)
    os.waitid(os.P_PID, forks._server.number, os.WEXITED | os.WNOWAIT)


@pytest.fixture
def forks():
    one = sandbox.ForkServer(workers.answer, workers.prepare)
    yield one
    one.close()


def test_a_new_fork_server_holds_no_line_of_the_old_one(forks):
    first = forks.supervisor()
    kill(forks)
    second = forks.supervisor()
    lines = {os.readlink(f"/proc/self/fd/{supervisor._line.fileno()}") for supervisor in (first, second)}
    deadline = time.monotonic() + 60
    while lines & sockets(forks._server.number) and time.monotonic() < deadline:
        time.sleep(0.01)  # it is just starting
    assert not lines & sockets(forks._server.number)
    for supervisor in (first, second):
        supervisor.stop()


def test_threads_that_find_it_killed_leave_no_line_open(forks, monkeypatch):
    """The pair of sockets of one thread is open while another one forks."""
    made = sandbox.socket.socketpair

    def slowly():
        pair = made()
        time.sleep(0.02)
        return pair

    with monkeypatch.context() as patch, ThreadPoolExecutor(4) as threads:
        patch.setattr(sandbox.socket, "socketpair", slowly)
        kill(forks)
        supervisors = list(threads.map(lambda _: forks.supervisor(), range(8)))
    for supervisor in supervisors:
        supervisor._line.send(b"not a request")  # which ends a supervisor
        with pytest.raises(EOFError):  # nobody else holds its end, so that its end is seen
            supervisor._line.receive(30)
        supervisor.stop()


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
    forks = sandbox.ForkServer(lambda request: bytes(os.kill(os.getppid(), number) or 60), lambda request: b"")
    supervisor = forks.supervisor()
    supervisor.begin(b"a call")
    outcome = supervisor.finish(1.0)
    assert (outcome and outcome.kind) == kind
    supervisor.stop()
    forks.close()
