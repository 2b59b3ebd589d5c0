"""Privacy tables: printed noise, literal gap, calibrated noise, soft labels, overlapping chunks, accuracy.

Upper bounds are proofs, attacks are lower bounds; both are computed without simulation.
"""

from __future__ import annotations

from collections.abc import Callable

from scipy.optimize import brentq

from audit.laws import compose
from benchmarks.tables import show
from mechanisms.papers.bassily2018.accuracy import SETTINGS, printed_failure, printed_k, sparse_alpha, sure_failure
from mechanisms.papers.bassily2018.algorithm1 import (
    LEVELS,
    MOVES,
    PREFIXES,
    SIDES,
    StoppingTimes,
    around,
    prefix_attack,
)
from mechanisms.papers.bassily2018.faults import REFERENCE
from mechanisms.papers.bassily2018.noise import (
    composed_epsilon,
    optimal,
    printed,
    printed_soft,
    proved_epsilon,
    release_probability,
    run_delta,
    sparse_noise,
)
from mechanisms.papers.bassily2018.privacy import CUTOFFS, LITERAL_GAP_BREAKS
from mechanisms.parts.sparse_vector import Noise

DELTA, QUERIES = 1e-6, 1000
CLAIMED = (1, 2, 5, 10, 20, 50)  # cutoffs
GAP_HOLDS = (1e-2, 1e-4, 1e-6, 1e-8)  # deltas


def best_attack(noise: Noise, delta: float, lipschitz: float = 1.0) -> float:
    """Return the largest epsilon at `delta` that a known attack on a run shows, a lower bound of the truth."""
    attacks = [prefix_attack(noise, lipschitz, shape) for shape in range(len(PREFIXES))]
    longest = StoppingTimes(around(noise, LEVELS, MOVES, lipschitz), noise)  # the epoch of largest Fisher information
    epochs = [[each.epoch_law(side) for side in SIDES] for each in (*attacks, longest)]
    losses = [compose([left.loss_against(right)] * noise.epochs) for left, right in epochs]
    return max(loss.epsilon_lower_bound(delta) for loss in losses)


def needed_margin(beta: float, queries: int, epochs: int) -> float:
    """Return the margin above the threshold, in units of lam, at which the failure probability is exactly beta."""
    return float(brentq(lambda margin: sure_failure(margin, queries, epochs) - beta, 0.0, 300.0, xtol=1e-10))


def status(attack: float, proof: float) -> str:
    """Return what an attack and a proof say of the claim 1."""
    if proof <= 1:
        return "proved"
    return "refuted" if attack > 1 else f"open between {attack:.3g} and {proof:.3g}"


def bracket(proof: float, attack: float) -> list[str]:
    """Return attack and proof, and what they say of the claim 1."""
    return [f"{attack:.3f}", f"{proof:.4f}", status(attack, proof)]


def online_table() -> None:
    """Table A: the online release at the printed noise."""
    rows = []
    for cutoff in CLAIMED:
        run = printed(1.0, DELTA, cutoff, QUERIES)
        literal = proved_epsilon(run, DELTA, QUERIES, lipschitz=2, largest=2)
        ours = bracket(proved_epsilon(run, DELTA, QUERIES), best_attack(run, DELTA))
        theirs = bracket(literal, best_attack(run, DELTA, 2.0))
        rows.append([f"{cutoff}", f"{run.lam:.2f}", *ours[:2], *theirs])
    head = ["T", "lam", "attack", "proof", "gap: attack", "gap: proof", "claim 1 with the gap"]
    show("A. Online release claimed (1, 1e-6), m = 1000: true epsilon at 1e-6", head, rows)


def sparse_table() -> None:
    """Print what is known of sparse vector alone, with T and with T + 1 BOTTOMs."""
    rows = []
    for cutoff in CLAIMED:
        noise = sparse_noise(1.0, DELTA, cutoff, 0.0)
        proofs = [composed_epsilon(DELTA, 2 / noise.lam, epochs) for epochs in (cutoff, cutoff + 1)]
        shown = best_attack(noise, DELTA)
        rows.append([f"{cutoff}", f"{proofs[0]:.4f}", *bracket(proofs[1], shown)[:2]])
    show("Sparse vector alone, claimed (1, 1e-6)", ["T", "proof, T BOTTOMs", "attack, T + 1", "proof, T + 1"], rows)


