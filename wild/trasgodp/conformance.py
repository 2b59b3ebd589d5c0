"""trasgoDP's answer to a query that every library is asked: a column whose other records are the public keys."""

import numpy as np
from trasgodp.categorical import dp_exponential_array, dp_randomized_response_kary_array

from audit.extensions.conformance import Library

library = Library("trasgodp", distribution="trasgoDP",
                  quote='README: "mechanims for ε-differential privacy (numerical and categorical data)"')  # fmt: skip
library.exclude_types('docstring of dp_exponential_array: "an array with categorical values"')


def first(release):
    """Release the record at the head of a column that holds every public key, so that the keys do not depend on it."""
    return lambda p: lambda record: str(release(np.array([record, *p.categories]), p.epsilon)[0])


library.answer({"randomized response": first(dp_randomized_response_kary_array)}, law="usual")
library.answer({"frequency oracle": first(dp_exponential_array)})
library.outside(lambda query, p, record: 'README: "categorical data"' if record not in p.categories else None)
