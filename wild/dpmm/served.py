"""dpmm 0.1.9: generators of tables. A dataset is a list of records, None is a missing value; the domains are public."""

from __future__ import annotations

import logging
import warnings
from functools import cache

import numpy as np
import pandas as pd
from dpmm.models import mst
from dpmm.models.base.mechanisms import cdp_rho, mechanism
from dpmm.pipelines import AIMPipeline, MSTPipeline
from dpmm.processing.binners import PrivTreeBinner
from dpmm.processing.utils import approx_bounds

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
EPSILON, DELTA, PROCESSING = 0.9, 1e-5, 0.1
STEPS = {"n_iters": 2}  # of the fit to noisy marginals, which post-processes: it costs nearly all of the time
ROUNDS = {**STEPS, "rounds": 2}  # of AIM, which takes 16 for each column otherwise
RECORDS = 3
for module in (mst, mechanism):
    module.cdp_rho = cache(cdp_rho)  # a number of epsilon and delta, which takes ten times as long as the rest


def table(dataset):
    """The records as categories, and their public domain."""
    frame = pd.DataFrame(dataset, columns=[f"c{place}" for place in range(len(dataset[0]))]).astype("category")
    return frame, {column: {"categories": [0, 1]} for column in frame.columns}


def generated(pipeline, options=STEPS):
    """A mechanism: the records that a pipeline generates from columns of two categories."""

    def draw(dataset, rng):
        frame, domain = table(dataset)
        model = pipeline(EPSILON, DELTA, n_jobs=1, gen_kwargs=options, proc_epsilon=PROCESSING)
        model.fit(frame, domain, random_state=int(rng.integers(2**31)))
        return model.generate(RECORDS).astype(object).to_numpy()

    return draw


def bins(dataset, rng, **bounds):
    """The bins of PrivTree, without counts."""
    binner = PrivTreeBinner(n_bins=4, epsilon=EPSILON + PROCESSING, **bounds)
    binner.fit(np.array(dataset, dtype=float))
    return [float(edge) for edge in binner.bins]


MECHANISMS = {
    "MST": generated(MSTPipeline),
    "AIM, a missing value": generated(AIMPipeline, ROUNDS),
    "PrivTree": lambda dataset, rng: bins(dataset, rng, lower=0.0, upper=8.0),
    "approx_bounds": lambda dataset, rng: [
        str(edge) for edge in approx_bounds(np.array(dataset, dtype=float), EPSILON + PROCESSING)
    ],
}
