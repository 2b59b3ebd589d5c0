"""Mechanisms for the tests of executors, in a module that workers can import; what they do is told in their names."""

import json
import os
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from audit import AddRemove, PrivacyCheck, PrivacyClaim, Verdict, per_call
from audit.runner import LEAST_SPREAD

PAIR = (np.zeros(3), np.r_[1.0, 0, 0])
PAUSE = 0.012  # seconds a call: sleep, not work, so that a busy machine changes little; 500 calls justify a pool


def laplace(data, size, rng):
    return data.sum() + rng.laplace(size=size)


def sleeping(data, size, rng):
    """The Laplace mechanism, with a pause in every call."""
    time.sleep(PAUSE)
    return laplace(data, size, rng)


def raising(data, size, rng):
    if size > 100:
        raise ValueError("no luck")
    return laplace(data, size, rng)


def one(data, rng):
    if rng.random() < 0.01:
        raise OverflowError("too big")
    return float(data.sum() + rng.laplace())


def dies(data, size, rng):
    os._exit(3)


def kills_its_parent(data, size, rng):
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


class HoldsALock:
    """What no process can send to another."""

    def __init__(self):
        self.lock = threading.Lock()

    def __call__(self, data, size, rng):
        return laplace(data, size, rng)


@dataclass(frozen=True)
class Marking:
    """The Laplace mechanism, leaving a file where a process that is no child of `home` draws; it may hang there."""

    folder: str
    home: int = 0
    hangs_away: bool = False

    def __call__(self, data, size, rng):
        mark = Path(self.folder) / f"{os.getppid()}-{os.getpid()}"
        if os.getppid() != self.home:
            mark.touch()
            if self.hangs_away:
                time.sleep(1e6)
        return sleeping(data, size, rng)


def marks(folder):
    """(parent, process) of those that have drawn."""
    return [tuple(map(int, mark.name.split("-"))) for mark in Path(folder).glob("[0-9]*-[0-9]*")]


def check(name, mechanism, epsilon=1.5, **more):
    return PrivacyCheck(name=name, mechanism=mechanism, claim=PrivacyClaim(epsilon), pairs=[PAIR], **more)


def large(mechanism):
    """A check whose blocks are worth spreading; its noise is not followed, which one process does."""
    return check("large", mechanism, budget=LEAST_SPREAD, method="fixed")


def mixed(program):
    """Checks of which one is large enough to be spread, and one asks a program of its own."""
    return [
        large(sleeping),
        check("leak", laplace, 0.5, expected=Verdict.FAIL),
        check("raising", raising, expected=Verdict.INCONCLUSIVE),
        check("per call", per_call(one), budget=4_000, expected=Verdict.INCONCLUSIVE),
        check("closure", lambda data, size, rng: data.sum() + rng.laplace(size=size)),
        PrivacyCheck(
            name="program", mechanism=program, claim=PrivacyClaim(1.5, 0.0, AddRemove()), pairs=[([0, 0], [0, 0, 1])]
        ),
    ]


def judged(certificate):
    """All of a certificate but durations, and where and when it was made."""
    apart = {"provenance": 0, "isolation": 0, "printed": 0, "sources": 0, "seal": 0}
    text = json.dumps({**certificate, **apart, "timing": sorted(certificate["timing"])})
    return json.loads(text)
