"""Audit correct mechanisms of many kinds of outputs at the defaults, and the same with half of the noise.

    python -m benchmarks.outputs_at_the_defaults [correct] [half] [tight] [sparse] [frame] [--only NAME] [--seeds N]

`correct` prints verdict and CPU seconds for each, `half` how many of the seeds are a FAIL with noise half as large.
`tight` audits 40 true claims that hold with equality. `sparse` prints the certified bounds of a sparse vector of 10
queries at 100,000 outputs per dataset, beside its true epsilon by quadrature, and beside the bounds of a game whose
events are known in advance, and in which no output trains. `frame` is a data frame with text.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import math
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import scipy

import audit
from audit.statistics.guess_game import logit_lower_bound
from benchmarks.bugs.at_one import MIXED, ONES
from benchmarks.bugs.sparse_vector import SparseVector, svt1

LOCAL = audit.Local()  # a dataset is whatever differs
GAUSSIAN = 3.7306316  # scale of the noise for (1, 1e-5) at a sensitivity of 1
PURE, APPROXIMATE = audit.PrivacyClaim(1.0, relation=LOCAL), audit.PrivacyClaim(1.0, 1e-5, LOCAL)
DIMENSIONS = (2, 7, 20, 50, 100, 1000)
Rng = np.random.Generator
Subject = tuple[Callable[..., Any], Any, tuple[Any, Any]]  # mechanism, claim, pair


def subjects(share: float = 1.0) -> Iterator[tuple[str, Subject]]:
    """Yield mechanisms with this share of the noise that their claims need."""
    for d in DIMENSIONS:
        one, dense = np.eye(d)[0], np.full(d, d**-0.5)
        yield f"Laplace vector d={d}", (Added(share, "laplace", d), PURE, (np.zeros(d), one))
        yield f"Gaussian vector d={d}", (Added(share * GAUSSIAN, "normal", d), APPROXIMATE, (np.zeros(d), dense))
    bins = np.arange(100.0)
    yield "histogram of 100 bins", (Added(share, "laplace", 100), PURE, (bins, bins + np.eye(100)[40]))
    yield "tree counter T=16", (lambda x, n, rng: counted(x, n, rng, share), PURE, (np.zeros(16), np.eye(16)[0]))
    mean = np.full(50, 50**-0.5) / 20
    yield "clipped mean d=50", (Added(share * GAUSSIAN / 10, "normal", 50), APPROXIMATE, (mean, -mean))
    yield "unary encoding of 20 bits", (lambda x, n, rng: unary(x, n, rng, share), PURE, (0, 1))
    yield "bit beside uniform numbers", (lambda x, n, rng: beside_uniform(x, n, rng, share), PURE, (0, 1))
    yield "table of 20 rows", (lambda x, n, rng: table(x, n, rng, share), PURE, (np.arange(20.0), bumped(20)))
    yield "transcript of 5 answers", (lambda x, n, rng: transcript(x, n, rng, share), PURE, (0.0, 1.0))


class Added:
    """A vector with independent noise on each coordinate."""

    def __init__(self, scale: float, noise: str, width: int) -> None:
        self.scale, self.noise, self.width = scale, noise, width

    def __call__(self, data: Any, size: int, rng: Rng) -> np.ndarray:
        """Return outputs, shape (size, width)."""
        return np.asarray(data + getattr(rng, self.noise)(scale=self.scale, size=(size, self.width)))


def counted(data: Any, size: int, rng: Rng, share: float) -> np.ndarray:
    """Return running counts of 16 bits from a binary tree of noisy sums, of which each bit is in five."""
    total = np.zeros((size, 16))
    for level in range(5):
        width = 2**level
        sums = data.reshape(-1, width).sum(axis=1)
        noisy = sums + rng.laplace(scale=5 * share, size=(size, len(sums)))
        for end in range(1, 17):
            if end >> level & 1:
                total[:, end - 1] += noisy[:, (end >> level) - 1]
    return total


def unary(data: int, size: int, rng: Rng, share: float) -> np.ndarray:
    """Return the 20 bits of a value in unary, each kept at half of epsilon."""
    return np.where(
        rng.random((size, 20)) < scipy.special.expit(0.5 / share), np.arange(20) == data, np.arange(20) != data
    )


def beside_uniform(data: int, size: int, rng: Rng, share: float) -> np.ndarray:
    """Return two uniform numbers and a bit that is kept at epsilon."""
    kept = rng.random(size) < scipy.special.expit(1 / share)
    return np.column_stack([rng.random((size, 2)), kept == data])


def bumped(rows: int) -> np.ndarray:
    return np.arange(float(rows)) + np.eye(rows)[7]


def table(data: Any, size: int, rng: Rng, share: float) -> list[list[tuple[str, float]]]:
    """Return tables of names and noisy counts."""
    noisy = data + rng.laplace(scale=share, size=(size, len(data)))
    return [[(f"group {row}", value) for row, value in enumerate(values)] for values in noisy.tolist()]


def transcript(data: Any, size: int, rng: Rng, share: float) -> list[list[dict[str, Any]]]:
    """Return conversations of five questions, each answered at a fifth of epsilon."""
    noisy = data + rng.laplace(scale=5 * share, size=(size, 5))
    return [[{"query": f"count {turn}", "answer": answer} for turn, answer in enumerate(row)] for row in noisy.tolist()]


def frame(data: Any, size: int, rng: Rng) -> pd.DataFrame:
    """Return a row of a noisy number and a text for each output."""
    return pd.DataFrame({"a": data + rng.laplace(size=size), "c": np.where(rng.random(size) < 0.5, "x", "y")})


def tight() -> Iterator[tuple[str, Subject]]:
    """Yield 40 mechanisms of odd shapes whose claims hold with equality between the records 0 and 1."""
    for epsilon in (0.5, 1.0, 2.0, 3.0):
        keep, ratio = scipy.special.expit(epsilon), 1 - math.exp(-epsilon)

        def noise(n: int, rng: Rng, e: float = epsilon) -> np.ndarray:
            return rng.laplace(scale=1 / e, size=n)

        def bit(x: float, n: int, rng: Rng, p: float = keep) -> np.ndarray:
            return np.where(rng.random(n) < p, int(x), 1 - int(x))

        def steps(x: float, n: int, rng: Rng, q: float = ratio) -> np.ndarray:
            return int(x) + rng.geometric(q, n) - rng.geometric(q, n)

        shapes: dict[str, Callable[..., Any]] = {
            "number": lambda x, n, rng, f=noise: x + f(n, rng),
            "clipped number": lambda x, n, rng, f=noise: np.clip(x + f(n, rng), 0, 1),
            "rounded number": lambda x, n, rng, f=noise: np.round(x + f(n, rng), 1),
            "bit": bit,
            "text": lambda x, n, rng, f=bit: [("no", "yes")[int(b)] for b in f(x, n, rng)],
            "None or a number": lambda x, n, rng, f=bit: [None if b else 7 for b in f(x, n, rng)],
            "integer": steps,
            "integer modulo 5": lambda x, n, rng, f=steps: f(x, n, rng) % 5,
            "list of varying length": lambda x, n, rng, f=bit: [[0] * (1 + int(b)) for b in f(x, n, rng)],
            "pair of text and number": lambda x, n, rng, f=noise: [("sum", v) for v in (x + f(n, rng)).tolist()],
        }
        for name, shape in shapes.items():
            claim = audit.PrivacyClaim(epsilon, relation=LOCAL)
            yield f"{name}, epsilon {epsilon:g}", (shape, claim, (0.0, 1.0))


def audited(subject: Subject, seed: int, **settings: Any) -> tuple[audit.PrivacyResult, float]:
    """Return the result of an audit at the defaults, and its CPU seconds."""
    began = time.process_time()
    mechanism, claim, pair = subject
    result = audit.check_privacy(mechanism, claim, [pair], seed=seed, workers=0, **settings)
    return result, time.process_time() - began


def probabilities(mechanism: SparseVector, pair: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return those of the first query above, or of none, on each of a pair; shape (2, n + 1), by quadrature."""
    grid, weight = np.polynomial.legendre.leggauss(4_000)
    rho, scale = 30 * mechanism.threshold_scale * grid, mechanism.threshold_scale
    density = 15 * weight * np.exp(-np.abs(rho) / scale)
    chances = []
    for answers in pair:
        above = scipy.stats.laplace.sf(mechanism.threshold + rho[:, None], loc=answers, scale=mechanism.query_scale)
        first = np.cumprod(np.concatenate([np.ones((len(rho), 1)), 1 - above], axis=1), axis=1)
        chances.append(density @ np.concatenate([first[:, :-1] * above, first[:, -1:]], axis=1))
    return np.array(chances)


