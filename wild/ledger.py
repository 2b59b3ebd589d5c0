"""The ledger `docs/found.md`: what the certificates of all libraries say, with the explanations of their authors.

A claim stands as refuted when the run's check FAILed, and FAILed again with another seed at significance `AGAIN`.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.report.wording import PRIVACY_KINDS, claimed, count, found, number

AGAIN = 1e-6  # significance of each repetition

_HEAD = """# Found in the wild

Released versions of libraries, each in a virtual environment of its own, audited against what their documentation
claims. `make wild` makes this page: environments, a certificate for each library in `reports/wild/`, and a repetition
of every FAIL with another seed, at significance {again:g}. A claim is listed as refuted when both runs refuted it; the
bound is the repetition's, so it exceeds the truth with probability at most {again:g}. What is claimed, what was
measured, and which lines of the release bring it about; whether anybody is harmed is another question.

Bounds vary from run to run where a library draws from a generator of its own. The pairs are as small as the finding.
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


@dataclass(frozen=True)
class Audited:
    """The results of one library.

    Parameters
    ----------
    library : str
        A folder of `wild`.
    release : str
        Package and version.
    certificate : mapping
        Of its checks.
    again : mapping or None
        The certificate of the repetition of every FAIL; None when nothing failed.
    notes : mapping
        Name of a check -> explanation of its FAIL by the library's code, or a remark.
    """

    library: str
    release: str
    certificate: Mapping[str, Any]
    again: Mapping[str, Any] | None
    notes: Mapping[str, str]

    @property
    def repetitions(self) -> dict[str, Mapping[str, Any]]:
        """The records of the repetition, by name."""
        return {} if self.again is None else {check["name"]: check for check in self.again["checks"]}

    def is_refuted(self, check: Mapping[str, Any]) -> bool:
        """Return whether a check failed in both runs."""
        repetition = self.repetitions.get(check["name"])
        return check["verdict"] == "FAIL" and repetition is not None and repetition["verdict"] == "FAIL"


def ledger(libraries: Sequence[Audited]) -> str:
    """The page, in Markdown."""
    refuted = [(each, check) for each in libraries for check in each.certificate["checks"] if each.is_refuted(check)]
    kept = [(each, check) for each in libraries for check in each.certificate["checks"] if not each.is_refuted(check)]
    parts = [_HEAD.format(again=AGAIN), _summary(libraries), "## Refuted claims\n", _refuted_table(refuted)]
    parts += [_finding(place, each, check) for place, (each, check) in enumerate(refuted, 1)]
    parts += ["## Not refuted\n", _kept_table(kept), *_remarks(kept), "", _BY_EXACT_LAWS]
    return "\n".join(parts).rstrip() + "\n"


def _summary(libraries: Sequence[Audited]) -> str:
    rows = []
    for each in libraries:
        checks = each.certificate["checks"]
        refuted = sum(map(each.is_refuted, checks))
        passed = sum(check["verdict"] == "PASS" for check in checks)
        runs = [run for run in (each.certificate, each.again) if run is not None]
        drawn = sum(check["evidence"]["samples"] for run in runs for check in run["checks"])
        seconds = sum(sum(run["timing"].values()) for run in runs)
        rest = len(checks) - refuted - passed
        mechanisms = len({check["mechanism"] for check in checks})
        rows.append([each.release, mechanisms, len(checks), refuted, passed, rest, drawn, round(seconds)])
    rows.append(["all", *(sum(column) for column in list(zip(*rows, strict=True))[1:])])
    head = ["library", "mechanisms", "checks", "refuted", "PASS", "inconclusive", "outputs", "seconds of work"]
    return _table(head, [[*row[:6], *map(count, row[6:])] for row in rows])


def _refuted_table(refuted: Sequence[tuple[Audited, Mapping[str, Any]]]) -> str:
    rows = []
    for place, (each, check) in enumerate(refuted, 1):
        repetition = each.repetitions[check["name"]]
        rows.append([place, each.release, check["name"], claimed(check), _certified(repetition), _drawn(repetition)])
    return _table(["", "library", "check", "claim", "certified epsilon ≥", "outputs"], rows)


def _finding(place: int, each: Audited, check: Mapping[str, Any]) -> str:
    repetition = each.repetitions[check["name"]]
    lines = [
        f"### {place}. {check['name']}",
        "",
        f"*Claim*: {claimed(check)}, by {check['claim']['source'] or each.release}.",
        "",
        f"*Why it does not hold*: {each.notes.get(check['name'], 'not explained yet.')}",
        "",
        *_counterexample(repetition),
        f"*Measured*: {repetition['reason']}.",
        "",
        f"`python -m wild --library {each.library} --select '{_pattern(check['name'])}'`",
        "",
    ]
    return "\n".join(lines)


def _counterexample(check: Mapping[str, Any]) -> Iterator[str]:
    """The pair as code that can be pasted, and the event; a randomness check has one dataset."""
    if check["kind"] not in PRIVACY_KINDS:
        yield from ("```python", f"dataset = {check['dataset']}", "```", "")
        return
    witness = check["witness"]
    if witness is None:
        return
    yield from ("```python", f"left = {short_code(witness['left'])}", f"right = {short_code(witness['right'])}")
    yield f"# likelier on {witness['direction']}: {witness['event']}"
    yield from ("```", "")


def short_code(code: str) -> str:
    """The same list with runs of equal entries as products: `[0] * 9 + [1]`; other code as it is."""
    try:
        tree = ast.parse(code, mode="eval").body
    except SyntaxError:  # a dataset too long for the certificate
        return code
    if not isinstance(tree, ast.List) or not tree.elts:
        return code
    runs = [(entry, len(list(run))) for entry, run in itertools.groupby(map(ast.unparse, tree.elts))]
    short = " + ".join(f"[{entry}] * {length}" if length > 1 else f"[{entry}]" for entry, length in runs)
    return min(code, short, key=len)


def _kept_table(kept: Sequence[tuple[Audited, Mapping[str, Any]]]) -> str:
    rows = []
    for each, check in kept:
        verdict = "INCONCLUSIVE (did not repeat)" if check["verdict"] == "FAIL" else check["verdict"]
        resolution = number(check.get("resolution")) if check["kind"] in PRIVACY_KINDS else "–"
        measured = [verdict, _certified(check), resolution, _drawn(check)]
        rows.append([each.release, check["name"], claimed(check), *measured])
    return _table(["library", "check", "claim", "verdict", "certified epsilon ≥", "resolution", "outputs"], rows)


def _remarks(kept: Sequence[tuple[Audited, Mapping[str, Any]]]) -> Iterator[str]:
    for each, check in kept:
        if check["name"] in each.notes:
            yield f"* **{check['name']}**: {each.notes[check['name']]}"
        elif check["verdict"] == "INCONCLUSIVE":
            yield f"* **{check['name']}**: {check['reason']}."


def _certified(check: Mapping[str, Any]) -> str:
    return number(check["epsilon_lower_bound"]) if check["kind"] in PRIVACY_KINDS else found(check)


def _drawn(check: Mapping[str, Any]) -> str:
    return count(check["evidence"]["samples"])


def _pattern(name: str) -> str:
    """A shell pattern that matches the name alone."""
    return name.replace("[", "[[]").replace("'", "?")


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"
