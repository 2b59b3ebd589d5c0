"""multi-freq-ldpy: the reports of one user, by the clients of every protocol.

A dataset is one record: a value, or a list of values for the protocols of several attributes. numba and numpy draw
from generators of their own. A hashed report comes as its user's support, the two answers of the aggregator to "does
this report speak for value 0 (1)?": the seed itself is drawn before the value is looked at.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
import xxhash

EPSILON = 1.0
FOREVER = 2.0  # of infinitely many reports; EPSILON is promised for a single one
VALUES = 5
MANY = 8  # values of subset selection, whose subsets then have two
ATTRIBUTES = [2, 2]  # values of each
BITS = 2


def client(name, module):
    """The client of a protocol; a module of the library has one or more."""
    return getattr(import_module(f"multi_freq_ldpy.{module}"), f"{name}_Client")


def single(name):
    """The client of a protocol of one attribute and one report."""
    return client(name, f"pure_frequency_oracles.{name}")


def reports(make, *parameters):
    """A mechanism of `size` reports of one user."""
    return lambda dataset, size, rng: [make(dataset, *parameters) for _ in range(size)]


def several(name, solution, read=lambda report: report):
    """The same for a protocol of several attributes."""
    make = client(name, f"mdim_freq_est.{solution}_solution")
    return reports(lambda dataset: read(make(dataset, ATTRIBUTES, len(ATTRIBUTES), EPSILON)))


def sampled(report):
    """A report (attribute, vector) as one list."""
    return [int(report[0]), *map(float, report[1])]


def once(make, *parameters, domain=VALUES):
    """Reports on the domain and with the epsilon that an audit asks for."""

    def draw(dataset, size, rng, values=domain, epsilon=EPSILON):
        return reports(make, values, epsilon, *parameters)(dataset, size, rng)

    return draw


def hashed(optimal):
    """For which of two values a hashed report speaks: the first two, or the ends of the domain that is asked for."""
    make = single("LH")

    def draw(dataset, size, rng, values=None, epsilon=EPSILON):
        hashes = round(np.exp(epsilon)) + 1 if optimal else 2  # as the client has it
        drawn = [make(dataset, values or VALUES, epsilon, optimal) for _ in range(size)]
        return supports(drawn, hashes, (0, values - 1 if values else 1))

    return draw


def supports(drawn, hashes, among=(0, 1)):
    """For which of two values hashed reports speak."""
    sent = [[xxhash.xxh32(str(value), seed=seed).intdigest() % hashes for value in among] for _, seed in drawn]
    return np.array([[float(report == each) for each in row] for (report, _), row in zip(drawn, sent, strict=True)])


def long(name):
    """A first longitudinal report; the epsilon that is asked for is a share of that of infinitely many reports."""
    make = client(name, f"long_freq_est.{name}")

    def draw(dataset, size, rng, values=VALUES, epsilon=EPSILON, share=EPSILON / FOREVER):
        return reports(make, values, epsilon / share, epsilon)(dataset, size, rng)

    return draw


def long_hashed(dataset, size, rng):
    """For which of the first two values a first longitudinal report of binary hashing speaks."""
    make = client("L_LH", "long_freq_est.L_LH")
    return supports([make(dataset, VALUES, FOREVER, EPSILON, False) for _ in range(size)], 2)


SUBSET = single("SS")

MECHANISMS = {
    **{name: once(single(name)) for name in ("GRR", "HE", "ADP")},
    "SUE": once(single("UE"), False),
    "OUE": once(single("UE"), True),
    "BLH": hashed(False),
    "OLH": hashed(True),
    "SS": once(lambda *given: sorted(SUBSET(*given)), domain=MANY),
    "SPL GRR": several("SPL_GRR", "SPL"),
    "SPL OUE": several("SPL_UE", "SPL", np.concatenate),
    "SMP GRR": several("SMP_GRR", "SMP"),
    "SMP OUE": several("SMP_UE", "SMP", sampled),
    **{name.replace("_", "-"): long(name) for name in ("L_GRR", "L_SUE", "L_OUE", "L_OSUE", "L_SOUE")},
    "L-BLH": long_hashed,
    "dBitFlipPM": reports(client("dBitFlipPM", "long_freq_est.dBitFlipPM"), VALUES, VALUES, BITS, EPSILON),
}
