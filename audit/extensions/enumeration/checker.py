"""Check the proofs of a certificate: `python checker.py certificate.json`, with the standard library alone.

This file shares no code with the package, and imports none of it, so that it can be read and trusted by itself. It
takes the graph of each dataset and the tables of the two output laws of each pair from the certificate, and nothing of
what the package computed from them. It solves the graphs, compares the tables with them, recomputes the bracket of
delta, decides again, and compares with the verdict that the certificate states. What it cannot see is whether the
graphs are those of the code: `dp-audit replay --code` runs the code along them.

A graph has parts: a whole run, and calls whose laws were found by themselves. A node is a text, "4 1>7 3=2": of 4
chances one leads to node 7, and three to output 2; "-" was not followed. "@3 >7 =2" has the outputs of the call of part
3 as branches, and "~3 >7" draws from the law of that call, which later nodes split.

A table lists for each output lower bounds p and q of its probability on the left and on the right dataset. With
r = 1 - sum p and s = 1 - sum q, for every event E of outputs,

    P(E) <= p(E) + r   and   Q(E) >= q(E),   so   P(E) - e^eps Q(E) <= sum max(0, p - e^eps q) + r,
    P(E) >= p(E)   and   Q(E) <= q(E) + s,   so   delta >= sum max(0, p - e^eps q) - e^eps s, by E = {p > e^eps q}.

Exit status: 0 if every proof holds as stated, 1 if one does not, 2 if the file cannot be read or holds no proof.
"""

# mypy: ignore-errors
import hashlib
import heapq
import json
import math
import sys
from fractions import Fraction

TOLERANCE = Fraction(1, 2**40)  # of delta, as the certificate's verdicts allow
LARGEST = 64  # an epsilon beyond it claims nothing, and e^epsilon would take its time
ONE = 1 << 600  # probabilities of a graph are multiples of 1 / ONE, rounded down
APART = Fraction(1, 2**128)  # between a table and its graph: both are rounded
BASES = ("proof", "computed")  # without, and with, assumptions about the code
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


def branches_of(text, number, laws):
    """Return the total of a node, and its branches: the weight of each, and where it leads."""
    head, *branches = text.split(" ")
    if head[0] not in "@~":
        cuts = [max(branch.find(sign) for sign in ">=-") for branch in branches]
        return int(head), [(int(branch[:at]), branch[at:]) for branch, at in zip(branches, cuts, strict=True)]
    if int(head[1:]) <= number:
        raise Wrong("a call is explained by itself")
    total, *weights = laws[int(head[1:])]
    return total, list(zip(weights if head[0] == "@" else [sum(weights)], branches, strict=True))


def rows_of(part, number, laws):
    """Return for each node of a part the probabilities of the nodes (">", n) and outputs ("=", n) that follow."""
    rows = []
    for text in part["nodes"]:
        total, branches = branches_of(text, number, laws)
        if min([weight for weight, _ in branches], default=0) < 0 or not 0 < total >= sum(w for w, _ in branches):
            raise Wrong("a node weighs too much")
        rows.append({})
        for weight, to in branches:
            if to != "-":
                place = to[0], int(to[1:])
                if not 0 <= place[1] < len(part["outputs" if to[0] == "=" else "nodes"]):
                    raise Wrong("a branch leads out of its graph")
                rows[-1][place] = rows[-1].get(place, 0) + weight * ONE // total
    return rows


def solved(part, number, laws):
    """Return lower bounds of the probabilities of the outputs: nodes are eliminated, the first one at last."""
    rows = rows_of(part, number, laws)
    into = [{source for source, row in enumerate(rows) if (">", at) in row} for at in range(len(rows))]
    waiting = [(len(into[at]) * len(rows[at]), at) for at in range(1, len(rows))]
    heapq.heapify(waiting)
    while waiting:
        cost, at = heapq.heappop(waiting)
        if cost < len(into[at]) * len(rows[at]):  # it has more neighbors by now
            heapq.heappush(waiting, (len(into[at]) * len(rows[at]), at))
            continue
        row = without_return(rows[at], at)
        for sign, to in row:
            if sign == ">":
                into[to].discard(at)
        for source in into[at] - {at}:
            through = rows[source].pop((">", at))
            for place, p in row.items():
                rows[source][place] = rows[source].get(place, 0) + through * p // ONE
                if place[0] == ">":
                    into[place[1]].add(source)
    last = without_return(rows[0], 0) if rows else {("=", 0): ONE}  # a run without nodes draws nothing
    return [Fraction(last.get(("=", output), 0), ONE) for output in range(len(part["outputs"]))]


