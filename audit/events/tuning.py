"""State every tuned constant of the event choice, of the scorers and of the sequential game once.

None of them touches an error probability: events are certified on fresh outputs. They trade the value of the events
chosen, time and memory. Each group names what measures it:

VALUE  `python -m benchmarks.bugs.event_values` (mean bound of the chosen events, 1e5 and 1e6 outputs per dataset)
       and `python -m benchmarks.bugs.scoreboard` (the whole audit)
LAW    `tests/core/events/test_choice_of_events.py`, `test_released_values.py`: the same value, by exact output laws
VECTOR `tests/core/scorers/test_vector_scorers.py`, `test_scorers_and_events.py`: leaks of known epsilon
BITS   `tests/core/checks/precision`: floating-point leaks
PAIRS  `python -m benchmarks.sequential`: pairs of outputs until a false claim is refuted
TIME   `python -m benchmarks.overhead`, `python -m benchmarks.scaling`
"""

import numpy as np

# The division of a budget. VALUE, TIME
FIRST_SHARE = 0.125  # of the budget that trains
STATED_SHARE = 0.375  # of the budget that trains, and is compared with the law, where a law is stated
MORE_SHARE = 0.2  # of it that also trains when the events found are rare, so that chance decides which look best
FEWEST_FIRST, FEWEST_SHARE = 300, 0.3  # outputs per dataset that show an event, unless they exceed this share
MOST_FIRST, MOST_MORE = 100_000, 550_000  # outputs per dataset over all pairs, in a step: bounds memory
MOST_NUMBERS = 2**24  # numbers per dataset: bounds memory for wide outputs (128 MiB)
FEWEST_SEEN = 2_100  # training outputs per dataset and pair that show events of probability 0.01, early ones included
OVERSTATED = 4.0  # the outputs needed are overstated by this factor at least: with more of them the estimate rises
TRAINING_CALLS = 32  # calls per dataset in which the first outputs are drawn; seven times as many certify. TIME
FEWEST_TRAINING_CALLS = 8  # of numbers, where memory bounds how many train; others show dependence. TIME
TRAINING_PER_EARLY = 4  # training calls for each one that is set aside and certifies
CALLS_PER_ODDS, MOST_CALLS = 8.0, 20_000  # calls per dataset: this many e^epsilon at least, so that calls alone refute
LONG_SHARE = 6  # a long call on one dataset is made where the budget is this many times its size
LONG_SHARE_STATED = 1  # the same where the law is stated, and the game, whose outputs it takes, decides nothing
UNSURE = 0.06  # relative standard error of the log-ratio of guesses below which no more outputs train
TRIAL = 25_000  # outputs per dataset on which slow scorers are tried before they are fitted on all
NEAR_LIMIT = 1.0  # slow scorers are not asked when the best estimate is within this of what runs can certify at all

# Thresholds on one score. LAW, TIME
COARSE_GRID = (24, 40)  # fewest and most thresholds of each spacing: even ranks, and ranks spaced from either end
FINE_GRID = 12  # ranks tried on either side of a threshold that was chosen on the coarse grid

# The judgment of candidates. LAW, VALUE
PENALTIES = (2.0, 3.0, 5.0)  # standard errors deducted while thresholds are chosen; the best on fresh halves is used
CHOICE_PENALTY = 2.0  # standard errors by which the best of several scores, each judged on fresh outputs, looks better
CHOICE_PENALTY_LEARNED = 3.0  # the same for learned scores: at equal estimates the simpler score is safer
COARSE_SCORE = 6  # learned scores with at most this many values count as simple: they are the counts themselves
TABLE_SHARE = 0.5  # a score with fewer distinct values per output than this is a table, else a line
SHORT_TABLE = 12  # learned tables of at most this many values are exempt from a deduction: overfitting is negligible
RARE_GUESSES = 5_000  # on all training outputs: with fewer, events of such a table are chosen again on all of them
LINE_NEEDS, TABLE_NEEDS = 10_000, 20_000  # outputs of a line and of a table: fewer cannot show a misfit in the tails
LINE_BINS = 200  # of equal mass, in which the calibration line is fitted
LINE_CUTS = (0.001, 0.003, 0.01, 0.03, *np.linspace(0.1, 0.9, 9), 0.97, 0.99, 0.997, 0.999)  # of the test of fit
LINE_MISFIT = 0.001  # level of the test of fit
LINE_ERRORS = 3.0  # standard errors by which the slope must exceed 0

