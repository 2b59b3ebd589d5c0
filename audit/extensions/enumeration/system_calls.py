"""Name the system calls of a process that ask for entropy, time or the outside, without hindering them (Linux, x86-64).

A filter of the kernel hands such a call to whoever holds its listener, and waits. The holder notes the name and lets
the call go on. So what a library asks below Python is seen, and none of it ends otherwise. Clocks that are read from
a page of the kernel or by an instruction are not seen; the interpreter itself reads those for locks.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import platform
import select
import struct
import sys
from contextlib import suppress

NAMES = {
    **{318: "getrandom", 228: "clock_gettime", 96: "gettimeofday", 201: "time", 100: "times", 98: "getrusage"},
    **{
        39: "getpid",
        110: "getppid",
        186: "gettid",
        99: "sysinfo",
        63: "uname",
        204: "sched_getaffinity",
        309: "getcpu",
    },
    **{2: "open", 257: "openat", 437: "openat2", 0: "read", 17: "pread", 19: "readv", 217: "getdents", 89: "readlink"},
    **{4: "stat", 6: "lstat", 262: "fstatat", 332: "statx", 5: "fstat", 137: "statfs", 138: "fstatfs", 21: "access"},
    **{
        41: "socket",
        53: "socketpair",
        42: "connect",
        45: "recvfrom",
        47: "recvmsg",
        267: "readlinkat",
        269: "faccessat",
    },
    **{56: "clone", 435: "clone3", 57: "fork", 58: "vfork", 59: "execve", 322: "execveat", 439: "faccessat2"},
}
IS_WATCHABLE = sys.platform == "linux" and platform.machine() == "x86_64" and sys.maxsize > 2**32
_PRCTL_NO_NEW_PRIVILEGES = 38
_SECCOMP, _SET_FILTER, _NEW_LISTENER = 317, 1, 8  # number of the system call, its operation, its flag
_ARCHITECTURE, _ALLOW, _NOTIFY = 0xC000003E, 0x7FFF0000, 0x7FC00000
_RECEIVE, _SEND, _GO_ON = 0xC0502100, 0xC0182101, 1
_LOAD, _EQUALS, _RETURN = 0x20, 0x15, 0x06  # instructions of the filter


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def listen() -> int | None:
    """Watch this process and its children from here on; return the listener, or None where the kernel refuses."""
    if not IS_WATCHABLE:
        return None
    steps = [(_LOAD, 0, 0, 4), (_EQUALS, 1, 0, _ARCHITECTURE), (_RETURN, 0, 0, _ALLOW), (_LOAD, 0, 0, 0)]
    for number in NAMES:
        steps += [(_EQUALS, 0, 1, number), (_RETURN, 0, 0, _NOTIFY)]
    steps.append((_RETURN, 0, 0, _ALLOW))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program, library = _Program(len(steps), ctypes.addressof(code)), ctypes.CDLL(None)
    if library.prctl(_PRCTL_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return None
    listener = library.syscall(_SECCOMP, _SET_FILTER, _NEW_LISTENER, ctypes.byref(program))
    return listener if listener >= 0 else None


def let_go_on(listener: int) -> str | None:
    """Let one call that waits at a listener go on; return its name, or None if there was none."""
    request = bytearray(80)
    try:
        fcntl.ioctl(listener, _RECEIVE, request)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.EINTR):  # the caller was killed meanwhile
            return None
        raise
    identity, _, _, number = struct.unpack_from("QIIi", request)
    with suppress(OSError):
        fcntl.ioctl(listener, _SEND, bytearray(struct.pack("QqiI", identity, 0, 0, _GO_ON)))
    return NAMES.get(number, f"system call {number}")


def ready(descriptors: list[int], seconds: float) -> dict[int, int]:
    """Return which of the descriptors have something, or have ended, within some time."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return dict(poll.poll(1000 * seconds))