def without_return(row, at):
    """Return the probabilities of where a node is left for, at last."""
    again = row.pop((">", at), 0)
    return {place: p * ONE // (ONE - again) for place, p in row.items()} if again < ONE else {}


def check_graph(graph, law):
    """Raise Wrong where a graph gives another law than the table of its dataset, or a call another than it states."""
    laws = [[int(number) for number in part["law"].split()] for part in graph["parts"]]
    for number, part in enumerate(graph["parts"]):
        stated = [Fraction(weight, laws[number][0]) for weight in laws[number][1:]]
        if not number:
            stated = [*(law.pop(text, Fraction(0)) for text in part["outputs"]), *law.values()]
        found = solved(part, number, laws)
        if len(found) != len(stated) or max(abs(p - mass) for p, mass in zip(stated, found)) > APART:  # noqa: B905
            raise Wrong("the graph gives another law than the table")


def check_outputs(drawn, law):
    """Raise Wrong where outputs of the code are too many or too few for a law, by Chernoff's bound."""
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
            raise Wrong("outputs of the code do not have the law of the table")


def check_sources(check, way):
    """Raise Wrong unless tables are those of their graphs, and the pairs those of their domain; return what is open."""
    known = {}
    for proof in way["laws"]:
        for side, number in enumerate(proof["graphs"]):
            law = {row[0]: mass for row in proof["law"] if (mass := probability(row[1 + side]))}
            if known.setdefault(number, law) != law:
                raise Wrong("a dataset has two laws")
    for number, law in known.items():
        check_outputs(way["outputs"][number], law)
        check_graph(way["graphs"][number], dict(law))
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
        if domain["of"] == "integers" and neighbors != [(0, 1 + at) for at in range(int(float(relation.split()[-1])))]:
            raise Wrong("not all distances between integers are listed")
    return sum(graph["states"] for graph in way["graphs"] if not graph["parts"])


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
    """Return what a check holds of enumerated laws; nothing where its laws were not enumerated."""
    return [way for way in check["evidence"].get("ways", ()) if way["way"] == "enumeration"]


def decide(check):
    """Return the verdict and the basis that follow from a check's tables, the bracket of delta, and what is open."""
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
    delta, open_ = Fraction(claim["delta"]), sum(check_sources(check, way) for way in ways)
    brackets = [bracket(proof, Fraction(claim["epsilon"])) for proof in proofs]
    lower, upper = (max(ends) for ends in zip(*brackets))  # noqa: B905
    drawn = [outputs for way in ways for outputs in way["outputs"]]
    is_held = drawn and min(each["others"] + sum(count for _, count in each["counts"]) for each in drawn) >= OUTPUTS
    basis = "proof" if is_held and not any(proof["assumed"] for proof in proofs) else "computed"
    undecided = ("INCONCLUSIVE", "none")
    verdict = "FAIL" if lower > delta + TOLERANCE else "PASS" if upper <= delta + TOLERANCE else ""
    is_open = not verdict or any(proof["behind"] for proof in proofs)
    return undecided if is_open else (verdict, basis), lower, upper, open_


def report(check):
    """Print a line on a check with proofs; return whether it is as stated."""
    name, stated = check.get("name"), (check.get("verdict"), check.get("basis"))
    try:
        verdict, lower, upper, open_ = decide(check)
    except (Wrong, ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        print(f"WRONG  {name!r}: {error}")
        return False
    found = f"delta in [{float(lower):.6g}, {float(upper):.6g}] at epsilon = {check['claim']['epsilon']:g}"
    if verdict != stated:
        print(f"WRONG  {name!r}: stated {' '.join(map(str, stated))}, the tables give {' '.join(verdict)}, {found}")
        return False
    found += f"; {open_} nodes are not stored" if open_ else ""
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
