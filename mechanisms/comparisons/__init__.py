"""Reference comparisons: one claim each, on this package's mechanism, libraries, and programs in C and JavaScript.

`dp-audit compare mechanisms.comparisons` runs them (docs/compare.md). Every claim has epsilon = 1; the laws stated for
libraries are those of their documentation. Needs the extra `libraries`; a program is left out where its compiler or
interpreter is missing. PyDP's BoundedMean promises epsilon when a record is added or removed; replacing one is one of
each, so that it gets epsilon = 1/2 for the same claim, by group privacy (Dwork & Roth 2014, Theorem 2.2).
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from audit import AddRemove, Comparison, Implementation, Local, PrivacyClaim, Substitution
from audit.extensions.adapters import Documented, LibraryObject, Program
from audit.laws import Law
from mechanisms.comparisons.libraries import (
    build_diffprivlib,
    build_opendp_response,
    build_pydp,
    diffprivlib_noise,
    opendp_laplace,
    pydp_laplace,
)
from mechanisms.geometric import GeometricMechanism
from mechanisms.laplace import SOURCE, LaplaceMechanism
from mechanisms.queries import BoundedMean, Histogram, count_positive
from mechanisms.randomized_response import KeepOrResample, RandomizedResponse

CERTIFIED = 100_000  # outputs per dataset where a law is stated; the game's bound comes close to it
RESOLVED = 200_000  # where none is: the resolution must be within the tolerance
CELLS, DRAWN = 1_000, 500  # of the histogram, and its outputs per dataset: half a million numbers


def as_floats(query: Any, dataset: Any) -> Any:
    """Return an answer as floats, which decides the noise that a library adds."""
    return np.asarray(query(dataset), dtype=float)[()]


def positives(dataset: Any) -> np.ndarray:
    """Return the records that are counted."""
    return np.asarray(dataset)[np.asarray(dataset) > 0]


@dataclass(frozen=True)
class AsBits:
    """A mechanism whose outputs are brought into the form 0 or 1."""

    mechanism: Any
    own_randomness: bool = True

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.array(self.mechanism(dataset, size, rng), dtype=int)


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def laplace_count(law_of: Callable[[Any], Law]) -> list[Implementation]:
    """`examples/laplace_count.c` with scale 1; an empty list without compiler or source."""
    binary = compile_once(EXAMPLES / "laplace_count.c")
    note = "examples/laplace_count.c, SplitMix64 and 52-bit uniforms, through a pipe"
    return _program("C program", binary and (str(binary),), law_of, note)


def randomized_response(law_of: Callable[[Any], Law]) -> list[Implementation]:
    """`examples/randomized_response.js` with epsilon = 1; an empty list without node or source."""
    node, source = shutil.which("node"), EXAMPLES / "randomized_response.js"
    note = "examples/randomized_response.js, mulberry32, through a pipe"
    return _program("JavaScript program", (node, str(source)) if node and source.exists() else None, law_of, note)


def _program(name: str, command: Any, law_of: Callable[[Any], Law], note: str) -> list[Implementation]:
    if command is None:
        return []
    return [Implementation(name=name, mechanism=Documented(Program((*command, "1")), law_of), note=note)]


def compile_once(source: Path) -> Path | None:
    """Return the program of a C source, kept in the user's cache folder; None without source or compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not source.exists():
        return None
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dp-audit"
    binary = cache / f"{source.stem}-{digest}"
    if not binary.exists():
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = binary.with_suffix(f".{os.getpid()}")
        subprocess.run([compiler, "-O2", "-o", unfinished, source, "-lm"], check=True)
        unfinished.replace(binary)  # whole or not there, whoever else compiles it now
    return binary


_RECORDS, _ONES = np.arange(CELLS * 5) % CELLS, (np.arange(100) % 5 == 0).astype(int)
_UNITS = np.r_[0.0, np.linspace(0.0, 1.0, 49)]
_MEAN, _COUNTS, _WARNER = BoundedMean(0.0, 1.0), Histogram(tuple(range(CELLS))), RandomizedResponse((0, 1), 1.0)
_BINARY = LibraryObject(
    partial(build_diffprivlib, "Binary", epsilon=1.0, value0="0", value1="1"), str, method="randomise"
)
_COUNT, _WHOLE = LaplaceMechanism(count_positive, 1.0, 1.0), GeometricMechanism(count_positive, 1, 1.0)
_NOISY_MEAN = LaplaceMechanism(_MEAN, _MEAN.sensitivity(len(_UNITS)), 1.0)
_BINS, _REAL_BINS = GeometricMechanism(_COUNTS, 1, 1.0), LaplaceMechanism(partial(as_floats, _COUNTS), 1.0, 1.0)
_REAL_COUNT = LaplaceMechanism(partial(as_floats, count_positive), 1.0, 1.0)


