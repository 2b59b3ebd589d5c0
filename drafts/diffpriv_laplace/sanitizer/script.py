import numpy as np
from diffpriv_laplace.laplace_sanitizer import DiffPrivLaplaceSanitizer

halves = [lambda values: values < 0.5, lambda values: values >= 0.5]


def more_below(data):
    count = DiffPrivLaplaceSanitizer.count
    found = [np.ravel(count(np.array(data), halves, 1.0, postprocess=False)[0]) for _ in range(40_000)]
    return sum(low >= 2 and high <= 1 for low, high in found)


left, right = more_below([0.1, 0.1, 0.9]), more_below([0.1, 0.9, 0.9])
print("odds of", left / right, "where e = 2.72 is claimed")
assert left > 4 * right
