"""Flower 1.41.0: the mod that makes a client's update locally private. A dataset is the update."""

from __future__ import annotations

import logging

import numpy as np
from flwr.client.mod import LocalDpMod
from flwr.common import Code, FitIns, FitRes, Message, Status, ndarrays_to_parameters, parameters_to_ndarrays
from flwr.compat.common import recorddict_compat as compat
from flwr.supercore.task_identity import TaskIdentity

logging.getLogger("flwr").setLevel(logging.CRITICAL)
TaskIdentity.run_id = TaskIdentity.node_id = TaskIdentity.task_id = 1  # what the runtime of a client sets
CLIP = 0.5


def parameters(values):
    """One layer of parameters as Flower sends them."""
    return ndarrays_to_parameters([np.array(values, dtype=float)])


def sent(mod, update):
    """Return what leaves a client whose model had zeros before the training."""
    ask = FitIns(parameters([0.0] * len(update)), {})
    message = Message(compat.fitins_to_recorddict(ask, keep_input=True), dst_node_id=1, message_type="train")

    def trained(received, context):
        result = FitRes(Status(Code.OK, ""), parameters(update), 1, {})
        return Message(compat.fitres_to_recorddict(result, keep_input=True), reply_to=received)

    answer = compat.recorddict_to_fitres(mod(message, None, trained).content, keep_input=True)
    return parameters_to_ndarrays(answer.parameters)[0]


def local(dataset, size, rng):
    """The update after the mod; two updates differ by at most twice the clipping norm."""
    mod = LocalDpMod(clipping_norm=CLIP, sensitivity=2 * CLIP, epsilon=0.9, delta=1e-3)
    return np.array([sent(mod, dataset) for _ in range(size)])


def single(dataset, size, rng):
    """The same for an update of one number."""
    return local(dataset, size, rng)[:, 0]


MECHANISMS = {"LocalDpMod": local, "LocalDpMod, one parameter": single, "LocalDpMod, update of zeros": single}
