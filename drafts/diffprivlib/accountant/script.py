import numpy as np
from diffprivlib import BudgetAccountant, tools


def sure(record):
    shared = dict(epsilon=0.5, accountant=BudgetAccountant(epsilon=1.0))
    mean = tools.mean(np.array([record]), bounds=(0, 1), **shared)
    low, high = tools.histogram([record], bins=2, range=(0, 1), **shared)[0]
    return mean < 0.5 and low >= 1 and high == 0


left, right = (sum(sure(record) for _ in range(15_000)) for record in (0.0, 1.0))
print("odds of", left / right, "where e = 2.72 is claimed")
assert left > 3.2 * right
