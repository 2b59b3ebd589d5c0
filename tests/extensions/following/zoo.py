"""The zoo: programs with known privacy, here in usual style; `hostile.py` adds those written to break the following."""

# ruff: noqa: B008, NPY002 -- odd style on purpose

import itertools
import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import default_rng, laplace
from scipy import integrate, stats

import audit

ZERO, ONE = np.zeros(5), np.r_[1.0, 0, 0, 0, 0]
EVEN, ODD = np.array([0.0, 1, 0, 1, 0]), np.array([1.0, 0, 1, 0, 1])
INF = math.inf


@dataclass(frozen=True)
class Case:
    """A program, a pair, and its true privacy on the pair.

    `epsilon` is the truth for delta = 0. Where it is infinite, (base, rare)-indistinguishability is what holds. `mu` is
    of Gaussian noise. `make` gives a fresh program, so that no state of an earlier case is left.
    """

    family: str
    name: str
    make: Callable[[], Any]
    left: Any
    right: Any
    epsilon: float
    mu: float = 0.0
    base: float = 0.0
    rare: float = INF
    is_followed: bool | None = None  # asserted, where it is stated
    bound: float | None = None  # of a followed case, by hand, where it is above the truth
    vectorized: bool = False
    fresh: bool = False

    @property
    def id(self) -> str:
        return f"{self.family}: {self.name}"

    @property
    def mechanism(self) -> Any:
        return self.make() if self.vectorized else audit.per_call(self.make())

    def is_sound(self, result: Any) -> bool:
        """True unless the result bounds the privacy below the truth."""
        if not result.is_followed or result.delta >= 1:
            return True
        if self.mu and not result.epsilon >= 50:
            return result.mu >= self.mu * (1 - 1e-6) and result.epsilon >= self.epsilon * (1 - 1e-6)
        if result.epsilon >= self.epsilon * (1 - 1e-6) or result.mu == INF:
            return True
        if result.epsilon >= self.base * (1 - 1e-6) and result.delta >= self.rare:
            return True
        # Laplace noise at loss t has delta 1 - exp((epsilon - t) / 2) at epsilon
        return math.isfinite(self.epsilon) and result.delta >= -math.expm1((result.epsilon - self.epsilon) / 2)


CASES: list[Case] = []


def add(family, name, program, left=ZERO, right=ONE, epsilon=1.0, **options):
    CASES.append(Case(family, name, lambda: program, left, right, epsilon, **options))


def add_made(family, name, make, left=ZERO, right=ONE, epsilon=INF, **options):
    CASES.append(Case(family, name, make, left, right, epsilon, **options))


# ---- usual code -----------------------------------------------------------------------------------------------------


def _frame(d, n):
    import pandas as pd

    frame = pd.DataFrame({"a": [d.sum()]})
    frame["b"] = frame["a"] + n
    return frame["b"]


STYLES = {
    "reversed": lambda d, n: n + float(d.sum()),
    "subtracted": lambda d, n: d.sum() - n,
    "function": lambda d, n: np.add(d.sum(), n),
    "rounded": lambda d, n: round(d.sum() + n, 2),
    "whole": lambda d, n: int(d.sum() + n),
    "floor": lambda d, n: math.floor(d.sum() + n),
    "text": lambda d, n: f"{d.sum() + n:.3f}",
    "absolute": lambda d, n: abs(d.sum() + n),
    "clipped": lambda d, n: np.clip(d.sum() + n, 0, 3),
    "at least": lambda d, n: max(0.0, d.sum() + n),
    "where": lambda d, n: np.where(d.sum() + n > 0, d.sum() + n, 0.0),
    "dict": lambda d, n: {"sum": d.sum() + n, "n": len(d)},
    "tuple": lambda d, n: ("sum", d.sum() + n),
    "array": lambda d, n: np.array([d.sum() + n, 0.0]),
    "stacked": lambda d, n: np.stack([d.sum() + n, d.sum() + n]),
    "twice the same": lambda d, n: (d.sum() + n, 2 * (d.sum() + n)),
    "scaled": lambda d, n: 3 * (d.sum() + n) / 7 - 1,
    "exponential": lambda d, n: math.exp(-abs(d.sum() + n)),
    "json": lambda d, n: json.dumps(float(d.sum() + n)),
    "in a buffer": lambda d, n: np.concatenate([np.zeros(2), np.atleast_1d(d.sum() + n)]),
    "frame": _frame,
}
add("additive", "plain", lambda d, rng: d.sum() + rng.laplace(), is_followed=True)
add("gaussian", "plain", lambda d, rng: d.sum() + rng.normal(scale=2.0), epsilon=0.0, mu=0.5, is_followed=True)
for _name, _style in STYLES.items():
    add("additive", _name, lambda d, rng, f=_style: f(d, rng.laplace(scale=0.5)), epsilon=2.0, is_followed=True)
    _normal = lambda d, rng, f=_style: f(d, rng.normal(scale=2.0))  # noqa: E731
    add("every Gaussian style", _name, _normal, epsilon=0.0, mu=0.5)


