"""Parts that this extension adds: scikit-learn style estimators as their users call them."""

from audit.api import Plugin

_HERE = "audit.extensions.estimators."
PLUGIN = Plugin(
    name="estimators",
    kinds={"estimator": (f"{_HERE}check:EstimatorCheck", f"{_HERE}check:check_estimator")},
    names={
        f"{_HERE}check": ("EstimatorCheck", "EstimatorResult", "check_estimator"),
        f"{_HERE}learners": ("FittedObject", "Predictions", "Released"),
    },
)
