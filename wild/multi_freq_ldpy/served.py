"""multi-freq-ldpy: the reports of one user, by the clients of every protocol.

A dataset is one record: a value, or a list of values for the protocols of several attributes. numba and numpy draw
from generators of their own. A hashed report comes as its user's support, the two answers of the aggregator to "does
this report speak for value 0 (1)?": the seed itself is drawn before the value is looked at.
"""

from __future__ import annotations

import numpy as np
import xxhash
from multi_freq_ldpy.long_freq_est.dBitFlipPM import dBitFlipPM_Client
from multi_freq_ldpy.long_freq_est.L_GRR import L_GRR_Client
from multi_freq_ldpy.long_freq_est.L_LH import L_LH_Client
from multi_freq_ldpy.long_freq_est.L_OSUE import L_OSUE_Client
from multi_freq_ldpy.long_freq_est.L_OUE import L_OUE_Client
from multi_freq_ldpy.long_freq_est.L_SOUE import L_SOUE_Client
from multi_freq_ldpy.long_freq_est.L_SUE import L_SUE_Client
from multi_freq_ldpy.mdim_freq_est.RSpFD_solution import (
    RSpFD_ADP_Client,
    RSpFD_GRR_Client,
    RSpFD_UE_rnd_Client,
    RSpFD_UE_zero_Client,
)
from multi_freq_ldpy.mdim_freq_est.SMP_solution import SMP_GRR_Client, SMP_UE_Client
from multi_freq_ldpy.mdim_freq_est.SPL_solution import SPL_GRR_Client, SPL_UE_Client
from multi_freq_ldpy.pure_frequency_oracles.ADP import ADP_Client
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.HE import HE_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

EPSILON = 1.0
FOREVER = 2.0  # of infinitely many reports; EPSILON is promised for a single one
VALUES = 5
MANY = 8  # values of subset selection, whose subsets then have two
HASHES = {True: 4, False: 2}  # of the aggregator at EPSILON, optimal or binary
ATTRIBUTES = [2, 2]  # values of each
BITS = 2


def reports(client, *parameters):
    """A mechanism of `size` reports of one user."""
    return lambda dataset, size, rng: [client(dataset, *parameters) for _ in range(size)]


def joined(client, *parameters):
    """The same for a report of one vector for each attribute, put end to end."""
    return lambda dataset, size, rng: np.array([np.concatenate(client(dataset, *parameters)) for _ in range(size)])


def sampled(client):
    """The same for a report (attribute, vector)."""

    def draw(dataset, size, rng):
        drawn = [client(dataset, ATTRIBUTES, len(ATTRIBUTES), EPSILON) for _ in range(size)]
        return [[int(attribute), *map(float, vector)] for attribute, vector in drawn]

    return draw


def supports(client, hashes, *parameters, values=VALUES, among=(0, 1)):
    """For which of two values a hashed report speaks."""

    def hashed(value, seed):
        return xxhash.xxh32(str(value), seed=seed).intdigest() % hashes

    def draw(dataset, size, rng):
        drawn = [client(dataset, values, *parameters) for _ in range(size)]
        return np.array([[float(report == hashed(value, seed)) for value in among] for report, seed in drawn])

    return draw


def any_report(client, *parameters):
    """A mechanism of reports on the domain and with the epsilon that an audit asks for."""

    def draw(dataset, size, rng, values, epsilon):
        return [client(dataset, values, epsilon, *parameters) for _ in range(size)]

    return draw


def any_hashed(optimal):
    """For which of the first and the last value a hashed report speaks, at the epsilon that an audit asks for."""

    def any_draw(dataset, size, rng, values, epsilon):
        hashes = round(np.exp(epsilon)) + 1 if optimal else 2  # as the client has it
        draw = supports(LH_Client, hashes, epsilon, optimal, values=values, among=(0, values - 1))
        return draw(dataset, size, rng)

    return any_draw


def any_long(client):
    """A first longitudinal report; its epsilon is asked for as a share of that of infinitely many reports."""

    def draw(dataset, size, rng, values, epsilon, share):
        return [client(dataset, values, epsilon / share, epsilon) for _ in range(size)]

    return draw


def sorted_subset(dataset, size, rng):
    """Subset selection as a set: its values in increasing order."""
    return [np.sort(SS_Client(dataset, MANY, EPSILON)) for _ in range(size)]


_SEVERAL = (ATTRIBUTES, len(ATTRIBUTES), EPSILON)
_LONG = (VALUES, FOREVER, EPSILON)

MECHANISMS = {
    "GRR": reports(GRR_Client, VALUES, EPSILON),
    "SUE": reports(UE_Client, VALUES, EPSILON, False),
    "OUE": reports(UE_Client, VALUES, EPSILON, True),
    "HE": reports(HE_Client, VALUES, EPSILON),
    "BLH": supports(LH_Client, HASHES[False], EPSILON, False),
    "OLH": supports(LH_Client, HASHES[True], EPSILON, True),
    "SS": reports(SS_Client, MANY, EPSILON),
    "SS sorted": sorted_subset,
    "ADP": reports(ADP_Client, VALUES, EPSILON),
    "SPL GRR": reports(SPL_GRR_Client, *_SEVERAL),
    "SPL OUE": joined(SPL_UE_Client, *_SEVERAL),
    "SMP GRR": reports(SMP_GRR_Client, *_SEVERAL),
    "SMP OUE": sampled(SMP_UE_Client),
    "RS+FD GRR": reports(RSpFD_GRR_Client, *_SEVERAL),
    "RS+FD OUE-z": joined(RSpFD_UE_zero_Client, *_SEVERAL),
    "RS+FD OUE-r": joined(RSpFD_UE_rnd_Client, *_SEVERAL),
    "RS+FD ADP": reports(RSpFD_ADP_Client, *_SEVERAL),
    "L-GRR": reports(L_GRR_Client, *_LONG),
    "L-SUE": reports(L_SUE_Client, *_LONG),
    "L-OUE": reports(L_OUE_Client, *_LONG),
    "L-OSUE": reports(L_OSUE_Client, *_LONG),
    "L-SOUE": reports(L_SOUE_Client, *_LONG),
    "L-BLH": supports(L_LH_Client, HASHES[False], FOREVER, EPSILON, False),
    "dBitFlipPM": reports(dBitFlipPM_Client, VALUES, VALUES, BITS, EPSILON),
    "GRR searched": any_report(GRR_Client),
    "SUE searched": any_report(UE_Client, False),
    "OUE searched": any_report(UE_Client, True),
    "HE searched": any_report(HE_Client),
    "BLH searched": any_hashed(False),
    "OLH searched": any_hashed(True),
    "SS sorted searched": any_report(lambda *given: np.sort(SS_Client(*given))),
    "ADP searched": any_report(ADP_Client),
    "L-GRR searched": any_long(L_GRR_Client),
    "L-SUE searched": any_long(L_SUE_Client),
    "L-OUE searched": any_long(L_OUE_Client),
    "L-OSUE searched": any_long(L_OSUE_Client),
    "L-SOUE searched": any_long(L_SOUE_Client),
}
