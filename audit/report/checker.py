"""Check the proofs of a certificate: `python checker.py certificate.json`, with the standard library alone.

This file shares no code with the package, and imports none of it, so that it can be read and trusted by itself. It
takes the tables of the two output laws of each pair from the certificate, and nothing of what the package computed
from them. It recomputes the bracket of delta, decides again, and compares with the verdict that the certificate states.
What it cannot see is whether the tables are those of the code: `dp-audit` made them by running it.

A table lists for each output lower bounds p and q of its probability on the left and on the right dataset. With
r = 1 - sum p and s = 1 - sum q, for every event E of outputs,

    P(E) <= p(E) + r   and   Q(E) >= q(E),   so   P(E) - e^eps Q(E) <= sum max(0, p - e^eps q) + r,
    P(E) >= p(E)   and   Q(E) <= q(E) + s,   so   delta >= sum max(0, p - e^eps q) - e^eps s, by E = {p > e^eps q}.

Exit status: 0 if every proof holds as stated, 1 if one does not, 2 if the file cannot be read or holds no proof.
"""

# mypy: ignore-errors
import json
import sys
from fractions import Fraction

TOLERANCE = Fraction(1, 2**40)  # of delta, as the certificate's verdicts allow
LARGEST = 64  # an epsilon beyond it claims nothing, and e^epsilon would take its time
BASES = ("proved", "enumerated")  # without, and with, assumptions about the code


class Wrong(Exception):
    """Says what is wrong with a record."""


def power_of_e(exponent):
    """Return two fractions with e^exponent between them: partial sums of e^(x/2^k), squared k times."""
    if exponent < 0:
        raise Wrong("epsilon is negative")
    small, squarings = Fraction(exponent), 0
    while small > Fraction(1, 8):
        small, squarings = small / 2, squarings + 1
    low, term = Fraction(1), Fraction(1)
    for number in range(1, 60):
        term = term * small / number
        low = low + term
        low, term = down(low), down(term)
    # 59 roundings of the terms and of their sums, and the rest of the series, which is below its last term
    high = low + Fraction(200, 2**400) + 2 * Fraction(1, 8) ** 59
    for _ in range(squarings):
        low, high = down(low * low), up(high * high)
    return low, high


def down(value):
    return Fraction((value.numerator << 400) // value.denominator, 1 << 400)


def up(value):
    return Fraction(-((-value.numerator << 400) // value.denominator), 1 << 400)


def probability(text):
    """Return a fraction that is written as digits, or as digits over digits."""
    parts = text.split("/")
    if len(parts) > 2 or not all(part.isascii() and part.isdigit() for part in parts):
        raise Wrong(f"{text!r} is not a fraction")
    return Fraction(int(parts[0]), int(parts[1]) if len(parts) == 2 else 1)


def tables(proof):
    """Return the rows of a table, and the two residuals."""
    rows = [(probability(left), probability(right)) for _, left, right in proof["law"]]
    if len({output for output, _, _ in proof["law"]}) < len(rows):
        raise Wrong("an output is listed twice")
    residuals = [1 - sum((row[side] for row in rows), Fraction(0)) for side in (0, 1)]
    if min(residuals) < 0:
        raise Wrong("probabilities add up to more than 1")
    return rows, residuals


def bracket(proof, epsilon):
    """Return a lower and an upper bound of delta at epsilon, for the worse of the two directions."""
    rows, residuals = tables(proof)
    low, high = power_of_e(epsilon)
    lower, upper = Fraction(0), Fraction(0)
    for p, q in ((0, 1), (1, 0)):
        most = sum((max(Fraction(0), row[p] - low * row[q]) for row in rows), residuals[p])
        least = sum((max(Fraction(0), row[p] - high * row[q]) for row in rows), -high * residuals[q])
        upper, lower = max(upper, most), max(lower, least)
    return lower, min(Fraction(1), upper)


def proofs_of(check):
    """Return the tables of a check, one for each pair; none where its laws were not enumerated."""
    return [law for way in check["evidence"].get("ways", ()) if way["way"] == "enumeration" for law in way["laws"]]


def decide(check):
    """Return the verdict and the basis that follow from the tables of a check, and its bracket of delta."""
    claim, proofs = check["claim"], proofs_of(check)
    if claim.get("kind", "approximate") != "approximate":
        raise Wrong("the claim is not one of (epsilon, delta)")
    if [proof["pair"] for proof in proofs] != list(range(len(check["pairs"]))):
        raise Wrong("there is not one proof for each pair")
    for part in ("epsilon", "delta"):
        if type(claim[part]) not in (int, float):
            raise Wrong(f"{part} is not a number")
    if not 0 <= claim["epsilon"] <= LARGEST:
        raise Wrong(f"no epsilon beyond {LARGEST} is judged")
    delta = Fraction(claim["delta"])
    brackets = [bracket(proof, Fraction(claim["epsilon"])) for proof in proofs]
    lower, upper = (max(ends) for ends in zip(*brackets))  # noqa: B905
    if any(proof["behind"] for proof in proofs):
        return ("INCONCLUSIVE", "none"), lower, upper
    basis = "enumerated" if any(proof["assumed"] for proof in proofs) else "proved"
    if lower > delta + TOLERANCE:
        return ("FAIL", basis), lower, upper
    if upper > delta + TOLERANCE:
        return ("INCONCLUSIVE", "none"), lower, upper
    return ("PASS", basis), lower, upper


def report(check):
    """Print a line on a check with proofs; return whether it is as stated."""
    name = check.get("name")
    stated = check.get("verdict"), check.get("basis")
    try:
        verdict, lower, upper = decide(check)
    except (Wrong, ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        print(f"WRONG  {name!r}: {error}")
        return False
    found = f"delta in [{float(lower):.6g}, {float(upper):.6g}] at epsilon = {check['claim']['epsilon']:g}"
    if verdict != stated:
        print(
            f"WRONG  {name!r}: stated {stated[0]} ({stated[1]}), the tables give {verdict[0]} ({verdict[1]}), {found}"
        )
        return False
    print(f"holds  {name!r}: {verdict[0]} ({verdict[1]}), {found}")
    return True


def main(arguments):
    try:
        with open(arguments[0], encoding="utf-8") as file:
            checks = json.load(file)["checks"]
        proved = [check for check in checks if proofs_of(check) or check.get("basis") in BASES]
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        print(f"cannot be read: {error!r}")
        return 2
    if not proved:
        print("no check of this certificate has a proof")
        return 2
    found = [report(check) for check in proved]
    return 0 if all(found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
