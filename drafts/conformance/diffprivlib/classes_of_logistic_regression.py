import warnings

from diffprivlib.models import LogisticRegression
from diffprivlib.utils import PrivacyLeakWarning

warnings.simplefilter("error", PrivacyLeakWarning)  # it would end the script
X, y, shapes = [[0.1, 0.2], [-0.6, -0.8]] * 4, [0, 1] * 4, []
for last in (1, 7):
    model = LogisticRegression(epsilon=1.0, data_norm=1.0).fit(X, [*y[:-1], last])
    shapes.append(model.coef_.shape)
print("coefficients with labels 0 and 1, and where one label is 7:", shapes)
assert shapes == [(1, 2), (3, 2)]
