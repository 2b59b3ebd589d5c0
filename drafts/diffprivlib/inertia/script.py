import numpy as np
from diffprivlib.models import KMeans


def small(records):
    fits = [KMeans(n_clusters=1, epsilon=1.0, bounds=(0, 1)).fit(np.array(records)) for _ in range(500)]
    return sum(fit.inertia_ < 0.49 for fit in fits)


left, right = small([[0.0], [0.0]]), small([[0.0], [1.0]])
print(left, "and", right, "of 500 inertias are below 0.49")
assert left > 50
assert right == 0
