"""Theorem 2.5 for every locally private rule: the best channels are found, not assumed, interactive ones included.

From Berrett & Butucea (2019). What one user tells of a sign is the divergence of the message under the two signs. A
channel on k inputs that is epsilon-private is a mixture of columns with entries 1 and e^epsilon (Kairouz, Oh &
Viswanath 2014, "staircases"): sum over S of theta_S v_S(x) = 1 for every input x, theta >= 0. A divergence is linear in
theta, so that its largest value over *all* channels, whatever their messages, is a linear program in 2^k variables.

* One user: the largest Kullback-Leibler divergence against 4 (e^epsilon - 1)^2 TV^2, on which the proof rests.
* N users, each of whom may choose the channel after having seen all messages so far: by the chain rule N times that,
  which the family's number D bounds. So its lower bound holds for every rule, at every N.
* A few users: the least error of *every* sequentially interactive rule for one sign, exactly. By backward induction a
  message leads to a posterior, whose value is linear in theta again. The lower bound is compared with that.

Inputs are a ball's two labels and the rest; the rest may be cut into parts, which changes nothing.

The theorem says "n in N and alpha in (0, 1]", and is false for n alpha^2 -> 0, where its right side grows without
bound: read n alpha^2 >= 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.stats import binom

from audit import InequalityCheck, Verdict
from mechanisms.local.lower_bound import FAMILIES, THEOREM

FloatArray = NDArray[np.float64]
Cases = list[tuple[str, float, float]]
_SETTINGS = [(epsilon, w, b) for epsilon in (0.1, 0.5, 1.0) for w in (1.0, 0.3, 0.01) for b in (0.5, 0.05)]
_SIZES = (1.0, 1e2, 1e4, 1e8, 1e14)


def inputs(weight: float, lean: float, parts: int = 1) -> tuple[FloatArray, FloatArray]:
    """Return the two laws of one user's record: labels 1 and 0 of the ball, then the rest in equal parts."""
    one = np.array([weight * (1 + lean) / 2, weight * (1 - lean) / 2, *[(1 - weight) / parts] * parts])
    return one, one[[1, 0, *range(2, len(one))]]


def staircases(size: int, epsilon: float) -> FloatArray:
    """Return all columns with entries 1 and e^epsilon, shape (2^k, k)."""
    return np.exp(epsilon * np.array(list(product((0.0, 1.0), repeat=size))))


def best_channel(columns: FloatArray, gains: FloatArray) -> float:
    """Return the largest sum of theta_S gain_S over all channels made of the columns."""
    found = linprog(-gains, A_eq=columns.T, b_eq=np.ones(columns.shape[1]), bounds=(0, None))
    return float(-found.fun)


def most_divergence(epsilon: float, weight: float, lean: float, parts: int = 1) -> float:
    """Return the largest divergence of one message, over all epsilon-private channels."""
    first, second = inputs(weight, lean, parts)
    columns = staircases(len(first), epsilon)
    right, change = columns @ second, columns @ (first - second)
    gains = right * _divergence(change / right)
    largest = float(gains.max())  # linear programs are solved up to 1e-9 or so
    return largest * best_channel(columns, gains / largest)


def _divergence(t: FloatArray) -> FloatArray:
    """Return (1 + t) log(1 + t) - t; what differs from the divergence sums to 0 over the columns of a channel."""
    return np.where(np.abs(t) < 1e-3, t**2 / 2 - t**3 / 6 + t**4 / 12, (1 + t) * np.log1p(t) - t)


