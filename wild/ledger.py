"""The page `docs/found.md`: how many claims were refuted in which release; each line links to the register."""

from __future__ import annotations

from collections.abc import Sequence

from audit.report.wording import PRIVACY_KINDS, claimed, count, found, number
from wild.audited import AGAIN, Audited, Check
from wild.markdown import anchor, escaped, table

_HEAD = """# Found in the wild

Released versions of libraries, each in a virtual environment of its own, audited against what their documentation
claims. `make wild` makes this page and the [register](register/index.md): environments, a certificate for each library
in `reports/wild/`, and a repetition of every FAIL with another seed, at significance {again:g}. A claim is listed as
refuted when both runs refuted it; the bound is the repetition's, so it exceeds the truth with probability at most
{again:g}. The register says which pair shows it, which lines of the release bring it about, what an adversary learns,
what the maintainers know, and what was not audited. Whether anybody is harmed is another question.

Bounds vary from run to run where a library draws from a generator of its own. The pairs are as small as the finding.
A mechanism is a function or class of one release in one use: with other data, or another output, it counts again; with
its parameters searched it does not. [Other auditors](peers.md) got some mechanisms of the catalog, beside this one.
"""

_BY_EXACT_LAWS = """## Found by exact laws

No sample shows these. The output law of the released code on one pair, by following every random choice that it can
make, has at epsilon = 1 the delta of this table, where the claim is 0; `python -m benchmarks.enumeration.subjects`
reproduces the numbers, and [proof.md](proof.md) says what they mean. Every one of them is below 1e-12, so none is
called a FAIL.

| release | mechanism | delta, at least | cause |
| --- | --- | --- | --- |
| diffprivlib 0.6.6 | Geometric | 2.864e-15 | the logarithm of a 53-bit uniform: 73 values, rounded weights |
| diffprivlib 0.6.6 | GeometricTruncated | 2.362e-16 | the same, with values from 0 to 4 |
| diffprivlib 0.6.6 | Binary | 4.753e-16 | the uniform is multiplied by e^epsilon + 1, and rounded |
| diffprivlib 0.6.6 | PermuteAndFlip | 2.761e-17 | it raises with that probability, and prints the utilities |
| pure-ldp 1.2.0 | DE | 1.169e-16 | a threshold of 53 bits |
| pure-ldp 1.2.0 | SUE | 9.417e-17 | thresholds of 53 bits |
| pure-ldp 1.2.0 | OUE | 3.123e-17 | thresholds of 53 bits |
"""


def ledger(libraries: Sequence[Audited]) -> str:
    """Return the page, in Markdown."""
    parts = [_HEAD.format(again=AGAIN), summary(libraries), "## Refuted claims\n", _refuted(libraries), _BY_EXACT_LAWS]
    return "\n".join(parts).rstrip() + "\n"


def summary(libraries: Sequence[Audited], folder: str = "register/") -> str:
    """Return a table with a row for each release and one for all, linked to the pages in a folder."""
    rows = [[f"[{escaped(each.release)}]({folder}{each.library}.md)", *_numbers(each)] for each in libraries]
    if len(rows) > 1:
        rows.append(["all", *(sum(column) for column in list(zip(*rows, strict=True))[1:])])
    head = ["release", "mechanisms", "checks", "refuted", "PASS", "inconclusive", "outputs", "seconds of work"]
    return table(head, [[row[0], *map(count, row[1:])] for row in rows])


def _numbers(each: Audited) -> list[int]:
    passed = sum(check["verdict"] == "PASS" for check in each.checks)
    refuted = len(each.refuted)
    drawn = sum(check["evidence"]["samples"] for run in each.runs for check in run["checks"])
    seconds = sum(sum(run["timing"].values()) for run in each.runs)
    mechanisms = len({check["mechanism"].replace(" searched']", "']") for check in each.checks})
    return [mechanisms, len(each.checks), refuted, passed, len(each.checks) - refuted - passed, drawn, round(seconds)]


def _refuted(libraries: Sequence[Audited]) -> str:
    rows = []
    for each in libraries:
        for place, check in enumerate(each.refuted, 1):
            link = f"[{escaped(check['name'])}](register/{each.library}.md#{anchor(heading(place, check))})"
            measured = each.repetitions[check["name"]]
            rows.append([escaped(each.release), link, escaped(claimed(check)), certified(measured), drawn(measured)])
    return table(["release", "check", "claim", "certified epsilon ≥", "outputs"], rows)


def heading(place: int, check: Check) -> str:
    """Return the heading of a finding on the page of its release."""
    return f"{place}. {check['name']}"


def certified(check: Check) -> str:
    """Return the lower bound of epsilon that a check certifies, or what else it found."""
    return number(check["epsilon_lower_bound"]) if check["kind"] in PRIVACY_KINDS else escaped(found(check))


def drawn(check: Check) -> str:
    """Return the number of outputs of a check."""
    return count(check["evidence"]["samples"])
