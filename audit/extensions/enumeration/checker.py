"""Check the proofs of a certificate: `python checker.py certificate.json`, with the standard library alone.

This file shares no code with the package, and imports none of it, so that it can be read and trusted by itself. It
takes the tables of the two output laws of each pair from the certificate, and the counts of outputs of the code on each
dataset, and no result of the package on them. It compares the tables with the counts, recomputes the
bracket of delta, decides again, and compares with the verdict that the certificate states. It cannot see
whether the laws are those of the code: `dp-audit replay --code` enumerates them again.

A table lists for each output lower bounds p and q of its probability on the left and on the right dataset. With
r = 1 - sum p and s = 1 - sum q, for every event E of outputs,

    P(E) <= p(E) + r   and   Q(E) >= q(E),   so   P(E) - e^eps Q(E) <= sum max(0, p - e^eps q) + r,
    P(E) >= p(E)   and   Q(E) <= q(E) + s,   so   delta >= sum max(0, p - e^eps q) - e^eps s, by E = {p > e^eps q}.

Exit status: 0 if every proof holds as stated, 1 if one does not, 2 if the file cannot be read or holds no proof.
"""

# mypy: ignore-errors
import hashlib
import json
import math
import sys
from fractions import Fraction

TOLERANCE = Fraction(1, 2**40)  # of delta, as the certificate's verdicts allow
LARGEST = 64  # an epsilon beyond it claims nothing, and e^epsilon would take its time
OUTPUTS, LEVEL = 10_000, 1e-9  # drawn by the code on each dataset; and how seldom those of a right law contradict it


class Wrong(Exception): ...


def power_of_e(exponent):
    """Return two fractions with e^exponent between them: partial sums of e^(x/2^k), squared k times."""
    squarings = max(0, exponent.numerator.bit_length() - exponent.denominator.bit_length() + 4)
    small = exponent / 2**squarings  # at most 1/8
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
    return -down(-value)


def probability(text):
    """Return a fraction that is written as digits, or as digits over digits."""
    parts = text.split("/")
    if len(parts) > 2 or not all(part.isascii() and part.isdigit() for part in parts):
        raise Wrong(f"{text!r} is not a fraction")
    return Fraction(int(parts[0]), int(parts[1]) if len(parts) == 2 else 1)


def tables(proof):
    rows = [(probability(left), probability(right)) for _, left, right in proof["law"]]
    if len({output for output, _, _ in proof["law"]}) < len(rows):
        raise Wrong("an output is listed twice")
    residuals = [1 - sum((row[side] for row in rows), Fraction(0)) for side in (0, 1)]
    if min(residuals) < 0:
        raise Wrong("probabilities add up to more than 1")
    return rows, residuals


def agrees(drawn, law):
    """Return whether no output of the code occurs too often or too seldom for a law, by Chernoff's bound."""
    counts, left = dict(drawn["counts"]), 1 - float(sum(law.values()))
    total = sum(counts.values()) + drawn["others"]
    events = [(float(mass), counts.pop(text, 0)) for text, mass in law.items()]
    events.append((0.0, drawn["others"] + sum(counts.values())))
    for low, count in events:
        share = count / max(total, 1)
        near = min(max(share, low), low + max(left, 0.0), 1.0)
        parts = [(one, other) for one, other in ((share, near), (1 - share, 1 - near)) if one]
        apart = sum(one * math.log(one / other) if other > 0 else math.inf for one, other in parts)
        if total * apart > math.log(2 * len(events) / LEVEL):
            return False
    return True


def check_sources(check, way):
    """Raise Wrong unless the pairs are those of their domain; return whether outputs have the laws of the tables."""
    known = {}
    for proof in way["laws"]:
        for side, number in enumerate(proof["datasets"]):
            law = {row[0]: mass for row in proof["law"] if (mass := probability(row[1 + side]))}
            if known.setdefault(number, law) != law:
                raise Wrong("a dataset has two laws")
    if sorted(known) != list(range(len(way["outputs"]))):
        raise Wrong("not each dataset has outputs")
    if (domain := way["covers"]) is not None:
        texts, neighbors, relation = (
            domain["datasets"],
            list(map(tuple, domain["neighbors"])),
            check["claim"]["relation"],
        )
        whole = "".join(f"{text}\n" for text in texts).encode(errors="surrogatepass")
        is_whole = hashlib.sha256(whole).hexdigest() == domain["digest"] and len(set(texts)) == len(texts)
        if not is_whole or not len(set(neighbors)) == len(neighbors) == len(check["pairs"]):
            raise Wrong("the domain has another digest or other pairs, or lists a dataset twice")
        if relation == "local" and len(neighbors) != len(texts) * (len(texts) - 1) // 2:
            raise Wrong("any two records are neighbors, and not all pairs are listed")
    return all(agrees(way["outputs"][number], law) for number, law in known.items())