def _in_place(d, rng):
    noisy = rng.laplace(size=5)
    noisy += d
    noisy *= 2
    return noisy[1:], noisy[0]


def _into_zeros(d, rng):
    result = np.zeros(3)
    result[1] = d.sum() + rng.laplace()
    return result


def _adaptive(d, rng):
    first = d.sum() + rng.laplace(scale=2.0)
    second = (d.sum() if first > 0 else -d.sum()) + rng.laplace(scale=2.0)
    return float(first), float(second)


def _adaptive_by_value(d, rng):
    first = float(d.sum() + rng.laplace(scale=2.0))
    return first, d.sum() * math.tanh(first) + rng.laplace(scale=2.0)


SOURCES = {  # with their epsilon
    "uniforms": (lambda d, rng: d.sum() + np.log(rng.random()) - np.log(rng.random()), 1.0),
    "uniforms of Python": (lambda d: d.sum() + math.log(random.random()) - math.log(random.random()), 1.0),
    "difference of exponentials": (lambda d, rng: d.sum() + rng.exponential() - rng.exponential(), 1.0),
    "own generator": (lambda d: d.sum() + np.random.default_rng().laplace(), 1.0),
    "imported by name": (lambda d: d.sum() + default_rng().laplace(), 1.0),
    "global imported by name": (lambda d: d.sum() + laplace(), 1.0),
    "old generator": (lambda d: d.sum() + np.random.RandomState().laplace(), 1.0),
    "global": (lambda d: d.sum() + np.random.laplace(), 1.0),
    "python": (lambda d: float(d.sum()) + random.expovariate(1) - random.expovariate(1), 1.0),
    "own python": (lambda d: float(d.sum()) + (r := random.Random()).expovariate(1) - r.expovariate(1), 1.0),
    "loc": (lambda d, rng: rng.laplace(d.sum(), 1.0), 1.0),
    "loc of an array": (lambda d, rng: rng.laplace(d, 1.0), 1.0),
    "sum of noisy values": (lambda d, rng: (d + rng.laplace(size=5)).sum(), 1.0),
    "product with data": (lambda d, rng: np.ones((2, 5)) @ (d + rng.laplace(size=5)), 1.0),
    "noise that cancels": (lambda d, rng: d.sum() + rng.laplace() + (other := rng.laplace()) - other, 1.0),
    "running sums": (lambda d, rng: np.cumsum(d + rng.laplace(size=5)), 1.0),
    "differences": (lambda d, rng: np.diff(d + rng.laplace(size=5)), 0.5),
    "sorted": (lambda d, rng: np.sort(d[:1] + rng.laplace(size=1)), 1.0),
    "in place": (_in_place, 1.0),
    "into zeros": (_into_zeros, 1.0),
    "list": (lambda d, rng: [x + rng.laplace() for x in d.tolist()], 1.0),
    "reshaped": (lambda d, rng: (np.reshape(d + rng.laplace(size=5), (5, 1))[:, 0])[::-1], 1.0),
    "largest of one": (lambda d, rng: float(np.max(d[:1] + rng.laplace(size=1))), 1.0),
    "median of one": (lambda d, rng: float(np.median(d[:1] + rng.laplace(size=1))), 1.0),
    "six answers": (lambda d, rng: [d.sum() + rng.laplace(scale=6) for _ in range(6)], 1.0),
    "three answers at full budget": (lambda d, rng: [d.sum() + rng.laplace() for _ in range(3)], 3.0),
    "adaptive by a decision": (_adaptive, 1.0),
    "adaptive by a value": (_adaptive_by_value, 0.99),
    "Student": (lambda d, rng: d.sum() + rng.standard_t(3), 4 * math.asinh(0.5 / math.sqrt(3))),
    "Cauchy": (lambda d, rng: d.sum() + rng.standard_cauchy(), 2 * math.asinh(0.5)),
    "logistic": (lambda d, rng: d.sum() + rng.logistic(), 1.0),
    "difference of geometric": (
        lambda d, rng: int(d.sum()) + rng.geometric(1 - math.exp(-1)) - rng.geometric(1 - math.exp(-1)),
        1.0,
    ),
}
for _name, (_program, _truth) in SOURCES.items():
    _bound = 1.0 if _name in ("differences", "adaptive by a value") else None
    add("sources", _name, _program, epsilon=_truth, is_followed=True, bound=_bound)