# The best interval of any width. `python -m benchmarks.violations`
SCAN_GAINS = (0.0, 0.15, 0.4, 0.8, 1.5, 3.0)  # log-odds beyond the claim by which runs are weighed
PLANTED_GAINS = (0.15, 0.8)  # the same at these steps: fewer find a little less. TIME
SCAN_SHARE = 0.2  # of the significance; the rest is that of the simple events, certified on the same outputs
SCAN_NEEDS = 20_000  # training outputs per dataset that show an interval of probability 0.01 at a ratio e^(epsilon + 1)
SCAN_MOST = 0.25  # of the budget that trains at once, for the scan: the rest resolves the usual events
SCAN_DISJOINT = 3  # intervals for each weight and direction
SCREENING_STEP = 8  # outputs between possible ends of intervals at a first look. TIME
PLANTED_STEP = 16  # the same where many columns are screened, and where plants are looked for. TIME
SCANNED_COLUMNS, COLUMNS_AT_ONCE = 4, 16  # columns that are scanned after the screening, and read at once. TIME
SCANNED_NUMBERS, SCANNED_ROWS = 20_000_000, 4_000  # numbers per dataset scanned at most; fewest rows. TIME
SCANNED_SUMMARIES = ("sum of squares", "largest", "smallest", "place of the largest", "smallest gap")  # of a row
SCANNED_PAIRS = 6  # pairs of coordinates, those whose second moments differ most
SURE_EVIDENCE = 1.8  # expected evidence at which an event beats chance and is chosen in 97 % of audits
PLANT_MARGIN, PROJECTED_ROWS = 1.15, 4_000  # sizes of planted shifts over the least; rows that show their projections
CUT_COORDINATES = 12  # coordinates of a planted shift up to which each is cut as the score cuts it. TIME
DEALINGS = 6  # ways in which the base is dealt: plants share them. TIME
UNUSUAL = 0.02  # share of outputs in which a column must differ from its usual value to take part in a pair
USUAL_ROWS = 65  # first rows that show whether a column may have a usual value; odd, so that a median is one. TIME
CHANCE_SCAN = 3.0  # evidence of the best interval that chance seldom reaches on one pair

# The direction in which means differ. `python -m benchmarks.outputs_at_the_defaults half`
FULL_COVARIANCE = 200  # coordinates up to which they are decorrelated. TIME
WIDE = 200  # coordinates beyond which screened features and trees are not fitted: scan and direction read all. TIME
RIDGE_SHARE = 1e-6  # of the mean variance, added to all
NUMBERS_AT_ONCE = 2**18  # standardized in one piece: they fit the cache. TIME

# Counting scorers: atoms, cells, flags. LAW, VALUE
ATOM_COUNT = 5  # occurrences that make an output an atom; rarer outputs share one cell for each kind
MOST_RARE_ATOMS = 0.005  # share of rare outputs up to which atoms see everything: half of the stated blind spot
MOST_CELLS = 256  # intervals of the line
HALVING_PRICE = 6.0  # deviance that a halving of cells must explain where sums are read; chance explains 1
EXPLAINED = 0.8  # of its variance, below which a coordinate is read beside an earlier one
ADDITIVE_MISFIT = 0.05  # level at which counts contradict that flags say as much wherever they stand in a group
FLAG_COUNT = 20  # occurrences that give a pattern of flags a cell of its own
MOST_FLAGS = 6  # distinct flags
MEDIAN_ERRORS = 3.0  # standard errors within which medians, of two coordinates or datasets, are one
FREQUENT = 0.01  # share that makes a value a flag, or an indicator a feature
FEW_OUTPUTS = 40  # distinct outputs of a sample up to which counting sees everything
VOTE_ERRORS = 3.0  # standard errors by which a bit must differ to have a vote
KNOTS = (0.1, 0.5, 0.9)  # quantiles of the lowest released value between which the weight of a flag changes evenly

# Scorers of vectors and structures. VECTOR, VALUE (NoisyHist, SVT3, SVT6, PrefixSum)
SAMPLE = 2000  # rows per dataset that show what kind of outputs these are
MANY_ROWS, VECTOR_ROWS, TREE_ROWS, STRUCTURE_ROWS = 400_000, 40_000, 20_000, 20_000  # most rows per dataset: TIME
STRUCTURE_ENTRIES = 1_000  # of a text or a list, half at each end; its length counts in any case
SCORE_DECIMALS = 9  # scores and sums that agree to this many decimals are one value: plateaus survive rounding
CLIP = 4.0  # standard deviations beyond which a value counts no more: a few far ones would bend the fit
SCREENING_CELLS = 16  # quantiles between which a feature's counts are compared
SCREENING_WORK, SCREENED_ROWS = 1_000_000, (8_000, 40_000)  # rows times features; fewest and most rows: TIME
ALL_PAIRS, MOST_PAIRS = 8, 20  # coordinates up to which all pairs give features; else that many pairs do
FEW_COORDINATES = 6  # coordinates up to which all are features, and trees see everything
MOST_FEATURES, MOST_SQUARED = 12, 4  # features kept; of these, features whose products are terms
FEATURE_ERRORS = 3.0  # standard errors by which a feature must differ between the sides
OWN_VARIANCE = 0.02  # share of its variance that a term must have to itself beside those before it
ROUNDED_VARIANCE = 1e-12  # of the mean square of a feature: what rounding leaves of the variance of a constant
KEPT_ERRORS, TERM_PRICE = 2.5, 4.0  # standard errors of a weight that is kept; log-likelihood that a term must add
TREES = dict(max_iter=25, learning_rate=0.1, max_leaf_nodes=8, l2_regularization=1.0, max_bins=128)
MISFIT_CELLS, MISFIT_ROUNDS = (16, 4), 3  # of each feature, alone and in pairs; corrections of each coordinate
MISFIT = 0.01  # level at which cells contradict the logistic regression, so that trees are fitted. TIME
RESIDUAL_ROWS = 10_000  # rows per dataset, or a quarter of more, that show whether one score says all. TIME
MOST_COUNTED = 8  # entries of a structure whose occurrences are counted

