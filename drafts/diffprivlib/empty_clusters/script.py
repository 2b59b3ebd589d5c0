import warnings

import numpy as np
from diffprivlib.models import KMeans

warnings.simplefilter("ignore")


def largest(data):
    return KMeans(n_clusters=2, epsilon=0.1, bounds=(0, 1)).fit(np.array(data)).cluster_centers_.max()


a, b = (sum(largest(data) < 0.4 for _ in range(400)) for data in ([[0.0], [0.0]], [[0.0], [1.0]]))
print("of 400 models at epsilon = 0.1, both centers below 0.4: with the records 0 and 0", a, "and with 0 and 1", b)
assert b > 3 * (a + 10)
