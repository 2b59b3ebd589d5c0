"""privsyn-core 0.1.1: a generator of tables of integers. A dataset is a list of records; the domains are public."""

from __future__ import annotations

import logging
import warnings
from functools import cache

import numpy as np
import pandas as pd
from privsyn import PrivSynModel, api

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
api.cdp_rho = cache(api.cdp_rho)  # a number of epsilon and delta, which takes as long as the rest
EPSILON, DELTA, RECORDS = 1.0, 1e-6, 3
STEPS = {"update_iterations": 2, "consist_iterations": 2}  # of the fit to noisy marginals, which post-processes


def fitted(dataset, rng, width):
    """A model of a table with `width` columns of two values."""
    frame = pd.DataFrame(np.array(dataset, dtype=int).reshape(-1, width), columns=list("abc")[:width])
    seed = int(rng.integers(2**31))
    model = PrivSynModel(epsilon=EPSILON, delta=DELTA, random_state=seed, extra_params=STEPS)
    return model.fit(frame, dict.fromkeys(frame.columns, 2))


MECHANISMS = {
    "two columns": lambda dataset, rng: fitted(dataset, rng, 2).sample(RECORDS).to_numpy(),
    "three columns": lambda dataset, rng: fitted(dataset, rng, 3).sample(RECORDS).to_numpy(),
    "chosen marginals": lambda dataset, rng: " ".join(map("".join, fitted(dataset, rng, 3).selected_marginals_)),
}
