import numpy as np
from diffpriv_laplace.statistics import DiffPrivStatistics


def means(data):
    return {float(np.ravel(DiffPrivStatistics.mean(np.array(data), 1.0))[0]) for _ in range(1000)}


left, right = means([0.0, 0.0]), means([0.0, 1.0])
print(len(left), "and", len(right), "different outputs of 1000")
assert left == {0.0}
assert 0.0 not in right
