"""A nursery that is killed is forked again, by whichever thread sees it first: it must hold no end of a keeper's line.

A process that holds one hides the death of a keeper, or the end of the process that calls: whoever waits waits on.
"""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from audit.subjects import process

pytestmark = pytest.mark.skipif(not (process.FORKS and Path("/proc/self/fd").exists()), reason="looks into /proc")


def sockets(number):
    links = {os.readlink(entry) for entry in Path(f"/proc/{number}/fd").iterdir() if entry.is_symlink()}
    return {link for link in links if link.startswith("socket:")}


def kill(nursery):
    os.kill(nursery._number, signal.SIGKILL)
    os.waitid(os.P_PID, nursery._number, os.WEXITED | os.WNOWAIT)


@pytest.fixture
def nursery():
    one = process.Nursery([])
    yield one
    one.close()


def test_a_new_nursery_holds_no_line_of_the_old_one(nursery):
    first = nursery.keeper()
    kill(nursery)
    second = nursery.keeper()
    lines = {os.readlink(f"/proc/self/fd/{keeper._connection.fileno()}") for keeper in (first, second)}
    deadline = time.monotonic() + 60
    while lines & sockets(nursery._number) and time.monotonic() < deadline:
        time.sleep(0.01)  # it is just starting
    assert not lines & sockets(nursery._number)
    for keeper in (first, second):
        keeper.stop()


def test_threads_that_find_it_killed_leave_no_line_open(nursery, monkeypatch):
    """The pair of sockets of one thread is open while another one forks."""
    made = process.socket.socketpair

    def slowly():
        pair = made()
        time.sleep(0.02)
        return pair

    with monkeypatch.context() as patch, ThreadPoolExecutor(4) as threads:
        patch.setattr(process.socket, "socketpair", slowly)
        kill(nursery)
        keepers = list(threads.map(lambda _: nursery.keeper(), range(8)))
    for keeper in keepers:
        keeper._connection.send_bytes(b"not a request")  # which ends a keeper
        assert keeper._connection.poll(30), "nobody else holds its end, so that its end is seen"
        keeper.stop()