# Logistic regression: Newton's method squares the error, so after a step of 1e-4 about 1e-8 is left. TIME
NEWTON_STEPS, LAST_STEP, LONGEST_STEP = 12, 1e-4, 2.0  # iterations; step in one weight that ends them; longest one

# Scorers of bits. BITS, TIME
MOST_STEPS, MOST_LABELS, MOST_RECORDS = 2, 64, 2_000_000  # integers by the median, labels, records read for guesses
MOST_GRIDS, GRID_BITS = 3, (-4, 6)  # guesses proposed; bits about the last place beyond which cells are merged
OWN_ROUND_TRIPS, MOST_ROUND_TRIPS = 0.99, 4  # share of its own outputs that a true answer reaches (ties may fail)
OWN_REACHED, MOST_SCALES = 0.98, 2  # the same for a true scale; guesses proposed
PROBED_OUTPUTS, MOST_ANSWERS = 100, 40  # outputs per dataset on which a scale is tried; answers tried

# The sequential game. PAIRS, TIME
BATCH_SHARE = 0.015  # a batch is at most this share of the steps before it
EARLY_DOUBT = 5.0  # after this many steps half of the log-odds are used: experts do not know yet how little they saw
NAMED_SHARE = 0.01  # share of the mixture from which an expert is named
LARGE_PENALTY = 1.0  # total log penalty for delta from which a part of the wealth guesses one side only
GUESSED_SIDES = {"both": 0.7, "left": 0.15, "right": 0.15}  # shares of the wealth in that case
BET_SHARES = (0.6, 0.4)  # of the wealth: bets graded by the posterior, and bets on its sign at a fixed rate
FIXED_ODDS = 0.35  # log-odds of the fixed rate, above epsilon
POSTERIOR_MARGIN = 1e-9  # posteriors stay this far from 0 and 1, so that no single output costs all the wealth
RETURNING_SHARE = 0.1  # share of weight that returns to the prior, divided by the number of outputs so far
CALIBRATION_WEIGHTS = (0.8, 0.1, 0.1)  # of the posterior, its success rate, and its success rate by sureness
SURENESS_EDGES = np.array([0.15, 0.35, 0.6, 0.9, 1.3, 2.0, 3.5])  # bins of |log-odds| for the success rates
EXPERT_WEIGHTS = {
    **{"Laplace": 6.0, "Gaussian": 5.0, "steps": 0.5, "folded steps": 0.3, "cells": 0.8, "cells of |u|": 0.8},
    **{"repeated outputs": 8.0, "kinds of symbols": 0.5, "no opinion": 0.5},  # atoms sleep on outputs not seen before
    **{"a learned direction": 3.0, "stated ratio": 8.0},
}
CHEAP_FAMILIES = ("Laplace", "steps")  # on each column of a vector
READ_COORDINATES, MOST_COORDINATES = 4, 128  # coordinates of a vector read alone, and in a direction
MOST_COUNTED_ATOMS = 100_000  # bounds memory
REFIT_ALWAYS, REFIT_OFTEN, LAST_REFIT = 40, 400, 5000  # outputs until the scale follows each batch, often, at all
REFIT_GROWTH, LATER_GROWTH = 1.06, 1.35  # growth of the outputs at which it follows often, and later
TABLE_GROWTH, DIRECTION_GROWTH = 1.03, 1.05  # growth after which cells are tabulated, and the direction computed, again
FINEST_CELLS = 2**9
LARGEST_RATIO, LARGEST_STATED_RATIO = 8.0, 30.0  # absolute log-likelihood ratios are cut here
LARGEST_OUTPUT, LARGEST_COORDINATE = 1e150, 1e100  # larger numbers are cut; differences of two stay finite
FARTHEST_OUTPUT, FARTHEST_COORDINATE = 1e6, 8.0  # largest standardized value: a wild one must not set the direction
WINSOR = 8.0  # deviations are cut at this many median deviations: one wild output must not set the scale
DIRECTION_NEEDS = 40  # outputs by which coordinates are centered and scaled, before the first prediction
RIDGE = 0.1  # added to the variances within the sides
SHIFTS = (0.15, 0.3, 0.5, 0.7, 0.9, 1.15, 1.5, 2.0, 2.8, 4.0, 8.0)  # in mean absolute deviations
RATIOS = (0.2, 0.4, 0.65, 0.95, 1.4, 2.0, 3.0)  # logarithms of ratios of scales
FEW_SHIFTS, FEW_RATIOS = (0.3, 0.75, 1.5, 4.0), (0.3, 0.75, 1.5)  # where both differ
KIND_WEIGHTS = (0.05, 0.4, 0.35, 0.2)  # of no difference, a shift, another scale, both
STEP_HEIGHTS = (0.25, 0.5, 0.8, 1.2, 2.0, 4.0)
