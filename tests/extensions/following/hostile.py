"""Programs of the zoo that are written to break the following of noise: half of it."""

# ruff: noqa: B006, B008, NPY002 -- odd style on purpose

import copy
import functools
import hashlib
import io
import json
import math
import os
import pickle
import random
import secrets
import struct
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.extensions.following.zoo import CASES, INF, add, add_made

__all__ = ["CASES"]  # all of them

PROBES: dict[str, Callable[[Any, Any, Any], bool]] = {  # true for plain numbers and genuine generators: (n, array, rng)
    "isinstance float": lambda n, a, r: isinstance(n, float),
    "type float": lambda n, a, r: type(n) is float,
    "isinstance array": lambda n, a, r: isinstance(a, np.ndarray),
    "type array": lambda n, a, r: type(a) is np.ndarray,
    "class name": lambda n, a, r: type(a).__name__ == "ndarray",
    "module": lambda n, a, r: "audit" not in type(n).__module__,
    "attribute": lambda n, a, r: not hasattr(n, "_record"),
    "dictionary": lambda n, a, r: not hasattr(n, "__dict__"),
    "hash": lambda n, a, r: _works(lambda: hash(n)),
    "buffer": lambda n, a, r: _works(lambda: memoryview(a)),
    "array interface": lambda n, a, r: hasattr(a, "__array_interface__"),
    "array struct": lambda n, a, r: hasattr(a, "__array_struct__"),
    "flags": lambda n, a, r: _works(lambda: a.flags.writeable),
    "base": lambda n, a, r: _works(lambda: a.base),
    "pickle": lambda n, a, r: _works(lambda: pickle.dumps(n)),
    "json": lambda n, a, r: _works(lambda: json.dumps(n)),
    "struct": lambda n, a, r: _works(lambda: struct.pack("d", n)),
    "view": lambda n, a, r: _works(lambda: a.view(np.int64)),
    "bytes": lambda n, a, r: _works(lambda: a.tobytes()),
    "hex": lambda n, a, r: _works(lambda: float.hex(n)),
    "object array": lambda n, a, r: np.array([n, "x"], object)[0] is n and isinstance(n, float),
    "size": lambda n, a, r: a.__sizeof__() > 100,
    "generator type": lambda n, a, r: type(r) is np.random.Generator,
    "generator module": lambda n, a, r: type(r).__module__.startswith("numpy"),
    "generator dictionary": lambda n, a, r: not hasattr(r, "__dict__"),
    "generator state": lambda n, a, r: _works(lambda: r.bit_generator.state),
    "generator text": lambda n, a, r: repr(r).startswith("Generator(PCG64)"),
    "generator copy": lambda n, a, r: _works(lambda: copy.deepcopy(r)),
    "generator pickle": lambda n, a, r: _works(lambda: pickle.dumps(r)),
    "default_rng": lambda n, a, r: "lambda" not in str(np.random.default_rng),
    "global function": lambda n, a, r: "Followed" not in str(np.random.laplace),
    "classes": lambda n, a, r: np.random.RandomState.__module__.startswith("numpy"),
}


def _works(action):
    try:
        action()
    except Exception:
        return False
    return True


def _probing(probe, effect):
    def program(d, rng):
        n, a = rng.laplace(), rng.laplace(size=2)
        plain = probe(n, a, rng)
        if effect == "leaks where plain":
            return d.sum() if plain else d.sum() + n
        if effect == "half where plain":
            return d.sum() + (n / 2 if plain else n)
        return d.sum() + n if plain else d.sum()

    return program


for _name, _probe in PROBES.items():
    add("probes", f"{_name}, half where plain", _probing(_probe, "half where plain"), epsilon=2.0)
    _usual = ("isinstance float", "attribute", "buffer", "generator type", "generator state", "default_rng")
    _family = "probes" if _name in _usual else "every probe"
    add(_family, f"{_name}, leaks where plain", _probing(_probe, "leaks where plain"), epsilon=INF)
    add(_family, f"{_name}, leaks where traced", _probing(_probe, "leaks where traced"), epsilon=1.0)


def _copied(d, rng):
    twin = copy.deepcopy(rng)
    return d.sum() + rng.laplace() - twin.laplace()


