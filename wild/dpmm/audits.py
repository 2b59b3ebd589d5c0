"""dpmm 0.1.9: generators of tables. The library names no relation; its noise on counts is that of one record more."""

from __future__ import annotations

from audit import Substitution
from wild.about import About
from wild.entry import Release, notes_of

DELTA = 1e-5  # as in `served.py`
RELEASE = Release("dpmm", "dpmm", "dpmm 0.1.9", budget=17_000)
_SAYS = 'README: "end-to-end Differential Privacy guarantees", epsilon=0.9 and proc_epsilon=0.1'
_BINS = 'README: "continuous data is discretized with DP (Uniform and PrivTree)", epsilon=1'
_TABLE = {"delta": DELTA, "tolerance": 2.5, "budget": 17_000}
_SURE = {"delta": DELTA, "tolerance": 2.0, "budget": 1_000}
_COMMON = [[0, 0, 0]] * 1_999

ENTRIES = [
    RELEASE.entry("MST", [([[0], [1]], [[0], [1], [1]])], _SAYS, **_TABLE),
    RELEASE.entry(
        "AIM, a constant column",
        [([[0, 0, 0], [0, 1, 1]], [[0, 0, 0], [0, 1, 1], [1, 0, 0]])],
        _SAYS,
        **_SURE,
        refuted="`dpmm/processing/table_binner.py: TableBinner.fit` looks for columns with one value, takes them out "
        "of the data and puts the value into every generated record. The test and the value are exact, also where the "
        "domain is given. To mend it, treat such a column as any other of its domain. All pipelines do this; the "
        "documentation has no caveat.",
    ),
    RELEASE.entry(
        "AIM, a missing value",
        [([[0, 0], [1, 1]], [[0, 0], [1, 1], [None, 1]])],
        _SAYS,
        **_SURE,
        refuted="`dpmm/processing/table_binner.py: TableBinner.fit` adds a column about missing values where the data "
        "have one, without noise: generated tables have missing values, and numbers become floats, only then. It also "
        "keeps a value of one record as the fill value. To mend it, ask in the domain whether values can be missing, "
        "and fill in a public one. The documentation has no caveat.",
    ),
    RELEASE.entry(
        "MST, a value outside the domain",
        [([[0], [1]], [[0], [1], [2]])],
        _SAYS,
        **_SURE,
        refuted="`dpmm/processing/table_binner.py: TableBinner.fit` raises ValueError where a record has a category "
        "that the given domain lacks. One record decides whether there is a table. To mend it, replace such values by "
        "one of the domain. The documentation has no caveat.",
    ),
    RELEASE.entry(
        "PrivBayes, chosen marginals",
        [([*_COMMON, [1, 1, 0]], [*_COMMON, [1, 0, 0]])],
        'PrivBayesGM: "relies on the exponential and laplace mechanism to ensure differential privacy"',
        **_SURE,
        relation=Substitution(),
        refuted="`dpmm/models/priv_bayes.py: MI.__call__` divides the mutual information by the root of the product of "
        "the two entropies. `ExponentialMechanism.compute_delta` states the sensitivity of mutual information, about "
        "log(n) / n, in natural logarithms, while the entropies are in bits. The quotient changes by 1 when one record "
        "of n changes: for columns that are 1 in the same single record it is 1, and 0 when one of them is constant. "
        "With 2,000 records the odds of a marginal change by a factor above 10,000. To mend it, choose by the mutual "
        "information itself, in one unit. The documentation has no caveat.",
    ),
    RELEASE.entry("PrivTree", [([1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 3.5])], _BINS, tolerance=2.5),
    RELEASE.entry(
        "PrivTree, automatic number of bins",
        [([3.0] * 2_559, [3.0] * 2_560)],
        _BINS,
        tolerance=2.0,
        budget=2_000,
        refuted="`dpmm/processing/utils.py: optimal_n_bins` computes the number of bins from the exact number of "
        "records, 20 for 2,559 and 21 for 2,560, and the bins show it. To mend it, ask for the number of bins, or "
        "release a noisy count. `auto` is the default of the pipelines, and the documentation has no caveat.",
    ),
    RELEASE.entry("approx_bounds", [([3.0] * 15, [3.0] * 14)], _BINS, tolerance=2.5),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    repository="sassoftware/dpmm",
    access={
        "*PrivTree*": "the bins, which the processing step keeps",
        "*chosen marginals*": "the structure of the model, which `store` writes and every generated table follows",
        "*": "the generated table",
    },
    not_audited=(
        "Pipelines without a domain, for which the library logs `PrivacyLeakage`.",
        "MST on two columns and more, whose choice of marginals takes four seconds a table.",
        "The noise of AIM and PrivBayes.",
        "Generators that were fit to public data first, generation under conditions, and structural zeros.",
        "Dates and time spans, `UniformBinner`, PrivTree without bounds, and the compression of domains on its own.",
        "Fits of more than two steps to the noisy marginals: these post-process.",
    ),
)
