import numpy as np
from diffpriv_laplace.statistics import DiffPrivStatistics


def above(data):
    return sum(float(np.ravel(DiffPrivStatistics.max(np.array(data), 1.0))[0]) > 15 for _ in range(1000))


left, right = above([0.0, 0.0]), above([0.0, 30.0])
print(left, "and", right, "of 1000 outputs are above 15")
assert left < 5
assert right > 995
