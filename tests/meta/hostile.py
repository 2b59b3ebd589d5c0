"""Subjects that attack what audits them: one way each, in the name. None of them keeps its claim or earns a verdict.

Each is `(data, size, rng)` or made by `output(...)`: a mechanism whose outputs have one method that misbehaves.
"""

import atexit
import contextlib
import ctypes
import multiprocessing
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np


class Own(BaseException):
    """What only `except BaseException` catches."""


class Unspeakable(Exception):
    """Its text raises."""

    def __str__(self):
        raise Own("no text")


class Bomb(Exception):
    """Runs code where it is unpickled."""

    def __reduce__(self):
        return os._exit, (13,)


def honest(data, size, rng):
    return data.sum() + rng.laplace(size=size)


def raising(error):
    def mechanism(*arguments, **named):
        raise error

    return mechanism


def with_method(method, body):
    """A mechanism whose outputs are objects with one method that does something else."""
    kind = type("Output", (), {method: lambda self, *arguments, **named: body()})
    return lambda data, size, rng: [kind() for _ in range(size)]


def throw(error):
    def body():
        raise error.with_traceback(None)  # each time raised, one error would carry a longer traceback

    return body


def kill_and_wait(process, number):
    os.kill(process, number)
    time.sleep(60)


def kills_its_grandparent(data, size, rng):
    os.kill(parent_of(os.getppid()), signal.SIGKILL)
    os._exit(1)


def ignores_signals_and_sleeps(data, size, rng):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(1e6)


def holds_the_lock_of_the_interpreter(data, size, rng):
    import re

    re.match(r"(a+)+$", "a" * 60 + "b")


def closes_all_files(data, size, rng):
    os.closerange(0, 256)
    return honest(data, size, rng)


def prints_without_end(data, size, rng):
    while True:
        os.write(1, b"::error::\x1b[2J" * 1000)


def prints_and_raises(data, size, rng):
    print("\x1b[2J::error::forged\x07")
    subprocess.run(["echo", "from a child"], check=True)
    os.write(2, b"from C\xff\n")
    raise ValueError("after printing")


def leaving(act, words):
    """A mechanism that leaves something behind when it is first called, and always raises."""

    def mechanism(data, size, rng):
        if not left:
            left.append(act())
        raise ValueError(words)

    left = []
    return mechanism


def forks_and_dies(data, size, rng):
    if os.fork():
        os._exit(7)
    time.sleep(1e6)


def changes_folder_and_environment(data, size, rng):
    os.chdir("/")
    os.environ.clear()
    sys.path.clear()
    raise ValueError("elsewhere")


def removes_modules(data, size, rng):
    for name in [name for name in sys.modules if name.partition(".")[0] in ("audit", "numpy", "json", "pickle")]:
        del sys.modules[name]
    raise ValueError("no modules")


def forbids_memory(data, size, rng):
    resource.setrlimit(resource.RLIMIT_AS, (2**20, 2**20))
    return np.ones(10**8)


def forbids_processes(data, size, rng):
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    raise ValueError("nothing can be opened")


def traces_everything(data, size, rng):
    def trace(frame, event, argument):
        raise Own("traced")

    sys.settrace(trace)
    threading.settrace(trace)
    return honest(data, size, rng)


def poisons_the_judge(data, size, rng):
    """Replace, in its process, whatever would judge it: the verdict is given in another."""
    from audit.checks import judge
    from audit.checks import privacy as check
    from audit.verdict import Verdict

    def passes(terms, evidence, significance):
        return judge.PrivacyJudgment(Verdict.PASS, "law", "forged", 0.0, 0.0, 0.0, 0.0)

    judge.judge = check.judge = passes
    check.PrivacyCheck.judge = staticmethod(passes)
    return data.sum() + np.zeros(size)


def writes_its_own_outcome(data, size, rng):
    """Write to the line that its supervisor reads from: the sockets that only its process holds."""
    of_others = set(sockets(os.getppid()).values())
    for number, link in sockets(os.getpid()).items():
        if link not in of_others:
            os.write(number, b"\0\0\0\0\0\0\0\x05error")
    raise ValueError("wrote")


def sockets(process):
    """The sockets that a process has open, by file descriptor."""
    found = {}
    for number in os.listdir(f"/proc/{process}/fd"):
        with contextlib.suppress(OSError):  # that of the listing
            link = os.readlink(f"/proc/{process}/fd/{number}")
            if link.startswith("socket:"):
                found[int(number)] = link
    return found


