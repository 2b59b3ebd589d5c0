import numpy as np
from diffprivlib.tools import mean


def above(records):
    return sum(mean(np.array(records), epsilon=1.0, bounds=(0, 1), dtype=int) > 0.5 for _ in range(2000))


left, right = above([1] * 10), above([1] * 9 + [0])
print(left, "and", right, "of 2000 means are above 1/2")
assert left > 20 * max(right, 1)