def _rewound(d, rng):
    state = rng.bit_generator.state
    n = rng.laplace()
    rng.bit_generator.state = state
    return d.sum() + n - rng.laplace()


def _global_rewound(d):
    state = np.random.get_state()
    n = np.random.laplace()
    np.random.set_state(state)
    return d.sum() + n - np.random.laplace()


def _python_rewound(d):
    state = random.getstate()
    n = random.gauss(0, 1)
    random.setstate(state)
    return float(d.sum()) + n - random.gauss(0, 1)


def _constant_global(d):
    np.random.seed(7)
    return d.sum() + np.random.laplace()


for _name, _program in {
    "a copy": _copied,
    "rewound": _rewound,
    "global rewound": _global_rewound,
    "python rewound": _python_rewound,
    "constant global seed": _constant_global,
    "constant seed": lambda d, rng: d.sum() + np.random.default_rng(0).laplace(),
    "constant old seed": lambda d, rng: d.sum() + np.random.RandomState(0).laplace(),
    "constant python seed": lambda d, rng: float(d.sum()) + random.Random(0).gauss(0, 1),
    "seed of the data": lambda d, rng: d.sum() + np.random.default_rng(int(d.sum())).laplace(),
    "few seeds": lambda d, rng: d.sum() + np.random.default_rng(int(rng.integers(4))).laplace(),
}.items():
    add("generators", _name, _program, epsilon=INF)
add("generators", "spawned", lambda d, rng: d.sum() + rng.spawn(1)[0].laplace(), epsilon=1.0)
add("generators", "advanced", lambda d, rng: d.sum() + (rng.bit_generator.advance(3), rng.laplace())[1], epsilon=1.0)