add("discrete", "one geometric", lambda d, rng: int(d.sum()) + rng.geometric(0.5), epsilon=INF)
add("discrete", "half a count", lambda d, rng: d.sum() / 2 + rng.geometric(0.5) - rng.geometric(0.5), epsilon=INF)


def _argmax_epsilon(left, right, pdf, cdf, scale):
    """Exact by quadrature."""

    def chosen(q, i):
        def density(x):
            others = [cdf((x - other) / scale) for j, other in enumerate(q) if j != i]
            return pdf((x - q[i]) / scale) / scale * np.prod(others)

        return integrate.quad(density, -40 * scale, 60 * scale, limit=400, points=sorted(set(q)))[0]

    return max(abs(math.log(chosen(left, i) / chosen(right, i))) for i in range(len(left)))


def _best_in_a_loop(d, rng):
    best, place = None, None
    for i, q in enumerate(d):
        v = q + rng.laplace(scale=2.0)
        if best is None or v > best:
            best, place = v, i
    return place


_PAIR = {"left": EVEN, "right": ODD, "is_followed": True}
for _noise, _law in {"laplace": stats.laplace, "exponential": stats.expon, "gumbel": stats.gumbel_r}.items():
    _options = _PAIR | {"bound": 1.0, "epsilon": _argmax_epsilon(EVEN, ODD, _law.pdf, _law.cdf, 2.0)}
    add(
        "selection",
        f"argmax of 5, {_noise}",
        lambda d, rng, noise=_noise: int(np.argmax(d + getattr(rng, noise)(scale=2.0, size=len(d)))),
        **_options,
    )
    add(
        "selection",
        f"rows of 5, {_noise}",
        lambda d, size, rng, noise=_noise: np.argmax(d + getattr(rng, noise)(scale=2.0, size=(size, len(d))), axis=1),
        vectorized=True,
        **_options,
    )
_LAPLACE_5 = _argmax_epsilon(EVEN, ODD, stats.laplace.pdf, stats.laplace.cdf, 2.0)
add("selection", "in a loop", _best_in_a_loop, epsilon=_LAPLACE_5, bound=2.0, **_PAIR)
add(
    "selection",
    "max of a list",
    lambda d, rng: max(range(5), key=lambda i, v=[x + rng.laplace(scale=2.0) for x in d]: v[i]),
    epsilon=0.0,
    bound=2.0,
    **_PAIR,
)


def _weights(d):
    w = np.exp(d / 2)
    return w / w.sum()


