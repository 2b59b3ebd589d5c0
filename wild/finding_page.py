"""A finding in words: claim, cause, severity, what upstream knows, and the pair that shows it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from audit.checks.privacy_record import ways_of
from audit.text import count, number
from wild.audited import Audited, Check, Run
from wild.findings import CLASSES, PUBLIC, REPORTED, Finding
from wild.ledger import is_privacy, measured_checks
from wild.markdown import escaped, fenced, filled, short_code
from wild.releases import by_status, since, until
from wild.scripts import NAMES, releases_of, script_of

CERTAIN = 0.9  # share of the outputs that are guessed, all of them right: any output tells
NEARLY = 0.01  # share of wrong guesses
ONE_RESULT = "one released result, as the library returns it"
ALL_BITS = "one released floating-point number with all its bits; rounded to a few digits, it does not tell"

Told = Mapping[str, Sequence[tuple[str, str]]]


def finding_page(each: Audited, run: Run, told: Told, heading: str) -> str:
    """Return a finding in words under a heading: facts, measurements, a counterexample and the command."""
    finding, check = run.finding, run.refuted[0]
    assert finding is not None
    repetition = run.repetitions[check["name"]]
    told_of = told.get(str(check["name"]).partition("/")[2], ())
    facts = filled(
        "finding.md",
        each=each,
        run=run,
        finding=finding,
        repetition=repetition,
        what=CLASSES[finding.letter],
        sources=sources(run),
        severity=severity(repetition),
        access=needed(finding, check),
        searched=searched(repetition),
        upstream=upstream(finding),
        audited=[f"{version} {said}" for version, said in told_of],
        over_time=over_time(finding),
        measured=measured_checks(run),
        shown=counterexample(finding, repetition),
        script=script(finding),
        pattern=check["name"].replace("[", "[[]").replace("'", "?"),  # of a shell, which matches the name alone
    )
    return f"{heading}\n\n{facts}"


def sources(run: Run) -> list[str]:
    """Return where the refuted claims stand, each once."""
    return list(dict.fromkeys(str(check["claim"].get("source") or "") for check in run.refuted))


def needed(finding: Finding, check: Check) -> str:
    """Return what an adversary must see or choose."""
    return finding.access or (ALL_BITS if check["kind"] == "precision" else ONE_RESULT)


def upstream(finding: Finding) -> str:
    """Return what upstream knows."""
    if finding.status == PUBLIC:
        return f"public: {finding.address}"
    return f"reported on {finding.reported}" if finding.status == REPORTED else "not reported yet"


def over_time(finding: Finding) -> str:
    """Return since and until when the script of a finding shows it, and what it said of each release."""
    told = releases_of(finding)
    last = f", until {until(told)}" if until(told) else ""
    return f"its script shows it since {since(told)}{last} ({by_status(told)})." if told else ""


def severity(check: Check) -> str:
    """Return in words what an adversary learns, from the counts that certify a finding."""
    game = ways_of(check["evidence"]).get("guess game")
    if not is_privacy(check) or not game:
        return "Noise repeats between calls, and differences of results are exact."
    counts = game["counts"]
    right = counts["left_plus"] + counts["right_minus"]
    wrong = counts["left_minus"] + counts["right_plus"]
    share = (right + wrong) / sum(counts.values())
    if wrong == 0 and share >= CERTAIN:
        return "Any output tells which of the two datasets it is from: nothing is hidden."
    if wrong <= NEARLY * right:
        errors = (
            f"without an error in {count(right)}"
            if wrong == 0
            else f"with {count(wrong)} errors in {count(right + wrong)}"
        )
        return f"{100 * share:.0f} % of the outputs tell which of the two datasets they are from, {errors}."
    odds, allowed = (math.exp(float(value)) for value in (check["epsilon_lower_bound"], check["claim"]["epsilon"]))
    return (
        f"No output is conclusive, but some change the odds between the two datasets by a factor of {number(odds, 3)} "
        f"and more, where the claim allows {number(allowed, 3)}: the cost adds up over releases, unaccounted."
    )


def searched(check: Check) -> str:
    """Return at which setting the worst was found, where parameters were searched."""
    found = ways_of(check["evidence"]).get("search")
    if not found or not found["setting"]:
        return ""
    setting = ", ".join(f"{name} = {value!r}" for name, value in found["setting"].items())
    return f"; at {escaped(setting)}, the worst of {count(found['settings'])} settings"


def counterexample(finding: Finding, check: Check) -> str:
    """Return the whole pair as code that can be pasted, and the event; a randomness check has one dataset."""
    if not is_privacy(check):
        return fenced(f"dataset = {check['dataset']}")
    if (witness := check["witness"]) is None:
        return ""
    event = " ".join(str(witness["event"]).split())
    sides = [f"{side} = {code}" for side, code in zip(("left", "right"), whole_pair(finding, check), strict=True)]
    return fenced("\n".join([*sides, f"# likelier on {witness['direction']}: {event}"]))


def whole_pair(finding: Finding, check: Check) -> list[str]:
    """Return both datasets as code; those that the certificate cuts short come from the check itself."""
    witness = check["witness"]
    codes = [str(witness[side]) for side in ("left", "right")]
    if any("..." in code for code in codes):
        key = str(check["name"]).partition("/")[2]
        own = next(each for each in finding.own_checks if each.name.partition("/")[2] == key)
        codes = [repr(dataset) for dataset in own.pairs[witness["pair"]]]
    return [short_code(code) for code in codes]


def script(finding: Finding) -> str:
    """Return the script that shows a finding with the library alone, as code; empty where there is none."""
    path = script_of(finding)
    return fenced(path.read_text(encoding="utf-8").rstrip(), NAMES[path.name]) if path is not None else ""
