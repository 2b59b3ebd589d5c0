"""A library that offers every query of `audit.conformance`, in exact arithmetic: it must fail nowhere.

Records are fractions within their bounds; noise is added to their sums as a fraction, and the result is rounded once.
Records that are no numbers, NaN among them, count as the lower bound, and infinite ones as the nearer bound, so that
nothing is refused because of the data. Textbook mechanisms: Dwork & Roth 2014, sections 3.3 to 3.6 (Laplace noise, the
exponential mechanism, above threshold); Balle & Wang 2018 (Gaussian noise); Canonne, Kamath & Steinke 2020 (discrete
Gaussian noise); Korolova et al. 2009 (discovered keys); Chaudhuri, Monteleoni & Sarwate 2011 (perturbed outputs); Su et
al. 2016 (k-means). Double-precision effects of the noise are outside of every claim.
"""

import math
import pickle
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from audit.extensions.conformance import Library, Parameters
from mechanisms.gaussian import analytic_deviation

Release = Callable[..., Any]
_WIDE = 2.0**40  # above, NumPy's geometric numbers are cut at 64 bits, and their last digits are those of a float


_REMEMBERED = 8  # datasets: both sides of a few pairs


def once(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that computes the value of a dataset once, for the last few datasets: outputs share it."""
    values: dict[bytes, Any] = {}

    def remembered(data: Any) -> Any:
        key = pickle.dumps(data)  # a text may leave out the middle of a long dataset
        if key not in values:
            if len(values) >= _REMEMBERED:
                del values[next(iter(values))]
            values[key] = function(data)
        return values[key]

    return remembered


def number(value: Any, p: Parameters) -> Fraction:
    """Return a record within the bounds; anything but a number counts as the lower one."""
    if not isinstance(value, (int, float)) or value != value:
        return Fraction(p.lower)
    if math.isinf(value):
        return Fraction(p.upper if value > 0 else p.lower)
    return min(max(Fraction(value), Fraction(p.lower)), Fraction(p.upper))


def numbers(data: Any, p: Parameters) -> list[Fraction]:
    """Return the records within the bounds."""
    return [number(value, p) for value in data]


def row(values: Any, p: Parameters) -> np.ndarray:
    """Return a row of two numbers of norm at most the radius; zeros where it holds anything else."""
    if not all(isinstance(value, (int, float)) and math.isfinite(value) for value in values):
        return np.zeros(2)
    found = np.array(values, dtype=float)
    return found / max(1.0, float(np.linalg.norm(found)) / p.radius)


def rounded(value: Fraction) -> float:
    """Return the nearest floating-point number, infinite where it is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def noisy(value: Fraction | int, scale: Fraction, rng: np.random.Generator) -> float:
    """Add Laplace noise exactly, and round once."""
    return rounded(value + scale * Fraction(float(rng.laplace())))


def geometric(scale: float, rng: np.random.Generator) -> int:
    """Draw a two-sided geometric number: P(k) is proportional to exp(-|k| / scale)."""
    return _one_sided(scale, rng) - _one_sided(scale, rng)


def _one_sided(scale: float, rng: np.random.Generator) -> int:
    """Draw a number >= 0 whose probabilities fall by exp(-1 / scale): high and low digits are independent."""
    if scale < _WIDE:
        return int(rng.geometric(-math.expm1(-1 / scale))) - 1
    base = 2 ** math.floor(math.log2(scale))
    while True:
        low = int.from_bytes(rng.bytes(16), "little") % base
        if rng.random() < math.exp(-low / scale):
            return (int(rng.geometric(-math.expm1(-base / scale))) - 1) * base + low


def discrete_gaussian(deviation: float, rng: np.random.Generator) -> int:
    """Draw a discrete Gaussian number by rejection from a geometric one: Canonne et al. 2020, algorithm 3."""
    scale = math.floor(deviation) + 1
    while True:
        drawn = geometric(scale, rng)
        if rng.random() < math.exp(-((abs(drawn) - deviation**2 / scale) ** 2) / (2 * deviation**2)):
            return drawn


def chosen(utilities: Any, epsilon: float, rng: np.random.Generator) -> int:
    """Draw an index by the exponential mechanism, for utilities that a record changes by at most 1."""
    logs = np.array([epsilon * float(value) / 2 for value in utilities])
    return int(np.argmax(logs + rng.gumbel(size=len(logs))))


def counted(data: Any, keys: Any) -> list[int]:
    """Return how often each key occurs, by its text: records may be of any type."""
    counts = Counter(map(repr, data))
    return [counts[repr(key)] for key in keys]


def spread(p: Parameters) -> Fraction:
    """Return the distance of the bounds."""
    return Fraction(p.upper) - Fraction(p.lower)


def sum_sensitivity(p: Parameters, moved: int) -> Fraction:
    """Return how far one record moves a sum: `moved` is 2 where it is replaced and 1 where it comes or goes."""
    return spread(p) if moved == 2 else max(abs(Fraction(p.lower)), abs(Fraction(p.upper)))


def reference(relation: str = "substitution") -> Library:
    """Return the library under a relation."""
    library = Library("reference", relation=relation, quote="this module's docstring")
    _answer_numbers(library, 2 if relation == "substitution" else 1)
    _answer_keys(library, 2 if relation == "substitution" else 1)
    _answer_noise(library)
    _answer_choices(library)
    _answer_rows(library, 2 if relation == "substitution" else 1)
    return library


def _answer_numbers(library: Library, moved: int) -> None:
    def moments(p: Parameters, most: int) -> Release:
        """Return the noisy number of records, and the noisy sums of powers of the differences from the middle."""
        middle, half = (Fraction(p.lower) + Fraction(p.upper)) / 2, spread(p) / 2
        powers = once(
            lambda data: [sum(((x - middle) ** k for x in numbers(data, p)), Fraction(0)) for k in range(most)]
        )
        changes = [Fraction(1), half, half**2][:most]
        share = Fraction(p.epsilon) / most
        if moved == 2:  # the number of records is public; a replaced one moves the sums by twice as much, at most
            changes = [Fraction(0), 2 * half, half**2]

        def release(data: Any, rng: np.random.Generator) -> list[Fraction]:
            pairs = zip(powers(data), changes, strict=False)
            return [value + change / share * Fraction(float(rng.laplace())) for value, change in pairs]

        return lambda data, rng: (middle, release(data, rng))

    def average(found: Any) -> float:
        middle, (size, first, *_) = found
        return rounded(middle + first / max(size, Fraction(1)))

    def variance(found: Any) -> Fraction:
        _, (size, first, second) = found
        size = max(size, Fraction(1))
        return max(second / size - (first / size) ** 2, Fraction(0))

    def of_moments(most: int, change: Callable[[Any], float]) -> Callable[[Parameters], Release]:
        def build(p: Parameters) -> Release:
            release = moments(p, most)
            return lambda data, rng: change(release(data, rng))

        return build

    library.query("count")(lambda p: lambda data, rng: noisy(len(data), 1 / Fraction(p.epsilon), rng))
    library.query("mean")(of_moments(2, average))
    library.query("variance")(of_moments(3, lambda found: rounded(variance(found))))
    library.query("standard deviation")(of_moments(3, lambda found: math.sqrt(rounded(variance(found)))))

    @library.query(
        "sum",
        sensitivity=lambda p: sum_sensitivity(p, moved),
        noiseless=lambda p: lambda data: sum(numbers(data, p), Fraction(0)),
    )
    def _(p: Parameters) -> Release:
        total, scale = once(lambda data: sum(numbers(data, p), Fraction(0))), sum_sensitivity(p, moved)
        if p.whole:
            width = float(scale / Fraction(p.epsilon))
            return lambda data, rng: rounded(Fraction(int(total(data)) + geometric(width, rng)))
        return lambda data, rng: noisy(total(data), scale / Fraction(p.epsilon), rng)

    def of_rank(p: Parameters, quantile: float) -> Release:
        grid = p.grid()
        below = once(lambda data: [sum(x < Fraction(c) for x in numbers(data, p)) for c in grid])
        utilities = once(lambda data: [-abs(rank - quantile * len(data)) for rank in below(data)])
        return lambda data, rng: grid[chosen(utilities(data), p.epsilon, rng)]

    library.query("quantile")(lambda p: of_rank(p, p.quantile))
    library.query("median")(lambda p: of_rank(p, 0.5))
    library.query("minimum")(lambda p: of_rank(p, 0.0))
    library.query("maximum")(lambda p: of_rank(p, 1.0))

    @library.query("histogram of numbers")
    def _(p: Parameters) -> Release:
        edges = [Fraction(edge) for edge in p.edges[1:-1]]
        bins = once(lambda data: Counter(sum(x >= edge for edge in edges) for x in numbers(data, p)))
        scale = moved / Fraction(p.epsilon)
        return lambda data, rng: [noisy(bins(data)[i], scale, rng) for i in range(len(edges) + 1)]


def _answer_keys(library: Library, moved: int) -> None:
    def histogram(p: Parameters) -> Release:
        counts, scale = once(lambda data: counted(data, p.categories)), moved / Fraction(p.epsilon)
        return lambda data, rng: [noisy(count, scale, rng) for count in counts(data)]

    library.query("histogram of public keys")(histogram)

    def discovered(p: Parameters, least: float = 0.0) -> Release:
        width = moved / p.epsilon
        threshold = max(least, 1 + width * math.log(moved / (2 * p.delta)))
        counts = once(lambda data: sorted(Counter(map(repr, data)).items()))

        def release(data: Any, rng: np.random.Generator) -> dict[str, float]:
            found = {key: noisy(count, Fraction(width), rng) for key, count in counts(data)}
            return {key: value for key, value in found.items() if value >= threshold}

        return release

    library.query("histogram of discovered keys")(discovered)
    library.query("thresholded counts")(lambda p: discovered(p, p.threshold))

    @library.query("top-k")
    def _(p: Parameters) -> Release:
        counts = once(lambda data: counted(data, p.categories))

        def release(data: Any, rng: np.random.Generator) -> list[str]:
            left = list(zip(p.categories, counts(data), strict=True))
            picked = []
            for _ in range(min(p.k, len(left))):
                at = chosen([count for _, count in left], p.epsilon / p.k, rng)
                picked.append(left.pop(at)[0])
            return picked

        return release

    @library.query("synthetic table")
    def _(p: Parameters) -> Release:
        counts = histogram(p)

        def release(data: Any, rng: np.random.Generator) -> list[str]:
            weights = np.clip(counts(data, rng), 1e-9, None)
            return [str(key) for key in rng.choice(p.categories, size=4, p=weights / weights.sum())]

        return release


def _answer_noise(library: Library) -> None:
    @library.query("laplace noise", native="usual")
    def _(p: Parameters) -> Release:
        scale = Fraction(p.sensitivity) / Fraction(p.epsilon) if p.scale is None else Fraction(p.scale)
        return lambda value, rng: noisy(Fraction(value), scale, rng)

    @library.query("gaussian noise", native="usual")
    def _(p: Parameters) -> Release:
        unit = analytic_deviation(p.epsilon, p.delta) if p.scale is None else p.scale / p.sensitivity
        deviation = Fraction(unit) * Fraction(p.sensitivity)
        return lambda value, rng: rounded(Fraction(value) + deviation * Fraction(float(rng.normal())))

    @library.query("geometric noise", native="usual")
    def _(p: Parameters) -> Release:
        scale = p.sensitivity / p.epsilon if p.scale is None else p.scale
        return lambda value, rng: value + geometric(scale, rng)

    @library.query("discrete gaussian noise", native="usual")
    def _(p: Parameters) -> Release:
        root = math.sqrt(math.log(1 / p.delta) + p.epsilon) - math.sqrt(math.log(1 / p.delta))  # of rho
        deviation = p.sensitivity / (math.sqrt(2) * root) if p.scale is None else p.scale
        return lambda value, rng: value + discrete_gaussian(deviation, rng)


def _answer_choices(library: Library) -> None:
    library.query("exponential mechanism")(
        lambda p: lambda scores, rng: chosen([score / p.sensitivity for score in scores], p.epsilon, rng)
    )

    @library.query("noisy max")
    def _(p: Parameters) -> Release:
        scale = 2 * p.sensitivity / p.epsilon
        return lambda scores, rng: int(np.argmax(np.array(scores) + rng.laplace(scale=scale, size=len(scores))))

    @library.query("sparse vector")
    def _(p: Parameters) -> Release:
        scale = p.sensitivity / p.epsilon

        def release(answers: Any, rng: np.random.Generator) -> int:
            above = np.array(answers) + rng.laplace(scale=4 * scale, size=len(answers))
            over = np.flatnonzero(above >= p.threshold + rng.laplace(scale=2 * scale))
            return int(over[0]) if len(over) else -1

        return release

    @library.query("randomized response")
    def _(p: Parameters) -> Release:
        others = len(p.categories) - 1
        keep = 1 / (1 + others * math.exp(-p.epsilon))

        def release(record: Any, rng: np.random.Generator) -> str:
            at, shift = p.place(record), int(rng.integers(1, others + 1))
            return p.categories[at if rng.random() < keep else (at + shift) % (others + 1)]

        return release

    @library.query("frequency oracle")
    def _(p: Parameters) -> Release:
        flip = 1 / (1 + math.exp(p.epsilon / 2))

        def release(record: Any, rng: np.random.Generator) -> list[int]:
            bits = np.arange(len(p.categories)) == p.place(record)
            return (bits ^ (rng.random(len(bits)) < flip)).astype(int).tolist()

        return release


def _answer_rows(library: Library, moved: int) -> None:
    def perturbed(p: Parameters, statistics: Callable[[Any], np.ndarray], change: float) -> Release:
        """Return statistics with Gaussian noise for a change of their l2 norm, in units of which nothing is lost."""
        deviation = analytic_deviation(p.epsilon, p.delta) * change
        found = once(statistics)
        return lambda data, rng: found(data) + rng.normal(scale=deviation, size=found(data).shape)

    def clipped(data: Any, p: Parameters) -> np.ndarray:
        return np.array([row(values, p) for values in data]).reshape(-1, 2)

    @library.query("vector mean")
    def _(p: Parameters) -> Release:
        sums = lambda data: np.append(clipped(data, p).sum(axis=0), len(data) * p.radius)  # noqa: E731
        release = perturbed(p, sums, math.sqrt(2) * p.radius * moved)

        def mean(data: Any, rng: np.random.Generator) -> list[float]:
            first, second, size = release(data, rng)
            return [float(value) / max(float(size) / p.radius, 1.0) for value in (first, second)]

        return mean

    def moments(data: Any, p: Parameters) -> np.ndarray:
        rows = clipped(data, p)
        return np.array([(rows[:, i] * rows[:, j]).sum() for i, j in ((0, 0), (0, 1), (1, 1))])

    def of_products(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Parameters], Release]:
        def build(p: Parameters) -> Release:
            release = perturbed(p, lambda data: moments(data, p), p.radius**2 * moved)
            return lambda data, rng: change(release(data, rng)).tolist()

        return build

    library.query("covariance")(of_products(np.asarray))
    library.query("principal components")(of_products(lambda abc: np.linalg.eigh(abc[[[0, 1], [1, 2]]])[1][:, -1]))

    @library.query("k-means")
    def _(p: Parameters) -> Release:
        rounds = 2
        scale = rounds * moved * (1 + math.sqrt(2) * p.radius) / p.epsilon

        def centers(data: Any, rng: np.random.Generator) -> list[list[float]]:
            rows, found = clipped(data, p), p.radius * np.array([[0.5, 0.5], [-0.5, -0.5]])
            for _ in range(rounds):
                near = np.argmin(((rows[:, None] - found) ** 2).sum(axis=2), axis=1)
                sums = np.array([[*rows[near == k].sum(axis=0), np.sum(near == k)] for k in range(len(found))])
                sums = sums + rng.laplace(scale=scale, size=sums.shape)
                found = np.clip(sums[:, :2] / np.clip(sums[:, 2:], 1, None), -p.radius, p.radius)
            return found.tolist()

        return centers

    def labeled(data: Any, p: Parameters) -> tuple[np.ndarray, np.ndarray]:
        return clipped([x for x, _ in data], p), np.array([1.0 if label == 1 else -1.0 for _, label in data])

    @library.query("linear regression")
    def _(p: Parameters) -> Release:
        def statistics(data: Any) -> np.ndarray:
            rows, labels = labeled(data, p)
            return np.concatenate([moments(rows.tolist(), p), rows.T @ labels])

        change = math.sqrt(p.radius**4 + p.radius**2) * moved
        release = perturbed(p, statistics, change)

        def weights(data: Any, rng: np.random.Generator) -> list[float]:
            a, b, c, *products = release(data, rng)
            return np.linalg.lstsq(np.array([[a, b], [b, c]]), np.array(products), rcond=None)[0].tolist()

        return weights

    @library.query("logistic regression")
    def _(p: Parameters) -> Release:
        strength = 4.0

        def minimum(data: Any) -> np.ndarray:
            rows, labels = labeled(data, p)
            signed, found = rows * labels[:, None], np.zeros(2)
            for _ in range(50):  # Newton's method on a strongly convex sum of losses
                chance = 1 / (1 + np.exp(signed @ found))
                slope = strength * found - signed.T @ chance
                found = found - np.linalg.solve(
                    strength * np.eye(2) + (signed * (chance * (1 - chance))[:, None]).T @ signed, slope
                )
            return found

        solved = once(minimum)
        scale = moved * p.radius / strength / p.epsilon  # of the norm of the noise, whose density falls with it

        def weights(data: Any, rng: np.random.Generator) -> list[float]:
            angle, norm = rng.uniform(0, 2 * math.pi), rng.gamma(2, scale)
            return (solved(data) + norm * np.array([math.cos(angle), math.sin(angle)])).tolist()

        return weights
