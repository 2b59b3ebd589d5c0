"""OpenDP 0.4.0: randomized response on one boolean. A dataset is one record, 0 or 1."""

from __future__ import annotations

from opendp.meas import make_randomized_response, make_randomized_response_bool
from opendp.mod import enable_features

enable_features("contrib")

BOOLEAN = make_randomized_response_bool(prob=0.75)
CATEGORICAL = make_randomized_response(categories=["0", "1", "2"], prob=0.75)

MECHANISMS = {
    "make_randomized_response_bool": lambda dataset, rng: BOOLEAN(bool(dataset)),
    "make_randomized_response": lambda dataset, rng: CATEGORICAL(str(dataset)),
}