def known_in_advance(chances: np.ndarray, runs: int) -> np.ndarray:
    """Return the bounds of 500 times 16 games with the events that promise most, by the counts that they expect."""
    ordered = chances[:, np.argsort(chances[1] / chances[0])]
    upto = np.concatenate([[[0.0], [0.0]], np.cumsum(ordered, axis=1)], axis=1)
    n, events = ordered.shape[1], list[tuple[float, float, float]]()
    for first, last in itertools.combinations_with_replacement(range(n + 1), 2):  # guess left before, right from `last`
        right_guess = (upto[0, first] + upto[1, n] - upto[1, last]) / 2
        wrong_guess = (upto[1, first] + upto[0, n] - upto[0, last]) / 2
        if last > 0 and (first, last) != (0, n):
            events.append((bound(runs * right_guess, runs * wrong_guess), right_guess, wrong_guess))
    _, right_guess, wrong_guess = max(events)
    shares = [right_guess, wrong_guess, max(0.0, 1 - right_guess - wrong_guess)]
    seen = np.random.default_rng(0).multinomial(runs, shares, size=8_000)
    return np.array([bound(*counts) for counts in seen[:, :2].tolist()]).reshape(-1, 16)


def bound(right_guesses: float, wrong_guesses: float) -> float:
    """Return the bound that these counts certify at the default significance."""
    return logit_lower_bound(round(right_guesses), round(right_guesses + wrong_guesses), 0.05)


