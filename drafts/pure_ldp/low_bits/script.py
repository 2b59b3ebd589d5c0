import numpy as np
from pure_ldp.frequency_oracles.histogram_encoding import HEClient

client = HEClient(1.0, 4)


def fine(value):
    first = np.array([client.privatise(value)[0] for _ in range(20_000)])
    small = first[abs(first) < 0.25]
    return int(np.sum(small * 2**53 % 1 != 0)), small.size


left, right = fine(2), fine(1)
print(left, "and", right, "of the small outputs have bits beyond 2^-53")
assert left[0] > 100 > right[0] == 0 < right[1]
