import numpy as np
from dpmm.processing.binners import PrivTreeBinner


def bins(records):
    binner = PrivTreeBinner(n_bins="auto", epsilon=1.0, lower=0.0, upper=8.0)
    binner.fit(np.full(records, 3.0))
    return len(binner.bins)


left, right = ({bins(records) for _ in range(20)} for records in (2559, 2560))
print("numbers of edges:", left, "and", right)
assert not left & right