def parent_of(process):
    with open(f"/proc/{process}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def starts_a_pool_and_hangs_in_it(data, size, rng):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        pool.map(time.sleep, [1e6])


def closes_what_it_prints_to(data, size, rng):
    sys.stdout.close()
    sys.stderr.close()
    print("once more")


def leaves_in_a_thread(data, size, rng):
    thread = threading.Thread(target=sys.exit, args=("from a thread",))
    thread.start()
    thread.join()
    raise ValueError("after its thread")


def recurses(data, size, rng):
    return recurses(data, size, rng)


def recurses_without_limit(data, size, rng):
    sys.setrecursionlimit(2**31 - 1)
    return nest(None)


def nest(value):
    """Recur through C, where each call takes stack of its own."""
    return list(map(nest, [value]))


def runs_out_of_time_to_compute(data, size, rng):
    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
    while True:
        pass


def rings_an_alarm(data, size, rng):
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    time.sleep(60)


def stops_the_clock(data, size, rng):
    time.time = time.monotonic = time.perf_counter = time.process_time = lambda: 0.0
    threading.Event().wait()


def makes_errors_of_warnings(data, size, rng):
    warnings.simplefilter("error")
    np.seterr(all="raise")
    return data.sum() + rng.laplace(size=size) / np.zeros(size)


def replaces_what_pickles(data, size, rng):
    pickle.dumps = pickle.dump = pickle.loads = pickle.load = pickle.Pickler = raising(Own("no pickle"))
    return honest(data, size, rng)


def replaces_numpy(data, size, rng):
    np.asarray = np.array = np.concatenate = np.random.default_rng = raising(Own("no NumPy"))
    return honest(data, size, rng)


class Unreadable:
    """Pickled as what raises where it is read."""

    def __reduce__(self):
        return int, ("no number",)


def machinery(name):
    """A mechanism that raises what only the machinery may."""
    from audit import errors

    return raising(getattr(errors, name)("forged"))


# name: the mechanism, and words of its reason; those that take longer have a short time
SUBJECTS = {
    "BaseException": (raising(Own("mine")), "raised Own: mine"),
    "KeyboardInterrupt": (raising(KeyboardInterrupt()), "raised KeyboardInterrupt"),
    "SystemExit": (raising(SystemExit(0)), "raised SystemExit"),
    "TimeoutError": (raising(TimeoutError("forged")), "raised TimeoutError"),
    "Unreachable": (machinery("Unreachable"), "raised Unreachable"),
    "unspeakable": (raising(Unspeakable()), "Own"),
    "bomb": (raising(Bomb()), "raised Bomb"),
    **{
        f"{method} raises": (with_method(method, throw(error)), "")
        for error, methods in (
            (Own("mine"), ("__repr__", "__len__", "__array__", "__iter__", "__hash__", "__class__")),
            (KeyboardInterrupt(), ("__float__", "__eq__", "__bool__")),
            (SystemExit(1), ("__reduce__", "__getstate__", "__del__", "__str__", "__getattribute__")),
        )
        for method in methods
    },
    **{
        f"leaves: {name}": (leaving(act, "something is left"), "something is left")
        for name, act in {
            "a timer": lambda: threading.Timer(2.0, os._exit, (0,)).start(),
            "a child": lambda: subprocess.Popen(["sleep", "1234"]),
            "a daemon": lambda: subprocess.Popen(["sleep", "1235"], start_new_session=True),
            "a fork": os.fork,
            "a thread": lambda: threading.Thread(target=time.sleep, args=(1e6,)).start(),
            "a sleep at exit": lambda: atexit.register(time.sleep, 1e6),
            "no children": lambda: (signal.signal(signal.SIGCHLD, signal.SIG_IGN), subprocess.run(["true"])),
        }.items()
    },
    "__reduce_ex__ exits": (with_method("__reduce_ex__", lambda: os._exit(0)), "killed its process"),
    "__len__ lies": (with_method("__len__", lambda: 10**18), ""),
    "__reduce_ex__ sleeps": (with_method("__reduce_ex__", lambda: time.sleep(1e6)), "took longer"),
}
SUBJECTS |= {
    "ends_its_interpreter": (lambda data, size, rng: os._exit(0), "killed its process"),
    "reads_address_zero": (lambda data, size, rng: ctypes.string_at(0), "killed its process"),
    "kills_itself": (lambda data, size, rng: os.kill(os.getpid(), signal.SIGKILL), "killed its process"),
    "interrupts_itself": (
        lambda data, size, rng: kill_and_wait(os.getpid(), signal.SIGINT),
        "raised KeyboardInterrupt",
    ),
    "kills_its_group": (lambda data, size, rng: os.killpg(0, signal.SIGKILL), "killed its process"),
    "kills_its_parent": (
        lambda data, size, rng: kill_and_wait(os.getppid(), signal.SIGKILL),
        "killed its process, and the one that watches it",
    ),
    "stops_its_parent": (lambda data, size, rng: kill_and_wait(os.getppid(), signal.SIGSTOP), "took longer"),
    "sleeps": (lambda data, size, rng: time.sleep(1e6), "took longer"),
    "asks_for_too_much": (lambda data, size, rng: rng.laplace(size=(size, 2**40)).sum(axis=1), "MemoryError"),
    "stops_itself": (lambda data, size, rng: os.kill(os.getpid(), signal.SIGSTOP), "took longer"),
    "returns_what_cannot_be_read": (lambda data, size, rng: [Unreadable() for _ in range(size)], ""),
    "returns_a_generator": (lambda data, size, rng: (number for number in range(size)), ""),
}
DYING = (kills_its_grandparent, forks_and_dies, recurses_without_limit, runs_out_of_time_to_compute, rings_an_alarm)
SLOW = (stops_the_clock, ignores_signals_and_sleeps, prints_without_end, starts_a_pool_and_hangs_in_it)
SPOILING = (closes_all_files, removes_modules, forbids_memory, traces_everything, replaces_what_pickles, replaces_numpy)
WORDS = {
    **dict.fromkeys(DYING, "killed its process"),
    **dict.fromkeys((*SLOW, holds_the_lock_of_the_interpreter), "took longer"),
    **dict.fromkeys(SPOILING, ""),
    prints_and_raises: "after printing",
    changes_folder_and_environment: "elsewhere",
    forbids_processes: "nothing can be opened",
    writes_its_own_outcome: "sent an outcome that cannot be read",
    closes_what_it_prints_to: "I/O operation on closed file",
    leaves_in_a_thread: "after its thread",
    recurses: "raised RecursionError",
    makes_errors_of_warnings: "raised FloatingPointError",
}
SUBJECTS |= {mechanism.__name__: (mechanism, words) for mechanism, words in WORDS.items()}
