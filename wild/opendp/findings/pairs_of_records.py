import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib", "honest-but-curious")
settings = dict(x_bounds=[(0.0, 4.0)], y_bounds=(0.0, 4.0), scale=1.0, candidates_count=5)
left = [[0.0, 0.6], [0.3, 0.6], [0.6, 0.6], [0.9, 4.0]]


def flat(records):
    x, y = np.array(records).T
    model = dp.sklearn.linear_model.LinearRegression(dp.max_divergence(), **settings)
    fits = (model.fit(x[:, None], y) for _ in range(1000))
    return sum((fit.coef_[0], fit.intercept_) == (0.0, 0.0) for fit in fits)


counted = flat(left), flat([[0.9, 0.0], *left])
print(counted, "of 1000 lines are 0")
assert counted[1] > 8 * counted[0]  # e^2 = 7.39 is claimed
