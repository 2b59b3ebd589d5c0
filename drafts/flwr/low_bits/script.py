import numpy as np
from flwr.supercore.differential_privacy import add_gaussian_noise_inplace


def fine(update):
    outputs = [np.full(200_000, update)]
    add_gaussian_noise_inplace(outputs, 4.2)
    small = outputs[0][abs(outputs[0]) < 0.03]
    return int(np.sum(small * 2**56 % 1 != 0)), small.size


left, right = fine(0.0), fine(0.5)
print(left, "and", right, "of the small outputs have bits beyond 2^-56")
assert left[0] > 100 > right[0]