def bracket(proof, epsilon):
    """Return a lower and an upper bound of delta at epsilon, for the worse of the two directions."""
    rows, residuals = tables(proof)
    low, high = power_of_e(epsilon)
    lower = upper = Fraction(0)
    for p, q in ((0, 1), (1, 0)):
        most = sum((max(Fraction(0), row[p] - low * row[q]) for row in rows), residuals[p])
        least = sum((max(Fraction(0), row[p] - high * row[q]) for row in rows), -high * residuals[q])
        upper, lower = max(upper, most), max(lower, least)
    return lower, min(Fraction(1), upper)


def ways_of(check):
    """Return the evidence of enumerated laws in a check; nothing where its laws were not enumerated."""
    return [way for way in check["evidence"].get("ways", ()) if way["way"] == "enumeration"]


def decide(check):
    """Return the verdict and the basis that follow from a check's tables, and the bracket of delta."""
    claim, ways = check["claim"], ways_of(check)
    proofs = [proof for way in ways for proof in way["laws"]]
    if claim.get("kind", "approximate") != "approximate":
        raise Wrong("the claim is not one of (epsilon, delta)")
    if [proof["pair"] for proof in proofs] != list(range(len(check["pairs"]))):
        raise Wrong("there is not one proof for each pair")
    if not {type(claim["epsilon"]), type(claim["delta"])} <= {int, float}:
        raise Wrong("epsilon or delta is not a number")
    if not 0 <= claim["epsilon"] <= LARGEST:
        raise Wrong(f"no epsilon beyond {LARGEST} is judged")
    delta, agree = Fraction(claim["delta"]), all(check_sources(check, way) for way in ways)
    brackets = [bracket(proof, Fraction(claim["epsilon"])) for proof in proofs]
    lower, upper = (max(ends) for ends in zip(*brackets))  # noqa: B905
    drawn = [outputs for way in ways for outputs in way["outputs"]]
    is_held = drawn and min(each["others"] + sum(count for _, count in each["counts"]) for each in drawn) >= OUTPUTS
    basis = "proof" if is_held and not any(proof["assumed"] for proof in proofs) else "computed"
    undecided = ("INCONCLUSIVE", "none")
    verdict = "FAIL" if lower > delta + TOLERANCE else "PASS" if upper <= delta + TOLERANCE else ""
    is_open = not verdict or not agree or any(proof["behind"] for proof in proofs)
    return undecided if is_open else (verdict, basis), lower, upper


def report(check):
    """Print a line on a check with proofs; return whether it is as stated."""
    name, stated = check.get("name"), (check.get("verdict"), check.get("basis"))
    try:
        verdict, lower, upper = decide(check)
    except (Wrong, ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        print(f"WRONG  {name!r}: {error}")
        return False
    found = f"delta in [{float(lower):.6g}, {float(upper):.6g}] at epsilon = {check['claim']['epsilon']:g}"
    if verdict != stated:
        print(f"WRONG  {name!r}: stated {' '.join(map(str, stated))}, the tables give {' '.join(verdict)}, {found}")
        return False
    print(f"holds  {name!r}: {verdict[0]} ({verdict[1]}), {found}")
    return True


def main(arguments):
    try:
        with open(arguments[0], encoding="utf-8") as file:
            checks = json.load(file)["checks"]
        proved = [check for check in checks if ways_of(check) or check.get("basis") == "proof"]
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        print(f"cannot be read: {error!r}")
        return 2
    if not proved:
        print("no check of this certificate has a proof")
        return 2
    return int(sum(not report(check) for check in proved) > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