_P = 1 / (1 + math.exp(-1))
FINITE = {  # with their epsilon
    "response, two lines": (lambda d, rng: [int(x) if rng.random() < _P else 1 - int(x) for x in d], 1.0),
    "response, where": (lambda d, rng: np.where(rng.random(len(d)) < _P, d, 1 - d), 1.0),
    "response, python": (lambda d: int(d[0]) if random.random() < _P else 1 - int(d[0]), 1.0),
    "permutation": (lambda d, rng: rng.permutation(4), 0.0),
    "keep or resample": (lambda d, rng: int(d[0]) if rng.random() < 0.4 else int(rng.integers(2)), math.log(0.7 / 0.3)),
    "threshold of Laplace noise": (
        lambda d, rng: bool(d.sum() + rng.laplace() > 0.5),
        math.log((1 - 0.5 * math.exp(-0.5)) / (0.5 * math.exp(-0.5))),
    ),
}
for _name, (_program, _truth) in FINITE.items():
    add("finite", _name, _program, epsilon=_truth, is_followed=True)
add(
    "finite",
    "exponential mechanism",
    lambda d, rng: int(rng.choice(5, p=_weights(d))),
    epsilon=float(np.abs(np.log(_weights(EVEN) / _weights(ODD))).max()),
    **_PAIR,
)
add(
    "finite",
    "response, of 12",
    lambda d, rng: np.where(rng.random(12) < _P, np.tile(d, 3)[:12], 1 - np.tile(d, 3)[:12]),
    np.zeros(5),
    np.r_[0, 0, 1.0, 0, 0],
    2.0,
)


def _descend(d, rng):
    w = 0.0
    for _ in range(4):
        w = w - 0.5 * (np.clip(w - d, -1, 1).sum() + rng.normal(scale=4.0))
    return w


add("adaptive", "descent", _descend, epsilon=0.0, mu=0.2, is_followed=True)
add(
    "composition",
    "rows",
    lambda d, size, rng: d.sum() + rng.laplace(scale=3, size=(size, 3)),
    vectorized=True,
    is_followed=True,
)
add(
    "composition",
    "Gaussian rows",
    lambda d, size, rng: d.sum() + rng.normal(size=(size, 3)),
    epsilon=0.0,
    mu=math.sqrt(3),
    vectorized=True,
    is_followed=True,
)


def _above(threshold_scale, scale, stops, numeric=False):
    def program(d, rng):
        threshold = rng.laplace(scale=threshold_scale)
        out = []
        for q in d:
            v = q + (rng.laplace(scale=scale) if scale else 0.0)
            if v >= threshold:
                out.append(float(v) if numeric else True)
                if stops:
                    break
            else:
                out.append(False)
        return out

    return program


def _above_epsilon(left, right, threshold_scale, scale, stops):
    """Exact: all outcomes, by quadrature over the threshold."""
    outcomes = list(itertools.product((False, True), repeat=len(left)))
    if stops:
        outcomes = [(False,) * k + (True,) for k in range(len(left))] + [(False,) * len(left)]

    def probability(q, outcome):
        def integrand(t):
            above = [stats.laplace.sf(t, x, scale) for x in q]
            return stats.laplace.pdf(t, 0, threshold_scale) * np.prod(
                [a if hit else 1 - a for a, hit in zip(above, outcome, strict=False)]
            )

        return integrate.quad(integrand, -60, 60, points=[0.0, 1.0], limit=400)[0]

    return max(abs(math.log(probability(left, o) / probability(right, o))) for o in outcomes)


for _stops in (True, False):
    add(
        "sparse vector",
        f"3 queries, {'stops' if _stops else 'goes on'}",
        _above(2.0, 4.0, _stops),
        EVEN[:3],
        ODD[:3],
        _above_epsilon(EVEN[:3], ODD[:3], 2.0, 4.0, _stops),
        is_followed=True,
        bound=0.5 if _stops else 0.75,
    )
add("sparse vector", "no noise on queries", _above(2.0, 0.0, False), EVEN, ODD, INF)
add("sparse vector", "releases the value", _above(2.0, 4.0, True, True), np.zeros(2), np.ones(2), 0.25)

add("reuse", "two sums, Gaussian", lambda d, rng: (d.sum() + (n := rng.normal()), d.mean() + n), epsilon=INF)
