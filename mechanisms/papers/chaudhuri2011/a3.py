"""Algorithm A3 of Chaudhuri & Hsu (2011), Figure 3 and Appendix E: label privacy, a cover made of the points
themselves.

G is a set that is an (accuracy / 4)-packing and cover in the metric of the unlabeled sample; then as A1. G depends on
the points, which are public under label flip, and nowhere else.
"""

from dataclasses import dataclass, field

from mechanisms.papers.chaudhuri2011.a1 import CoverAlgorithm
from mechanisms.papers.chaudhuri2011.separators import LinearSeparatorClass
from mechanisms.papers.chaudhuri2011.thresholds import FloatArray, ThresholdClass


@dataclass(frozen=True)
class A3(CoverAlgorithm):
    """Algorithm A3; (epsilon, 0)-DP under label flip, and only there. Parameters as `CoverAlgorithm`; no stumps."""

    hypotheses: ThresholdClass | LinearSeparatorClass = field(default_factory=ThresholdClass)

    def cover(self, X: FloatArray) -> FloatArray:
        """Return the cover in the sample metric."""
        return self.hypotheses.sample_packing_cover(X, self.accuracy / 4)
