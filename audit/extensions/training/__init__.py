"""Training runs: record one, compare it with what its accountant was told, and plant canaries in its data."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "runs.recorder": ["Recorder"],
        "runs.strategy": ["Strategy"],
        "canaries.planting": [
            "CanaryPlan",
            "adversarial_canaries",
            "dirac_canaries",
            "mislabeled_canaries",
            "plant",
            "settled",
        ],
        "canaries.scores": ["AlignmentScores", "calibrated_scores", "loss_scores"],
    },
)