def _claim(relation: Any, source: str = SOURCE) -> PrivacyClaim:
    return PrivacyClaim(1.0, 0.0, relation, source)


def _stated(name: str, mechanism: Any, budget: int = CERTIFIED, **settings: Any) -> Implementation:
    """Return a library's mechanism, whose law is stated."""
    return Implementation(name=name, mechanism=mechanism, budget=budget, **settings)


def _by_google(name: str, build: Any, query: Any = np.asarray, note: str = "") -> Implementation:
    """Return one of PyDP's algorithms, for which no law is documented."""
    mechanism = LibraryObject(build, query, method="quick_result", entrywise=False)
    return Implementation(name=name, mechanism=mechanism, budget=RESOLVED, note=f"{note}no law is documented")


COMPARISONS = [
    Comparison(
        name="noisy count",
        claim=_claim(AddRemove()),
        pairs=[(_ONES, _ONES[1:])],
        truth=count_positive,
        implementations=[
            Implementation(name="dp-audit Laplace", mechanism=_COUNT),
            Implementation(name="dp-audit geometric", mechanism=_WHOLE),
            _stated("OpenDP make_laplace, int", opendp_laplace(_WHOLE)),
            _stated("diffprivlib Laplace", diffprivlib_noise(_REAL_COUNT)),
            _stated("diffprivlib Geometric", diffprivlib_noise(_WHOLE)),
            _stated("PyDP LaplaceMechanism", pydp_laplace(_REAL_COUNT)),
            _by_google("PyDP Count", partial(build_pydp, "Count", epsilon=1.0, dtype="int"), positives),
            *laplace_count(_COUNT.law),
        ],
    ),
    Comparison(
        name="noisy mean",
        claim=_claim(Substitution()),
        pairs=[(_UNITS, np.r_[1.0, _UNITS[1:]])],
        truth=_MEAN,
        implementations=[
            Implementation(name="dp-audit Laplace", mechanism=_NOISY_MEAN),
            _stated("OpenDP make_laplace, float", opendp_laplace(_NOISY_MEAN)),
            _stated("diffprivlib Laplace", diffprivlib_noise(_NOISY_MEAN)),
            _stated("PyDP LaplaceMechanism", pydp_laplace(_NOISY_MEAN)),
            _by_google(
                "PyDP BoundedMean",
                partial(build_pydp, "BoundedMean", epsilon=0.5, lower_bound=0, upper_bound=1, dtype="float"),
                note="epsilon = 1/2 for add/remove, which also hides the number of records; ",
            ),
        ],
    ),
    Comparison(
        name="histogram of 1,000 cells",
        claim=_claim(AddRemove()),
        pairs=[(_RECORDS, _RECORDS[1:])],
        truth=_COUNTS,
        implementations=[
            _stated(name, mechanism, DRAWN, method="exact")
            for name, mechanism in (
                ("dp-audit Laplace", LaplaceMechanism(_COUNTS, 1.0, 1.0)),
                ("dp-audit geometric", _BINS),
                ("OpenDP make_laplace, int", opendp_laplace(_BINS)),
                ("diffprivlib Geometric", diffprivlib_noise(_BINS)),
                ("PyDP LaplaceMechanism", pydp_laplace(_REAL_BINS)),
            )
        ],
        sample=800,
    ),
    Comparison(
        name="randomized response",
        claim=_claim(Local(), "Kairouz, Bonawitz & Ramage 2016"),
        pairs=[(1, 0)],
        truth=int,
        implementations=[
            Implementation(name="dp-audit response", mechanism=_WARNER),
            Implementation(name="dp-audit keep or resample", mechanism=KeepOrResample((0, 1), 1.0)),
            _stated(
                "OpenDP response, bool",
                Documented(AsBits(LibraryObject(build_opendp_response, bool)), _WARNER.law),
                40_000,
            ),
            Implementation(name="diffprivlib Binary", mechanism=Documented(AsBits(_BINARY), _WARNER.law)),
            *randomized_response(_WARNER.law),
        ],
    ),
]
