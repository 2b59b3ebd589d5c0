"""Change discrete samplers by one token at a time, and see which test notices.

`python -m benchmarks.enumeration.mutants` prints the table of `docs/proof.md`. A mutant is killed by its law where it
is known that delta of the pair, at the epsilon of the original, exceeds 2^-40, or that its law is another one than the
original's. Chi-square and Kolmogorov-Smirnov kill it where the test of 10,000 outputs against the original's law has
p < 0.001. The statistical audit kills it by FAIL at the epsilon of the original, with 1,000,000 outputs of each side.
They are drawn from the table of the law of the mutant, theirs up to 2^-42: that takes seconds in place of hours.
"""

from __future__ import annotations

import inspect
import random
import types
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import stats

import audit
from audit.extensions.enumeration.enumerated_law import EnumeratedLaw, delta_bracket
from benchmarks.enumeration import samplers

OUTPUTS = 10_000
AUDITED = 1_000_000
LEVEL = 0.001
TOLERANCE = Fraction(1, 2**40)

Call = Callable[[types.ModuleType, Any, random.Random], Any]
ACCEPT = "if rng.random() < math.exp(epsilon * (scores[index] - best) / 2):\n            return index\n    raise"
CASES: dict[str, tuple[Call, float, Any, Any, list[tuple[str, str]]]] = {
    "laplace": (
        lambda m, d, rng: d + m.discrete_laplace(2, rng),
        0.5,
        0,
        1,
        [
            ("k = 1", "k = 2"),
            ("gamma / k, rng", "gamma * k, rng"),
            ("k += 1", "k += 2"),
            ("return k % 2 == 1", "return k % 2 == 0"),
            ("return k % 2 == 1", "return k % 3 == 1"),
            ("u = rng.randrange(scale)", "u = rng.randrange(scale + 1)"),
            ("if not bernoulli_exp_small(Fraction(u", "if bernoulli_exp_small(Fraction(u"),
            ("Fraction(u, scale), rng", "Fraction(u, scale + 1), rng"),
            ("        v = 0", "        v = 1"),
            ("            v += 1", "            v += 2"),
            ("x = u + scale * v", "x = u - scale * v"),
            ("x = u + scale * v", "x = scale * v"),
            ("is_negative = bernoulli(Fraction(1, 2), rng)", "is_negative = bernoulli(Fraction(1, 3), rng)"),
            ("if is_negative and x == 0:", "if is_negative and x == 1:"),
            ("if is_negative and x == 0:", "if is_negative or x == 0:"),
            ("return -x if is_negative else x", "return x if is_negative else x"),
            ("rng.randrange(p.denominator) < p.numerator", "rng.randrange(p.denominator) <= p.numerator"),
        ],
    ),
    "geometric": (
        lambda m, d, rng: d + m.geometric(1.0, rng),
        1.0,
        0,
        1,
        [
            ("r = math.exp(-epsilon)", "r = math.exp(-epsilon) + 1e-5"),
            ("r = math.exp(-epsilon)", "r = 1 - math.exp(-epsilon)"),
            ("    value = 0", "    value = 1"),
            ("value -= 1", "value -= 2"),
            ("value -= 1", "value += 1"),
        ],
    ),
    "response": (
        lambda m, d, rng: m.randomized_response(d, 4, 1.0, rng),
        1.0,
        0,
        2,
        [
            ("+ labels - 1)", "+ labels)"),
            ("+ labels - 1)", "+ labels - 1 - 1e-4)"),
            ("value + 1 + rng", "value + rng"),
            ("rng.randrange(labels - 1)) %", "rng.randrange(labels)) %"),
            ("if rng.random() < keep", "if rng.random() > keep"),
        ],
    ),
    "permute-and-flip": (
        lambda m, d, rng: m.permute_and_flip(d, 1.0, rng),
        1.0,
        (3, 1, 2),
        (2, 2, 1),
        [
            ("left.pop(rng.randrange(len(left)))", "left.pop(0)"),
            (ACCEPT, ACCEPT.replace(" / 2", "")),
            ("best = max(scores)\n    left", "best = min(scores)\n    left"),
            (ACCEPT, ACCEPT.replace("/ 2", "/ 2.0001")),
            (ACCEPT, ACCEPT.replace("rng.random()", "rng.random() - 2.0**-33")),
        ],
    ),
    "clamped count": (
        lambda m, d, rng: m.noisy_count(d, 1, rng),
        1.0,
        (0, 0, 1),
        (0, 1, 1),
        [
            ("min(len(values), max(0,", "min(sum(values), max(0,"),
            ("max(0, sum(values)", "max(1, sum(values)"),
            ("sum(values) + discrete_laplace(scale, rng)", "len(values) + discrete_laplace(scale, rng)"),
        ],
    ),
}


