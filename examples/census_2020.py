"""The counts of persons of the 2020 Census: epsilon of their noise, from both sides, at deltas down to 1e-35.

Levels, queries and shares of the budget are those of the Census Bureau's production code for the redistricting data of
the United States: DAS_2020_Redistricting_Production_Code, strategy ProductionCandidate20210527US_mult8_add02_dsepJune3.
Each of the 65 histograms has discrete Gaussian noise, and a person who is replaced moves two cells of each.
"""

from fractions import Fraction
from functools import partial

from audit import Substitution, check_accounting
from audit.extensions.training.accountants.brackets import epsilon_bracket
from audit.extensions.training.accountants.discrete_gaussians import DiscreteGaussians

SCALE = Fraction(339, 542)  # 1 / SCALE**2 is the budget of all levels, rho = 2.56
LEVELS = {  # share of the budget, of 4,099; shares of its queries
    "nation": (104, [52, 26, 26, 26, 26, 130, 130, 26, 442, 3213]),
    "state": (1440, [3773, 6, 6, 6, 6, 6, 12, 12, 6, 34, 230]),
    "county": (447, [3126, 10, 10, 10, 10, 10, 28, 28, 10, 101, 754]),
    "tract": (687, [1567, 8, 5, 5, 5, 5, 1933, 20, 5, 67, 482]),
    "block group": (1256, [1705, 3, 3, 3, 3, 3, 1055, 9, 3, 24, 1288]),
    "block": (165, [5, 9, 5, 5, 5, 5, 21, 21, 5, 71, 3945]),
}
SHARES = [
    Fraction(level, 4099) * Fraction(query, sum(queries)) for level, queries in LEVELS.values() for query in queries
]
EVENT = DiscreteGaussians(tuple(SCALE**2 / share for share in SHARES))
ANNOUNCED = 17.14  # epsilon at delta = 1e-10, as the Bureau announced it in June 2021


def main():
    bracket = partial(epsilon_bracket, relation=Substitution())
    for delta in (1e-10, 1e-20, 1e-35):
        lower, upper = bracket(EVENT, delta)
        print(f"delta {delta:g}: epsilon is between {lower:.2f} and {upper:.2f}")
    result = check_accounting(lambda event, delta: ANNOUNCED, [EVENT], 1e-10, bracket)
    print(f"announced: {result.verdict} - {result.reason}")


if __name__ == "__main__":
    main()
