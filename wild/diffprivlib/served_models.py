"""Releases of fitted diffprivlib.models: the attributes that the documentation lists, or predictions."""

import numpy as np
from diffprivlib import models

ENDS = [[0.0], [1.0]]  # of the range of one feature


def fitted(kind, read, **settings):
    """A model that is fitted to rows, or to features and labels, as `read` has it."""

    def release(dataset, state):
        labeled = isinstance(dataset, dict)
        data = (np.array(dataset["X"], dtype=float), np.array(dataset["y"])) if labeled else (np.array(dataset),)
        return read(kind(epsilon=1.0, random_state=state, **settings).fit(*data))

    return release


def line(model):
    """Coefficient and intercept of a linear regression."""
    return np.array([*np.ravel(model.coef_), *np.ravel(model.intercept_)])


def slope(model):
    """Coefficient of a logistic regression."""
    return float(model.coef_[0, 0])


def at_the_ends(model):
    """Return the predictions of a tree at both ends."""
    return [int(label) for label in model.predict(ENDS)]


_LINE = {"bounds_y": (-1, 1), "fit_intercept": False}
_TREE = {"bounds": (0, 1), "classes": [0, 1], "max_depth": 1}
_UNIT = {"bounds": (0, 1)}

RELEASES = {
    "LinearRegression 0..1": fitted(models.LinearRegression, line, bounds_X=(0, 1), **_LINE),
    "LinearRegression -1..1": fitted(models.LinearRegression, line, bounds_X=(-1, 1), **_LINE),
    "LogisticRegression norm 1": fitted(models.LogisticRegression, slope, fit_intercept=False, data_norm=1.0),
    "PCA": fitted(
        models.PCA,
        lambda model: np.array([*model.components_[0], *model.explained_variance_]),
        n_components=1,
        centered=True,
        data_norm=1.0,
    ),
    "StandardScaler": fitted(
        models.StandardScaler, lambda model: np.array([*np.ravel(model.mean_), *np.ravel(model.var_)]), **_UNIT
    ),
    "DecisionTreeClassifier": fitted(models.DecisionTreeClassifier, at_the_ends, **_TREE),
}