@dataclass(frozen=True)
class SignTest:
    """All rules that guess one sign from a few users.

    Parameters
    ----------
    epsilon, weight, lean : float
        Of the users: their privacy, the mass of the ball, and |2 eta - 1| there.
    """

    epsilon: float
    weight: float
    lean: float

    def success(self, users: int, belief: float = 0.5) -> float:
        """Return the largest probability of a right guess of every interactive rule, at a prior belief in +."""
        if users == 0:
            return max(belief, 1 - belief)
        first, second = inputs(self.weight, self.lean)
        columns = staircases(len(first), self.epsilon)
        left, right = belief * (columns @ first), (1 - belief) * (columns @ second)
        values = {round(p, 14): self.success(users - 1, p) for p in left / (left + right)}
        gains = [(a + b) * values[round(a / (a + b), 14)] for a, b in zip(left, right, strict=True)]
        return best_channel(columns, np.array(gains))

    def open_success(self, users: int) -> float:
        """Return that of the majority of the labels themselves, which has no privacy."""
        first, _ = inputs(self.weight, self.lean)
        seen = np.arange(users + 1)
        chances = binom.pmf(seen, users, self.weight)
        wrong = [binom.cdf((k - 1) // 2, k, first[0] / self.weight) for k in seen]
        tied = [binom.pmf(k // 2, k, first[0] / self.weight) / 2 if k % 2 == 0 else 0.0 for k in seen]
        return float(1 - chances @ (np.array(wrong) + np.array(tied)))

    def bound(self, users: int) -> float:
        """Return (1 - sqrt(D)) / 2, D = 2 N (e^epsilon - 1)^2 (w b)^2: no rule errs less."""
        information = 2 * users * math.expm1(self.epsilon) ** 2 * (self.weight * self.lean) ** 2
        return 0.5 * (1 - math.sqrt(min(1.0, information)))


def divergence_cases(part: float = 4.0) -> Cases:
    """Compare the largest divergence of a message with 4 (e^epsilon - 1)^2 TV^2; the rest whole, or in three parts."""
    return [
        (
            f"eps={epsilon:g} w={w:g} b={b:g}, rest in {parts}",
            most_divergence(epsilon, w, b, parts),
            part * math.expm1(epsilon) ** 2 * (w * b) ** 2,
        )
        for epsilon, w, b in _SETTINGS
        for parts in (1, 3)
    ]


def information_cases() -> Cases:
    """Compare N times the largest divergence, over 2, with the D of the families: Pinsker gives sqrt(D)."""
    cases = []
    for name, family in FAMILIES.items():
        for users in (1e4, 1e8, 1e14):
            for epsilon in (0.1, 1.0):
                known = family(users, epsilon)
                one = most_divergence(epsilon, known.weight, known.bump)
                cases.append((f"{name} N={users:g} eps={epsilon:g}", users * one / 2, known.information * (1 + 1e-6)))
    return cases


def error_cases(private: bool = True) -> Cases:
    """Compare the least error of every interactive rule of up to three users with the bound; or that of open labels."""
    cases = []
    for epsilon, w, b in ((0.1, 1.0, 0.5), (0.5, 0.5, 0.5), (1.0, 0.3, 0.2)):
        test = SignTest(epsilon, w, b)
        for users in (1, 2, 3) if private else (3, 9):
            success = test.success(users) if private else test.open_success(users)
            cases.append((f"eps={epsilon:g} w={w:g} b={b:g} N={users}", 1 - success, test.bound(users)))
    return cases


def rate_cases() -> Cases:
    """Compare the bound of the families with c (N epsilon^2)^-rate, c = 1/25 and 1/150, for N epsilon^2 >= 1."""
    rates = {"d=1 gamma=0": (1 / 4, 1 / 25), "d=2 gamma=1": (1 / 3, 1 / 150)}
    return [
        (
            f"{name} N={users:g} eps={epsilon:g}",
            FAMILIES[name](users, epsilon).lower_bound,
            constant * (users * epsilon**2) ** -rate,
        )
        for name, (rate, constant) in rates.items()
        for users in _SIZES
        for epsilon in (0.01, 0.1, 1.0)
        if users * epsilon**2 >= 1
    ]


def any_size_cases() -> Cases:
    """Compare 1, more than which no excess is, with c (n alpha^2)^-rate for n = 1 and a small alpha, for three c."""
    cases = []
    for constant in (0.1, 1e-3, 1e-6):
        alpha = (constant / 2) ** 2
        cases.append((f"c={constant:g} n=1 alpha={alpha:.3g}", 1.0, constant * alpha**-0.5))
    return cases


def rule_check(name: str, statement: str, values: Any, **settings: Any) -> InequalityCheck:
    """Return a check about every rule."""
    return InequalityCheck(name=name, source=THEOREM, statement=statement, values=values, **settings)


CHECKS: list[InequalityCheck] = [
    rule_check(
        "local/every rule, one message",
        "No epsilon-private channel tells more than 4 (e^epsilon - 1)^2 TV^2, by linear programming over all of them.",
        divergence_cases,
    ),
    rule_check(
        "local/every rule, N messages",
        "N channels, each chosen after the messages before it, tell no more than D of the families.",
        information_cases,
    ),
    rule_check(
        "local/every rule, a few users",
        "The best interactive rule of up to three users errs as often as the bound says.",
        error_cases,
        sense=">=",
    ),
    rule_check(
        "local/every rule, rate",
        "The bound for every rule is c (N epsilon^2)^-(beta (1 + gamma) / (2 beta + 2 d)) where N epsilon^2 >= 1.",
        rate_cases,
        sense=">=",
    ),
    rule_check(
        "local/every rule, any n and alpha as printed",
        "The same for every n and alpha, d = beta = 1, gamma = 0; false: no excess is above 1.",
        any_size_cases,
        sense=">=",
        expected=Verdict.FAIL,
    ),
]
