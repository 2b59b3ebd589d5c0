"""NVFlare 2.9.0: filters on a model update. A dataset is the update, a list of numbers."""

from __future__ import annotations

import logging

import numpy as np
from nvflare.apis.dxo import DXO, DataKind
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable
from nvflare.app_common.filters.svt_privacy import SVTPrivacy

logging.disable(logging.CRITICAL)
GAMMA = 1.0


def sparse(fraction, tau):
    """The update that SVTPrivacy lets pass, with 1 for the threshold and the selection and 1 for the values."""

    def draw(dataset, size, rng):
        kept = SVTPrivacy(fraction=fraction, epsilon=1.0, gamma=GAMMA, tau=tau, replace=False, epsilon_release=1.0)
        outputs = np.empty((size, len(dataset)))
        for row in outputs:
            update = DXO(DataKind.WEIGHT_DIFF, data={"w": np.array(dataset, dtype=float)})
            row[:] = kept.process_dxo(update, Shareable(), FLContext()).data["w"]
        return outputs

    return draw


MECHANISMS = {"SVTPrivacy": sparse(0.25, 0.5), "SVTPrivacy high threshold": sparse(0.25, 3.0)}