def mutated(old: str, new: str) -> types.ModuleType:
    """Return the samplers with one token replaced, where it stands first."""
    source = inspect.getsource(samplers)
    assert old in source, old
    module = types.ModuleType("mutant")
    exec(compile(source.replace(old, new, 1), "mutant", "exec"), vars(module))
    return module


def law_of(module: types.ModuleType, call: Call, data: Any) -> EnumeratedLaw:
    """Return the law of a call of the samplers of a module."""
    mechanism = audit.per_call(lambda d, rng: call(module, d, rng))
    return audit.enumerate_law(mechanism, data, rng="random", residual=2.0**-42, time_limit=5.0, states=20_000)


def total_variation(one: EnumeratedLaw, other: EnumeratedLaw) -> Fraction:
    """Return a lower bound of the distance of two laws."""
    more = sum((max(Fraction(0), p - other.texts.get(text, Fraction(0))) for text, p in one.texts.items()), Fraction(0))
    return more - other.residual


def pvalues(law: EnumeratedLaw, outputs: list[Any]) -> tuple[float, float]:
    """Return the p-values of chi-square and of Kolmogorov-Smirnov (on the outputs in their order)."""
    expected: Mapping[Any, float] = {value: float(p) for value, p in law.probabilities.items()}
    counts = Counter(outputs)
    cells = [value for value, p in expected.items() if p * len(outputs) >= 5]
    seen = [counts[value] for value in cells]
    due = [expected[value] * len(outputs) for value in cells]
    seen, due = [*seen, len(outputs) - sum(seen)], [*due, max(1e-9, len(outputs) - sum(due))]
    square = sum((a - b) ** 2 / b for a, b in zip(seen, due, strict=True))
    values = sorted({*expected, *counts})
    steps = np.cumsum([expected.get(value, 0.0) for value in values])
    found = np.cumsum([counts[value] for value in values]) / len(outputs)
    distance = float(np.max(np.abs(steps - found)))
    return float(stats.chi2.sf(square, len(cells))), float(stats.kstwobign.sf(distance * len(outputs) ** 0.5))


class Tabled:
    """A mechanism that draws from the tables of two laws."""

    def __init__(self, laws: Mapping[Any, EnumeratedLaw]) -> None:
        self.laws = laws

    def __call__(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Draw outputs; an exception that the code raises is an output, as text."""
        values = list(self.laws[data].probabilities)
        if not all(isinstance(value, (int, bool)) for value in values):
            values = list(map(str, values))
        weights = np.array([float(p) for p in self.laws[data].probabilities.values()])
        return np.array(values)[rng.choice(len(values), size, p=weights / weights.sum())]


def is_refuted(laws: list[EnumeratedLaw], left: Any, right: Any, epsilon: float) -> bool:
    """Return whether the statistical audit refutes the epsilon of the original."""
    claim = audit.PrivacyClaim(epsilon, relation=audit.Local())
    mechanism = Tabled({left: laws[0], right: laws[1]})
    result = audit.check_privacy(mechanism, claim, [(left, right)], method="fixed", budget=AUDITED, workers=0)
    return result.verdict is audit.Verdict.FAIL


def main() -> None:
    """Print one row per mutant, and the sums."""
    print("| sampler | token | becomes | delta at epsilon | distance | law | chi-square | KS | audit |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    killed = Counter[str]()
    for name, (call, epsilon, left, right, changes) in CASES.items():
        original = law_of(samplers, call, left)
        for old, new in changes:
            module = mutated(old, new)
            laws = [law_of(module, call, data) for data in (left, right)]
            delta = max(delta_bracket(*pair, epsilon).lower for pair in (laws, laws[::-1]))
            distance = max(Fraction(0), total_variation(laws[0], original), total_variation(original, laws[0]))
            by_law = delta > TOLERANCE or distance > 0
            if laws[0].residual > Fraction(1, 2):  # no test gets an output of such a mutant, and there is no law of it
                print(f"| {name} | `{old}` | `{new}` | | |{' does not end |' * 4}", flush=True)
                killed.update({"does not end": 1})
                continue
            rng = random.Random(1)
            square, ks = pvalues(original, [call(module, left, rng) for _ in range(OUTPUTS)])
            refuted = is_refuted(laws, left, right, epsilon)
            tests = {"law": by_law, "chi-square": square < LEVEL, "KS": ks < LEVEL, "audit": refuted}
            breaks = {"breaks the claim": delta > TOLERANCE}
            killed.update({**tests, **breaks, "audit, of these": refuted and delta > TOLERANCE, "all": 1})
            marks = ["killed" if found else "-" for found in tests.values()]
            tokens = [f"`{text.split(chr(10))[0].strip()}`" for text in (old, new)]
            row = (name, *tokens, f"{float(delta):.2g}", f"{float(distance):.2g}", *marks)
            print(f"| {' | '.join(row)} |", flush=True)
    print(dict(killed))


if __name__ == "__main__":
    main()
