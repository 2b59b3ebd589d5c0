import numpy as np
from eeprivacy.operations import PrivateVectorClampedMeanLaplace


def differences(vectors):
    mean = PrivateVectorClampedMeanLaplace(lower_bound=0.0, upper_bound=1.0, k=2, N=2)
    found = (mean.execute(vectors=np.array(vectors), epsilon=1.0, delta=0.0) for _ in range(500))
    return {round(float(first - second), 6) for first, second in found}


left, right = differences([[0.0, 0.0], [0.0, 0.0]]), differences([[0.0, 0.0], [1.0, 0.0]])
print("differences of the coordinates:", left, "and", right)
assert not left & right
