"""Name the subjects of the comparison: mechanisms of the catalog and of its faults, whose truth is known."""

SIGNIFICANCE = 0.05

FAULTY = (
    "fault/laplace half noise eps=0.25",
    "fault/laplace scale from the data eps=1",
    "fault/laplace one noise for all coordinates eps=1",
    "fault/geometric one-sided eps=0.5",
    "fault/geometric redraws outside the range eps=1",
    "fault/gaussian deviation as variance eps=0.5 delta=0.05",
    "fault/exponential full epsilon eps=0.5",
    "fault/noisy max releases the value eps=1",
    "fault/randomized response keep probability for two eps=1",
    "fault/snapping grid follows the answer eps=0.5",
)
CORRECT = (
    "laplace/count eps=1",
    "laplace/histogram eps=1",
    "geometric/count eps=1",
    "gaussian/count eps=1 delta=0.05",
    "exponential/median eps=1",
    "noisy max/laplace eps=1",
    "decoy/noisy max permute and flip eps=1",
    "randomized response/four labels eps=1",
    "snapping/count eps=0.5",
    "bousquet2022/theorem 2.4 sharp eps=1 delta=0.025",
)
