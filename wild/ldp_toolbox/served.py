"""ldp-toolbox 0.1.3 at epsilon 1, on domains of eight or of four values, or as asked for. A dataset is one value."""

from __future__ import annotations

from functools import partial

import numpy as np
import xxhash
from ldp_toolbox.protocols.frequency.grr import GeneralizedRandomizedResponse
from ldp_toolbox.protocols.frequency.he import HistogramEncoding
from ldp_toolbox.protocols.frequency.lh import LocalHashing
from ldp_toolbox.protocols.frequency.ss import SubsetSelection
from ldp_toolbox.protocols.frequency.ue import UnaryEncoding

VALUES, FEW, EPSILON = 8, 4, 1.0


def reports(protocol):
    """Reports of one user, as lists of numbers."""
    return lambda dataset, size, rng: [np.asarray(protocol.obfuscate(dataset)).tolist() for _ in range(size)]


def vectors(protocol):
    """Reports of one user, as arrays of floats."""
    return lambda dataset, size, rng: np.array([protocol.obfuscate(dataset) for _ in range(size)], dtype=float)


def supported(protocol, report, among):
    """Return which values hash to the reported one under the reported seed: all that a report says of a value."""
    value, seed = report
    return [float(xxhash.xxh32(str(each), seed=seed).intdigest() % protocol.g == value) for each in among]


def hashed(protocol, among=range(FEW)):
    """Reports of local hashing, as the values that they support."""
    return lambda dataset, size, rng: np.array(
        [supported(protocol, protocol.obfuscate(dataset), among) for _ in range(size)]
    )


def above(protocol, values=FEW):
    """Reports of thresholded histograms, as indicators of the reported values."""
    return lambda dataset, size, rng: np.array(
        [np.isin(np.arange(values), protocol.obfuscate(dataset)).astype(float) for _ in range(size)]
    )


def searched(protocol, read):
    """A protocol with the domain and the epsilon that an audit asks for; `read` takes the protocol and the domain."""

    def draw(dataset, size, rng, values, epsilon):
        return read(protocol(values, epsilon), values)(dataset, size, rng)

    return draw


def ends_hashed(protocol, values):
    """Reports of local hashing, as what they say of the first value and the last."""
    return hashed(protocol, (0, values - 1))


MECHANISMS = {
    "GRR": reports(GeneralizedRandomizedResponse(VALUES, EPSILON)),
    "SUE": vectors(UnaryEncoding(FEW, EPSILON, optimal=False)),
    "OUE": vectors(UnaryEncoding(FEW, EPSILON)),
    "SS": reports(SubsetSelection(VALUES, EPSILON)),
    "BLH": hashed(LocalHashing(FEW, EPSILON, optimal=False)),
    "OLH": hashed(LocalHashing(FEW, EPSILON)),
    "THE": above(HistogramEncoding(FEW, EPSILON)),
    "HE": vectors(HistogramEncoding(FEW, EPSILON, thresholding=False)),
    "GRR searched": searched(GeneralizedRandomizedResponse, lambda protocol, _: reports(protocol)),
    "SUE searched": searched(partial(UnaryEncoding, optimal=False), lambda protocol, _: vectors(protocol)),
    "OUE searched": searched(UnaryEncoding, lambda protocol, _: vectors(protocol)),
    "SS searched": searched(SubsetSelection, lambda protocol, _: reports(protocol)),
    "BLH searched": searched(partial(LocalHashing, optimal=False), ends_hashed),
    "OLH searched": searched(LocalHashing, ends_hashed),
    "THE searched": searched(HistogramEncoding, above),
    "HE searched": searched(partial(HistogramEncoding, thresholding=False), lambda protocol, _: vectors(protocol)),
}