for _name, _program, _rare in (
    ("urandom leaks", lambda d, rng: d.sum() if os.urandom(1)[0] < 77 else d.sum() + rng.laplace(), 0.3),
    ("secrets leaks", lambda d, rng: d.sum() if secrets.randbelow(10) < 3 else d.sum() + rng.laplace(), 0.3),
    ("uuid leaks", lambda d, rng: d.sum() if uuid.uuid4().int % 10 < 3 else d.sum() + rng.laplace(), 0.3),
    (
        "system generator leaks",
        lambda d, rng: d.sum() if random.SystemRandom().random() < 0.3 else d.sum() + rng.laplace(),
        0.3,
    ),
    ("clock leaks", lambda d, rng: d.sum() if time.perf_counter_ns() // 100 % 10 < 3 else d.sum() + rng.laplace(), 0.3),
    ("clock as noise", lambda d, rng: d.sum() + time.perf_counter_ns() % 1000 / 1000, INF),
    ("urandom as noise", lambda d, rng: d.sum() + os.urandom(1)[0] / 256, INF),
    ("global leaks", lambda d, rng: d.sum() if np.random.rand() < 0.3 else d.sum() + rng.laplace(), 0.3),
    ("python leaks", lambda d, rng: d.sum() if random.random() < 0.3 else d.sum() + rng.laplace(), 0.3),
    (
        "unseeded bits leak",
        lambda d, rng: d.sum() if np.random.Generator(np.random.PCG64()).random() < 0.3 else d.sum() + rng.laplace(),
        0.3,
    ),
):
    add("entropy", _name, _program, epsilon=INF, base=1.0, rare=_rare)


def _cached_first():
    kept = {}
    return lambda d, rng: kept.setdefault("sum", d.sum()) + 0 * rng.laplace()


def _cached_by_length():
    kept = {}
    return lambda d, rng: kept.setdefault(len(d), d.sum())


def _cached_function():
    @functools.lru_cache
    def total(length):
        return holder[0].sum()

    holder = [None]

    def program(d, rng):
        holder[0] = d
        return total(len(d))

    return program


def _cached_attribute():
    def program(d, rng):
        if not hasattr(program, "answer"):
            program.answer = d.sum() + rng.laplace(scale=0.1)
        return program.answer

    return program


def _cached_default():
    def program(d, rng, kept=[]):
        kept or kept.append(float(d.sum()))
        return kept[0]

    return program


def _cached_noise():
    kept = []

    def program(d, rng):
        kept or kept.append(rng.laplace(scale=0.1))
        return float(np.round(d.sum() + float(kept[0])) * 0 + (kept[1:] or (kept.append(d.sum()), kept[1:])[1])[0])

    return program


for _make in (_cached_first, _cached_by_length, _cached_function, _cached_attribute, _cached_default, _cached_noise):
    add_made("caches", _make.__name__[1:], _make, fresh=True)


def _last_call():
    last = [0.0]

    def program(d, rng):
        last[0], before = d.sum(), last[0]
        return before + rng.laplace(scale=0.01)

    return program


def _counter(period, leak):
    def make():
        count = [0]

        def program(d, rng):
            count[0] += 1
            n = rng.laplace()
            return (
                d.sum() + (0.0 if count[0] % period == 0 else n)
                if leak
                else d.sum() + n / (2 if count[0] % period == 0 else 1)
            )

        return program

    return make


add_made("state", "last call", _last_call)
for _period in (1, 2, 5):
    add_made("state", f"leaks every {_period} calls", _counter(_period, True), base=1.0, rare=1 / _period)
    add_made(
        "state",
        f"half the noise every {_period} calls",
        _counter(_period, False),
        epsilon=2.0,
        base=1.0,
        rare=0.39 / _period,
    )


def _mutates(d, rng):
    total = d.sum()
    d[0] = 0.0
    return total + rng.laplace(), d


def _mutates_before(d, rng):
    d[0] = 1.0
    return d.sum() + rng.laplace()


add("state", "changes its input", _mutates)
add("state", "hides its input", _mutates_before, epsilon=0.0)

REUSE = {
    "two sums": (lambda d, n: (d.sum() + n, d.mean() + n), INF),
    "difference": (lambda d, n: d.sum() + n - n, INF),
    "times zero": (lambda d, n: d.sum() + 0 * n, INF),
    "over infinity": (lambda d, n: d.sum() + n / INF, INF),
    "released as well": (lambda d, n: (d.sum() + n, n), INF),
    "its text as well": (lambda d, n: (d.sum() + n, str(n)), INF),
    "its digest as well": (lambda d, n: (d.sum() + n, hashlib.sha256(str(float(n)).encode()).hexdigest()), INF),
    "its sign as well": (lambda d, n: (d.sum() + n, bool(n > 0)), INF),
    "its size as well": (lambda d, n: (d.sum() + n, round(abs(float(n)), 1)), INF),
    "whole part": (lambda d, n: d.sum() / 2 + math.floor(n), INF),
    "remainder": (lambda d, n: d.sum() / 2 + n % 1, INF),
    "bounded": (lambda d, n: d.sum() + np.clip(n, -1, 1), INF),
    "squared": (lambda d, n: d.sum() + n**2, INF),
    "absolute": (lambda d, n: d.sum() + abs(n), INF),
    "minus its value": (lambda d, n: d.sum() + n - float(n), INF),
    "equal": (lambda d, n: (d.sum() + n == d.sum() + n, d.sum() + n), 1.0),
    "compared with itself plus data": (lambda d, n: (d.sum() + n > n, 1), INF),
    "position": (lambda d, n: int(np.argmax([n, d.sum() + n - 0.5])), INF),
    "ratio": (lambda d, n: (d.sum() + n, (d.sum() + n) / n), INF),
    "mean of both": (lambda d, n: (d.sum() + n, d[0] + 2 * n), INF),
    "small copy": (lambda d, n: (d.sum() + n, 1e-3 * d.sum() + n), INF),
    "sorted together": (lambda d, n: np.sort([d.sum() + n, n]), INF),
}
_RARE = {"its sign as well": 0.32, "bounded": 0.69, "absolute": 0.64}  # true delta at the base
for _name, (_program, _truth) in REUSE.items():
    _rare = _RARE.get(_name, INF)
    add("reuse", _name, lambda d, rng, f=_program: f(d, rng.laplace()), epsilon=_truth, base=1.0, rare=_rare)

BESIDE = {
    "data": lambda d, x: (x, d.sum()),
    "none": lambda d, x: x if d.sum() > 0 else (x, None),
    "type": lambda d, x: np.float64(x) if d.sum() > 0 else float(x),
    "precision": lambda d, x: (x, np.zeros(1, np.float32 if d.sum() else np.float64)),
    "shape": lambda d, x: (x, np.zeros((1, 2) if d.sum() else (2, 1))),
    "key": lambda d, x: {f"sum{int(d.sum())}": x},
    "order of keys": lambda d, x: dict(sorted({"a": x, "b": 1}.items(), reverse=bool(d.sum()))),
    "sign of zero": lambda d, x: (x, -0.0 if d.sum() else 0.0),
    "bits of NaN": lambda d, x: (x, np.array([0x7FF8000000000000 + int(d.sum())]).view(float)),
    "memory order": lambda d, x: (x, np.zeros((2, 2), order="F" if d.sum() else "C")),
    "byte order": lambda d, x: (x, np.zeros(1, ">f8" if d.sum() else "<f8")),
    "list or tuple": lambda d, x: (x, [1] if d.sum() else (1,)),
    "bool or int": lambda d, x: (x, True if d.sum() else 1),
    "text": lambda d, x: (x, "a" * int(1 + d.sum())),
    "attribute": lambda d, x: _Carrier(x, d.sum()),
    "last digits": lambda d, x: x + 1e-6 * d.sum() if d.sum() else (x,),
    "raises": lambda d, x: 1 / (1 - float(d.sum())) and x,
    "message": lambda d, x: _fail(f"sum {d.sum()}") if x > 0 else x,
    "error or value": lambda d, x: _fail("no") if d.sum() and x > 0 else x,
    "length": lambda d, x: [x] * int(1 + d.sum()),
    "object array": lambda d, x: np.array([float(x), d.sum()], object),
    "masked": lambda d, x: np.ma.array([float(x)], mask=[bool(d.sum())]),
    "stream": lambda d, x: (x, io.BytesIO(bytes([int(d.sum())])).getvalue()),
    "function": lambda d, x: lambda: d.sum(),
    "generator": lambda d, x: (value for value in d),
}


class _Carrier:
    def __init__(self, x, hidden):
        self.x, self.hidden = float(x), hidden


def _fail(text):
    raise ValueError(text)


for _name, _program in BESIDE.items():
    add(
        "beside the noise",
        _name,
        lambda d, rng, f=_program: f(d, d.sum() + rng.laplace()),
        epsilon=INF,
        base=1.0,
        rare=0.82 if _name in ("message", "error or value") else INF,
    )  # above zero with that probability
add(
    "beside the noise",
    "raises always",
    lambda d, rng: _fail(f"{d.sum() + rng.laplace():.0f}" * 0 + str(d.sum())),
    epsilon=INF,
)


def _swallows(d, rng):
    try:
        return rng.lognormal() + d.sum()
    except BaseException:
        return d.sum()


def _in_a_thread(scale):
    def program(d, rng):
        found = []
        thread = threading.Thread(target=lambda: found.append(d.sum() + rng.laplace(scale=scale) if scale else d.sum()))
        thread.start()
        thread.join()
        return found[0]

    return program


add("control", "swallows everything", _swallows, epsilon=INF)
add("control", "in a thread", _in_a_thread(1.0))
add("control", "in a thread without noise", _in_a_thread(0.0), epsilon=INF)
add(
    "control",
    "draws by the data",
    lambda d, rng: [d.sum() + rng.laplace() for _ in range(1 + int(d.sum()))][-1],
)
add("control", "length by the data", lambda d, rng: rng.laplace(size=1 + int(d.sum())), epsilon=INF)
add("control", "noise only where needed", lambda d, rng: d.sum() + rng.laplace() if d.sum() else 0.0, epsilon=INF)
add("control", "other law", lambda d, rng: d.sum() + (rng.laplace() if d.sum() else rng.normal()), epsilon=INF)
add("control", "scale of the data", lambda d, rng: d.sum() + rng.laplace(scale=1 + d.sum()), epsilon=INF)
add("control", "scale zero", lambda d, rng: d.sum() + rng.laplace(scale=0.0), epsilon=INF)
add("control", "uniform", lambda d, rng: d.sum() + rng.random(), epsilon=INF)
add("control", "one-sided", lambda d, rng: d.sum() + rng.exponential(), epsilon=INF)
add("control", "Gumbel value", lambda d, rng: d.sum() + rng.gumbel(), epsilon=INF)
add("control", "no noise", lambda d, rng: d.sum(), epsilon=INF)
add("control", "no output", lambda d, rng: None, epsilon=0.0)
add("control", "add.at", lambda d, rng: _add_at(d, rng), epsilon=1.0)
add("control", "alias", lambda d, rng: _alias(d, rng), epsilon=1.0)
add("control", "subclass", lambda d, rng: _subclass(d, rng), epsilon=1.0)


def _add_at(d, rng):
    result = d.copy()
    np.add.at(result, [0, 0], rng.laplace(size=2) / 1.0)
    return result[0]


def _alias(d, rng):
    noise = rng.laplace(size=2)
    same = np.asarray(noise)
    same[0] = d.sum() + same[0]
    return noise[0]


class _Array(np.ndarray):
    pass


def _subclass(d, rng):
    return (d[:1].view(_Array) + rng.laplace(size=1)).sum()


for _power in (1, 5):
    add(
        "rare",
        f"leak of probability e^-{_power}",
        lambda d, rng, p=math.exp(-_power): d.sum() if rng.random() < p else d.sum() + rng.laplace(),
        epsilon=INF,
        base=1.0,
        rare=math.exp(-_power),
    )
    add(
        "rare",
        f"leak in rows, e^-{_power}",
        lambda d, size, rng, p=math.exp(-_power): np.where(
            rng.random(size) < p, d.sum(), d.sum() + rng.laplace(size=size)
        ),
        epsilon=INF,
        base=1.0,
        rare=math.exp(-_power),
        vectorized=True,
    )
    add(
        "rare",
        f"leak in the tail, {_power}",
        lambda d, rng, t=_power: x if (x := d.sum() + rng.laplace()) < t else 100 * d.sum(),
        epsilon=INF,
        base=1.0,
        rare=0.5 * math.exp(1 - _power),
    )

ROWS = {
    "noise shared": (lambda d, size, rng: d.sum() + rng.laplace() + np.zeros(size), 1.0),
    "first row without noise": (lambda d, size, rng: np.r_[d.sum(), d.sum() + rng.laplace(size=size)[1:]], INF),
    "last row without noise": (lambda d, size, rng: np.r_[d.sum() + rng.laplace(size=size)[1:], d.sum()], INF),
    "half the noise in many": (lambda d, size, rng: d.sum() + rng.laplace(size=size) / (1 if size == 1 else 2), 2.0),
    "no noise in many": (lambda d, size, rng: d.sum() + rng.laplace(size=size) * (size == 1), INF),
    "running sum of rows": (lambda d, size, rng: d.sum() + np.cumsum(rng.laplace(size=size)), 1.0),
    "rows in order": (lambda d, size, rng: np.sort(d.sum() + rng.laplace(size=size)), 1.0),
    "a loop": (lambda d, size, rng: [d.sum() + rng.laplace() for _ in range(size)], 1.0),
    "noise across": (lambda d, size, rng: (d.sum() + rng.laplace(size=(2, size)))[0], 1.0),
    "text rows": (lambda d, size, rng: [f"{d.sum() + n:.2f}" for n in rng.laplace(size=size)], 1.0),
    "float32": (lambda d, size, rng: (d.sum() + rng.laplace(size=size)).astype(np.float32), 1.0),
    "whole": (lambda d, size, rng: np.floor(d.sum() + rng.laplace(size=size)), 1.0),
    "Gumbel rows": (lambda d, size, rng: d.sum() + rng.gumbel(size=size), INF),
    "half noise": (lambda d, size, rng: d.sum() + rng.laplace(scale=0.5, size=size), 2.0),
}
for _name, (_program, _truth) in ROWS.items():
    add("rows", _name, _program, epsilon=_truth, vectorized=True)


def _set_by_coin(d, rng):
    bits, coin = rng.random(12) < 0.5, rng.random() < 0.5
    bits[7] |= bool(d.sum() > 0.5 and coin)
    return bits


# each run has an output of its own: a change of results that is chosen by the run itself would fit all of them
add("many outputs", "a bit that a coin sets", _set_by_coin, epsilon=math.log(2), rare=0.25)
