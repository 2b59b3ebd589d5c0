"""Rare events that are drawn behind the back of the source: a law would be that of one process, or of no process."""

from __future__ import annotations

import asyncio
import concurrent.futures
import datetime
import email.utils
import glob
import importlib.util
import io
import itertools
import multiprocessing
import operator
import os
import platform
import queue
import random
import resource
import select
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.enumeration.zoo.case import Case, coin

OWN, OWN_LEGACY = np.random.default_rng(5), np.random.RandomState(5)
DEVICE = "/dev/urandom"


def _below(value: int, share: int = 50) -> bool:
    return value % share == 0


def _opened() -> int:
    descriptor = os.open(DEVICE, os.O_RDONLY)
    try:
        return os.read(descriptor, 1)[0]
    finally:
        os.close(descriptor)


def _from_file(file: Any) -> int:
    with file:
        return int(file.read(1)[0])


def _by_thread() -> int:
    found: queue.Queue[int] = queue.Queue()
    thread = threading.Thread(target=lambda: found.put(time.time_ns()))
    thread.start()
    thread.join()
    return found.get()


async def _clock() -> int:
    return int(asyncio.get_running_loop().time() * 1e9)


def _key() -> int:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.generate().private_bytes_raw()[0]


def _by_ctypes() -> int:
    import ctypes

    buffer = ctypes.create_string_buffer(1)
    ctypes.CDLL(None).getrandom(buffer, 1, 0)
    return buffer.raw[0]


def _by_libc_rand() -> int:
    import ctypes

    return int(ctypes.CDLL(None).rand())


def _by_libc_time() -> int:
    import ctypes

    return int(ctypes.CDLL(None).clock())


def _by_mmap() -> int:
    import mmap

    with open("/proc/self/stat", "rb") as file:
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)[0]
        except (OSError, ValueError):
            return sum(file.read())


def _by_sqlite() -> int:
    import sqlite3

    return int(sqlite3.connect(":memory:").execute("select random()").fetchone()[0])


def _addresses() -> int:
    return id(object()) >> 4


def _select() -> int:
    select.select([], [], [], 0)
    return time.monotonic_ns()


