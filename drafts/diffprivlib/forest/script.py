import numpy as np
from diffprivlib.models import RandomForestClassifier


def pattern(labels):
    settings = dict(epsilon=1.0, bounds=(0, 1), classes=[0, 1], max_depth=1)
    data = np.zeros((len(labels), 1)), np.array(labels)
    fits = [RandomForestClassifier(3, **settings).fit(*data) for _ in range(400)]
    return sum([int(tree.predict([[0.0]])[0]) for tree in fit.estimators_] == [0, 0, 1] for fit in fits)


left, right = pattern([0, 0, 1]), pattern([0, 0, 1, 0])
print(left, "and", right, "of 400 forests predict 0, 0 and 1")
assert left > 5 * max(right, 1)
