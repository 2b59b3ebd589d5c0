import numpy as np
from diffprivlib.models import LinearRegression


def large(x):
    settings = dict(epsilon=1.0, bounds_X=(0, 1), bounds_y=(-1, 1), fit_intercept=False)
    fits = [LinearRegression(**settings).fit(np.array([[x]]), np.array([0.0])) for _ in range(500)]
    return sum(abs(float(np.ravel(fit.coef_)[0])) > 20 for fit in fits)


left, right = large(0.1), large(1.0)
print(left, "and", right, "of 500 coefficients are above 20")
assert left > 10 * max(right, 1)