def gap_table() -> None:
    """Table B: where the literal gap keeps the claim of Corollary 3.10, and where it breaks it."""
    rows = []
    for delta in LITERAL_GAP_BREAKS:
        proved = f"{gap_is_private_up_to(delta):.2f}" if delta in GAP_HOLDS else "-"
        rows.append([f"{delta:g}", proved, f"{gap_breaks_from(delta):.2f}"])
    show("B. The literal gap in sub-sample and aggregate", ["delta", "proved up to eps", "refuted from eps"], rows)


def gap_is_private_up_to(delta: float) -> float:
    """Return the largest epsilon, in steps of 0.05, up to which composition proves the claim at every cutoff and m."""
    epsilon = 5.0
    while all(_gap_delta(epsilon + 0.05, delta, cutoff) <= delta for cutoff in CUTOFFS):
        epsilon += 0.05
    return epsilon


def _gap_delta(epsilon: float, delta: float, cutoff: int) -> float:
    runs = [(m, printed(epsilon, delta, cutoff, m, quiet=True)) for m in {1, cutoff, cutoff + 1, 1000 * cutoff}]
    return max(run_delta(run, epsilon, m, 2, 2) for m, run in runs)


def gap_breaks_from(delta: float) -> float:
    """Return the least epsilon, in steps of 0.05, at which an unstable value at gap 2 gets out too often, T = m = 1."""
    epsilon = 1.0
    while True:
        run = printed(epsilon, delta, 1, 1, quiet=True)
        if release_probability(run.threshold - 2, run.lam) > delta:
            return epsilon
        epsilon += 0.05


def calibrated_table() -> None:
    """Print the noise that is needed, the noise that is printed, and what the gap costs without that waste."""
    rows = []
    for cutoff in (1, 2, 5, 10, 50):
        ours, theirs = optimal(1.0, DELTA, cutoff), printed(1.0, DELTA, cutoff, QUERIES)
        shown = [best_attack(ours, DELTA, lipschitz) for lipschitz in (1.0, 2.0)]
        attacks = [f"{value:.3f}" for value in shown]
        rows.append([f"{cutoff}", f"{ours.lam:.2f}", f"{theirs.lam / ours.lam:.2f}", *attacks])
    head = ["T", "lam needed", "printed / needed", "attack", "attack on the gap"]
    show("Calibrated release at (1, 1e-6)", head, rows)


def soft_table() -> None:
    """Print what is proved of soft labels."""
    rows = []
    for cutoff in CLAIMED:
        run = printed_soft(1.0, DELTA, cutoff, QUERIES)
        rows.append([f"{cutoff}", f"{proved_epsilon(run, DELTA, QUERIES):.4f}"])
    show("Soft labels claimed (1, 1e-6)", ["T", "proof"], rows)


def overlap_table() -> None:
    """Print what is known when each record is in s chunks."""
    rows = []
    for shares in (2, 3, 5, 10, 20, 50):
        shown = best_attack(REFERENCE, DELTA, float(shares))
        proof = proved_epsilon(REFERENCE, DELTA, QUERIES, lipschitz=shares)
        rows.append([f"{shares}", *bracket(proof, shown)])
    show("Each record in s chunks, printed noise, T = 10", ["s", "attack", "proof", "claim 1"], rows)


def accuracy_table() -> None:
    """Print how much larger alpha is than needed, and how often the printed number of teachers fails."""
    rows = []
    for m, cutoff, beta in SETTINGS:
        alpha = sparse_alpha(m, cutoff, beta)
        share = needed_margin(beta, m - cutoff, cutoff + 1) / alpha
        fails = sure_failure(alpha, m - cutoff, cutoff + 1) / beta
        rows.append([f"{m}", f"{cutoff}", f"{beta:g}", f"{share:.2f}", f"{fails:.1e}"])
    show("Theorem 2.8: alpha", ["m", "T", "beta", "needed / claimed", "failure / beta"], rows)
    failures = [
        [f"{e:g}", f"{printed_k(e)}", *(f"{printed_failure(e, rule):.2g}" for rule in ("gap", "safe"))]
        for e in (1.0, 10.0, 50.0, 100.0)
    ]
    show("Theorem 3.11: delta = .01, m = 100, T = 1; beta = .05", ["eps", "k", "gap fails", "safe fails"], failures)


TABLES: dict[str, Callable[[], None]] = {
    "online": online_table,
    "gap": gap_table,
    "sparse": sparse_table,
    "calibrated": calibrated_table,
    "soft": soft_table,
    "overlap": overlap_table,
    "accuracy": accuracy_table,
}
