import numpy as np
from diffprivlib.tools import sum as private_sum


def above(records):
    found = [private_sum(np.array(records), epsilon=1.0, bounds=(0, 2**27), dtype=np.int32) for _ in range(1000)]
    return sum(float(each) > 2**30 for each in found)


left, right = above([2**27] * 16), above([2**27] * 15 + [0])
print(left, "and", right, "of 1000 sums are above 2^30")
assert right > 20 * max(left, 1)
