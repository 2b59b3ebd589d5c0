"""Releases of fitted diffprivlib.models: the attributes that the documentation lists, or predictions."""

import numpy as np
from diffprivlib import models


def of(dataset):
    """Features and labels of a labeled dataset."""
    return np.array(dataset["X"], dtype=float), np.array(dataset["y"])


def line(bounds_x):
    """Coefficient of a regression on one feature, without intercept."""

    def release(dataset, state):
        model = models.LinearRegression(
            epsilon=1.0, bounds_X=bounds_x, bounds_y=(-1, 1), fit_intercept=False, random_state=state
        ).fit(*of(dataset))
        return np.array([*np.ravel(model.coef_), *np.ravel(model.intercept_)])

    return release


def logistic(**settings):
    """Coefficient of a logistic regression without intercept."""

    def release(dataset, state):
        model = models.LogisticRegression(epsilon=1.0, fit_intercept=False, random_state=state, **settings)
        return float(model.fit(*of(dataset)).coef_[0, 0])

    return release


def bayes(dataset, state):
    """Counts, means and variances of two classes, when there are two."""
    model = models.GaussianNB(epsilon=1.0, bounds=(10, 11), random_state=state).fit(*of(dataset))
    return np.concatenate([model.class_count_, model.theta_.ravel(), model.var_.ravel()])


def bayes_classes(dataset, state):
    """Number of classes of a naive Bayes classifier."""
    return float(len(models.GaussianNB(epsilon=1.0, bounds=(0, 1), random_state=state).fit(*of(dataset)).classes_))


def clusters(attribute, **settings):
    """An attribute of a clustering."""

    def release(dataset, state):
        model = models.KMeans(epsilon=1.0, bounds=(0, 1), random_state=state, **settings).fit(np.array(dataset))
        return np.ravel(getattr(model, attribute)).astype(float)

    return release


def components(dataset, state):
    """First principal axis in the plane, and what it explains."""
    model = models.PCA(1, epsilon=1.0, centered=True, data_norm=1.0, random_state=state).fit(np.array(dataset))
    return np.array([*model.components_[0], *model.explained_variance_])


def scaler(dataset, state):
    """Mean and variance of one feature."""
    model = models.StandardScaler(epsilon=1.0, bounds=(0, 1), random_state=state).fit(np.array(dataset))
    return np.array([*np.ravel(model.mean_), *np.ravel(model.var_)])


def tree(dataset, state):
    """Return the predictions of a tree of depth 1 at both ends."""
    model = models.DecisionTreeClassifier(1, epsilon=1.0, bounds=(0, 1), classes=[0, 1], random_state=state)
    return [int(label) for label in model.fit(*of(dataset)).predict([[0.0], [1.0]])]


def forest(dataset, state):
    """Return the predictions at both ends of every tree of a forest of depth 1."""
    model = models.RandomForestClassifier(
        3, epsilon=1.0, bounds=(0, 1), classes=[0, 1], max_depth=1, random_state=state
    ).fit(*of(dataset))
    return [int(each.predict([[0.0], [1.0]])[end]) for each in model.estimators_ for end in (0, 1)]


RELEASES = {
    "LinearRegression 0..1": line((0, 1)),
    "LinearRegression -1..1": line((-1, 1)),
    "LogisticRegression norm 1": logistic(data_norm=1.0),
    "LogisticRegression norm 100": logistic(data_norm=100.0, C=0.004),
    "GaussianNB 10..11": bayes,
    "GaussianNB classes": bayes_classes,
    "KMeans centers": clusters("cluster_centers_", n_clusters=2),
    "KMeans inertia": clusters("inertia_", n_clusters=1),
    "PCA": components,
    "StandardScaler": scaler,
    "DecisionTreeClassifier": tree,
    "RandomForestClassifier": forest,
}