def main() -> None:
    """Print one line for each subject."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", default=["correct", "half", "tight", "sparse", "frame"])
    parser.add_argument("--only", default="", help="part of the name of the subjects of `correct` and `half`")
    parser.add_argument("--seeds", type=int, default=1)
    asked = parser.parse_args()
    if "correct" in asked.parts:
        for (name, subject), seed in itertools.product(subjects(), range(asked.seeds)):
            if asked.only in name:
                result, seconds = audited(subject, seed)
                print(f"{name:26} {result.verdict} {seconds:5.1f} CPU s  {result.reason[:110]}", flush=True)
    if "half" in asked.parts:
        for name, subject in subjects(0.5):
            if asked.only in name:
                found = [audited(subject, seed) for seed in range(asked.seeds)]
                fails = sum(result.verdict is audit.Verdict.FAIL for result, _ in found)
                seconds = statistics.median(spent for _, spent in found)
                print(f"{name:26} half the noise: FAIL {fails} of {len(found)}, {seconds:5.1f} CPU s", flush=True)
    if "tight" in asked.parts:
        counts = collections.Counter[str]()
        for name, subject in tight():
            result, _ = audited(subject, 1)
            counts[str(result.verdict)] += 1
            if result.verdict is not audit.Verdict.PASS:
                print(f"{name:40} {result.verdict}: {result.reason[:200]}", flush=True)
        print(f"{counts.total()} tight claims: {dict(counts)}", flush=True)
    if "sparse" in asked.parts:
        claim = audit.PrivacyClaim(1.0, relation=LOCAL)
        mechanism, pair = svt1(1.0), (ONES, MIXED)
        runs = [audited((mechanism, claim, pair), seed, budget=100_000, method="fixed") for seed in range(16)]
        bounds = sorted(result.epsilon_lower_bound for result, _ in runs)
        chances = probabilities(mechanism, pair)
        truth, best = np.abs(np.log(chances[0] / chances[1])).max(), known_in_advance(chances, 200_000)
        said = f"median {statistics.median(bounds):.3f}, least {bounds[0]:.3f} of {len(bounds)} seeds"
        print(f"sparse vector of 10, true epsilon {truth:.3f}: {said}", flush=True)
        said = f"median {np.median(best):.3f}, least of 16 {np.median(best.min(axis=1)):.3f} in the median"
        print(f"events known in advance, all outputs certify: {said}", flush=True)
    if "frame" in asked.parts:
        result, seconds = audited((frame, PURE, (0.0, 1.0)), 0)
        print(f"frame with text: {result.verdict}, {seconds:.2f} CPU s", flush=True)


if __name__ == "__main__":
    main()
