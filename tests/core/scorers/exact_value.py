"""Compute the value of events: the bound that they give with expected counts, by the exact output law."""

from audit.statistics.bounds import GameCounts, game_epsilon_lower_bound


def value_of(events, outputs, laws, runs, significance=0.05):
    """Claim of delta 0; `laws` holds, for either side, the probability that each of the outputs stands for."""
    guesses = events.guess(outputs)
    shares = [[law[guesses == sign].sum() / 2 for sign in (1, -1)] for law in laws]
    counts = [round(runs * probability) for side in shares for probability in (*side, 0.5 - sum(side))]
    return game_epsilon_lower_bound(GameCounts(*counts), 0.0, significance)
