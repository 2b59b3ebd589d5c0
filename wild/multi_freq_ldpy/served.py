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


def once(client, *parameters, domain=VALUES):
    """Reports on the domain and with the epsilon that an audit asks for."""

    def draw(dataset, size, rng, values=domain, epsilon=EPSILON):
        return reports(client, values, epsilon, *parameters)(dataset, size, rng)

    return draw


def hashed(optimal):
    """For which of two values a hashed report speaks: the first two, or the ends of the domain that is asked for."""

    def draw(dataset, size, rng, values=None, epsilon=EPSILON):
        hashes = round(np.exp(epsilon)) + 1 if optimal else 2  # as the client has it
        drawn = [LH_Client(dataset, values or VALUES, epsilon, optimal) for _ in range(size)]
        return supports(drawn, hashes, (0, values - 1 if values else 1))

    return draw


def supports(drawn, hashes, among=(0, 1)):
    """For which of two values hashed reports speak."""
    sent = [[xxhash.xxh32(str(value), seed=seed).intdigest() % hashes for value in among] for _, seed in drawn]
    return np.array([[float(report == each) for each in row] for (report, _), row in zip(drawn, sent, strict=True)])


def long(client):
    """A first longitudinal report; the epsilon that is asked for is a share of that of infinitely many reports."""

    def draw(dataset, size, rng, values=VALUES, epsilon=EPSILON, share=EPSILON / FOREVER):
        return reports(client, values, epsilon / share, epsilon)(dataset, size, rng)

    return draw


def long_hashed(dataset, size, rng):
    """For which of the first two values a first longitudinal report of binary hashing speaks."""
    return supports([L_LH_Client(dataset, VALUES, FOREVER, EPSILON, False) for _ in range(size)], 2)


def sorted_subset(*given):
    """Subset selection as a set: its values in increasing order."""
    return np.sort(SS_Client(*given))


_SEVERAL = (ATTRIBUTES, len(ATTRIBUTES), EPSILON)

MECHANISMS = {
    "GRR": once(GRR_Client),
    "SUE": once(UE_Client, False),
    "OUE": once(UE_Client, True),
    "HE": once(HE_Client),
    "BLH": hashed(False),
    "OLH": hashed(True),
    "SS": once(SS_Client, domain=MANY),
    "SS sorted": once(sorted_subset, domain=MANY),
    "ADP": once(ADP_Client),
    "SPL GRR": reports(SPL_GRR_Client, *_SEVERAL),
    "SPL OUE": joined(SPL_UE_Client, *_SEVERAL),
    "SMP GRR": reports(SMP_GRR_Client, *_SEVERAL),
    "SMP OUE": sampled(SMP_UE_Client),
    "RS+FD GRR": reports(RSpFD_GRR_Client, *_SEVERAL),
    "RS+FD OUE-z": joined(RSpFD_UE_zero_Client, *_SEVERAL),
    "RS+FD OUE-r": joined(RSpFD_UE_rnd_Client, *_SEVERAL),
    "RS+FD ADP": reports(RSpFD_ADP_Client, *_SEVERAL),
    "L-GRR": long(L_GRR_Client),
    "L-SUE": long(L_SUE_Client),
    "L-OUE": long(L_OUE_Client),
    "L-OSUE": long(L_OSUE_Client),
    "L-SOUE": long(L_SOUE_Client),
    "L-BLH": long_hashed,
    "dBitFlipPM": reports(dBitFlipPM_Client, VALUES, VALUES, BITS, EPSILON),
}
