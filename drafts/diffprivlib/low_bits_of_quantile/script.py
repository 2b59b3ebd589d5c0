import numpy as np
from diffprivlib.tools import quantile


def off_grid(number):
    found = [float(quantile(np.array([number]), 0.5, epsilon=1.0, bounds=(0, 1))) for _ in range(4000)]
    return sum(not (output * 2**53).is_integer() for output in found if output < 0.25)


left, right = off_grid(0.3), off_grid(1.0)
print(left, "and", right, "of the small outputs have bits beyond 2^-53")
assert right == 0
assert left > 100