WAYS: dict[str, Callable[[], Any]] = {
    "os.urandom": lambda: os.urandom(1)[0],
    "os.getrandom": lambda: os.getrandom(1)[0],
    "map of os.urandom": lambda: next(map(os.urandom, [1]))[0],
    "partial of os.urandom": lambda: partial(os.urandom, 1)()[0],
    "call of os.urandom": lambda: operator.call(os.urandom, 1)[0],
    "starmap of os.urandom": lambda: next(itertools.starmap(os.urandom, [(1,)]))[0],
    "sorted by os.urandom": lambda: sorted([1, 1], key=os.urandom)[0] + os.urandom(1)[0],
    "uuid4": lambda: uuid.uuid4().int,
    "uuid1": lambda: uuid.uuid1().int >> 64,
    "new generator": lambda: int(np.random.Generator(np.random.PCG64()).integers(100)),
    "new legacy generator": lambda: int(np.random.RandomState().randint(100)),
    "seed sequence": lambda: int(np.random.SeedSequence().entropy),  # type: ignore[arg-type]
    "another generator": lambda: int(OWN.integers(100)),
    "another legacy generator": lambda: int(OWN_LEGACY.randint(100)),
    "another generator of Python": lambda: random.Random().getrandbits(9),
    "open of the device": lambda: _from_file(open(DEVICE, "rb")),
    "Path of the device": lambda: _from_file(Path(DEVICE).open("rb")),
    "io.FileIO of the device": lambda: _from_file(io.FileIO(DEVICE)),
    "os.open of the device": _opened,
    "np.fromfile of the device": lambda: int(np.fromfile(DEVICE, np.uint8, 1)[0]),
    "np.memmap of a file of the system": _by_mmap,
    "time.time": lambda: int(time.time() * 1e6),
    "time.time_ns": time.time_ns,
    "call of time.time_ns": lambda: operator.call(time.time_ns),
    "map of time.perf_counter_ns": lambda: next(map(lambda clock: clock(), [time.perf_counter_ns])),
    "C call of a clock": lambda: list(itertools.starmap(time.perf_counter_ns, [()]))[0],
    "time.process_time": lambda: int(time.process_time() * 1e9),
    "time.thread_time_ns": partial(time.thread_time_ns),
    "time.clock_gettime": lambda: time.clock_gettime_ns(time.CLOCK_MONOTONIC),
    "time.localtime": lambda: time.localtime().tm_sec,
    "time.strftime": lambda: int(time.strftime("%S")),
    "datetime.now": lambda: datetime.datetime.now().microsecond,
    "datetime.today": lambda: datetime.date.today().toordinal(),
    "call of datetime.now": lambda: operator.methodcaller("now")(datetime.datetime).microsecond,
    "np.datetime64": lambda: int(np.datetime64("now", "us").astype(np.int64)),
    "np.datetime64 of today": lambda: int(np.datetime64("today").astype(np.int64)),
    "email date": lambda: len(email.utils.formatdate()) + time.time_ns(),
    "time of a file": lambda: os.stat("/proc/self/stat").st_mtime_ns,
    "time of a file by Path": lambda: Path("/proc/self").stat().st_mtime_ns,
    "number of the process": os.getpid,
    "attribute of os": lambda: attrgetter("getpid")(os)(),
    "parent process": os.getppid,
    "load": lambda: int(os.getloadavg()[0] * 100),
    "times of the process": lambda: int(os.times().elapsed * 100),
    "use of resources": lambda: int(resource.getrusage(resource.RUSAGE_SELF).ru_utime * 1e6),
    "space of a disk": lambda: shutil.disk_usage("/").free >> 12,
    "names of files": lambda: len(os.listdir("/proc")),
    "glob": lambda: len(glob.glob("/proc/[0-9]*")),
    "scandir": lambda: sum(1 for _ in os.scandir("/proc")),
    "name of a temporary file": lambda: sum(map(ord, tempfile.mktemp())),
    "temporary folder": lambda: sum(map(ord, tempfile.gettempdir())) + os.getpid(),
    "name of the machine": lambda: len(platform.node()) + os.getpid(),
    "subprocess": lambda: len(subprocess.run(["date"], capture_output=True, check=False).stdout),
    "os.popen": lambda: len(os.popen("date").read()),
    "socket": lambda: socket.socket().fileno(),
    "name of a host": lambda: len(socket.gethostname()),
    "random bytes of ssl": lambda: ssl.RAND_bytes(1)[0],
    **({"key of cryptography": _key} if importlib.util.find_spec("cryptography") else {}),
    "thread": _by_thread,
    "pool of threads": lambda: concurrent.futures.ThreadPoolExecutor(1).submit(time.time_ns).result(),
    "identity of a thread": threading.get_ident,
    "number of processors in use": lambda: multiprocessing.cpu_count() + os.getpid(),
    "clock of an event loop": lambda: asyncio.run(_clock()),
    "select and a clock": _select,
    "getrandom by ctypes": _by_ctypes,
    "rand by ctypes": _by_libc_rand,
    "clock by ctypes": _by_libc_time,
    "random of sqlite": _by_sqlite,
    "id": _addresses,
    "address in a text": lambda: sum(map(ord, repr(object()))),
    "hash of an object": lambda: hash(object()),
    "map of id": lambda: next(map(id, [object()])) >> 4,
    "hash by a method": lambda: object().__hash__(),
    "hash of a text": lambda: hash("zoo"),
    "hash of a text by a method": lambda: "zoo".__hash__(),
}


STATED = {"address in a text"}


def rarely(name: str, way: Callable[[], Any]) -> Case:
    """Return a program in which one output in fifty depends on another source."""

    def program(data: Any, rng: Any) -> Any:
        first = coin(rng)
        return first, coin(rng) ^ _below(way())

    return Case("hidden", name, program, has_law=False, is_stated=name in STATED)


CASES = [rarely(name, way) for name, way in WAYS.items()]
