import numpy as np
from diffprivlib.models import GaussianNB


def classes(labels):
    fits = (GaussianNB(epsilon=1.0, bounds=(0, 1)).fit(np.zeros((2, 1)), np.array(labels)) for _ in range(100))
    return {len(fit.classes_) for fit in fits}


print("numbers of classes:", classes([0, 0]), "and", classes([0, 1]))
assert not classes([0, 0]) & classes([0, 1])
