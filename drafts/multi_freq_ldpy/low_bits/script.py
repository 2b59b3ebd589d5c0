import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.HE import HE_Client


def fine(value):
    first = np.array([HE_Client(value, 5, 1.0)[0] for _ in range(20_000)])
    small = first[abs(first) < 0.25]
    return int(np.sum(small * 2**53 % 1 != 0)), small.size


left, right = fine(1), fine(0)
print(left, "and", right, "of the small outputs have bits beyond 2^-53")
assert left[0] > 100
assert right[0] == 0 < right[1]
