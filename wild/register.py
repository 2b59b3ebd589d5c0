"""`python -m wild.register`: write `docs/found.md` and `docs/register/` from the certificates.

The register has an index, a page for each release, and a badge for each. Every number on them is a certificate's; the
words about causes and access are those of the findings, those about gaps of the library's `audits.toml`. Of a finding
that is not public they show that it is there, and no more. Its own page, and the letter to the maintainers, are
written beside its data, in `drafts/`.
"""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.version import Version

from audit.certificate.document import write_whole
from audit.certificate.verify import changes
from audit.certificate.wording import claimed
from audit.text import number
from wild.audited import AGAIN, WITHHELD, Audited, Check, all_audited, folder_of, withheld_findings
from wild.badge import badge
from wild.environments import CATALOGUE, pins_of, served_of
from wild.finding_page import finding_page, searched
from wild.findings import DOCUMENTED, DRAFTS, all_findings
from wild.ledger import certified, drawn, headline, is_privacy, ledger, summary
from wild.ledger import heading as finding_heading
from wild.letters import LETTER, PAGE, letters
from wild.markdown import escaped, filled, short_code, table
from wild.releases import by_status, since, until
from wild.scripts import releases_of
from wild.texts import README, RECORD, WORDS, recorded

DOCS = Path("docs")
ABSENT: dict[str, str] = tomllib.loads((CATALOGUE / "absent.toml").read_text(encoding="utf-8"))
SHOWN_PAIRS, SHOWN_CODE = 3, 60  # of a check that was not refuted: pairs, and characters of a dataset


class Unexplained(Exception):
    """A claim was refuted that no finding is about: it must not be shown before somebody has decided."""


def write_pages() -> list[Path]:
    """Write the page of findings and the register anew, and remove pages without a certificate.

    Raises
    ------
    Unexplained
        When the certificates hold a refuted claim that no finding is about.
    """
    hidden = withheld_findings(all_findings())
    wanted = pages(all_audited(), hidden["all"])
    register = DOCS / "register"
    published = [path for name in (PAGE, LETTER) for path in CATALOGUE.glob(f"*/findings/*/{name}")]  # once drafts
    for stale in {*register.glob("*"), *published} - set(wanted):
        stale.unlink()
    if DRAFTS.is_dir():
        wanted |= {WITHHELD: json.dumps(hidden, indent=1) + "\n", **letters(all_audited(drafts=True))}
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    return sorted(wanted)


def pages(libraries: Sequence[Audited], hidden: int = 0) -> dict[Path, str]:
    """Return every page and badge, by path; `hidden` findings are not public."""
    if unexplained := [check["name"] for each in libraries for check in each.unexplained]:
        raise Unexplained(f"no finding is about {', '.join(unexplained)}: make one in {DRAFTS}/ (wild/README.md)")
    ordered = sorted(libraries, key=lambda each: (each.pin.package.lower(), Version(each.pin.version)))
    found = {DOCS / "found.md": ledger(ordered, hidden), DOCS / "register" / "index.md": index(ordered, hidden)}
    for each in ordered:
        found[DOCS / "register" / f"{each.library}.md"] = release_page(each, history(ordered, each))
        found[DOCS / "register" / f"{each.library}.svg"] = badge(each)
    return found


def index(libraries: Sequence[Audited], hidden: int) -> str:
    """Return the index: releases by library, findings over releases, and what could not be installed."""
    absent = [[escaped(name), reason] for name, reason in sorted(ABSENT.items(), key=lambda item: item[0].lower())]
    return filled(
        "register.md",
        again=AGAIN,
        headline=headline(libraries, hidden),
        summary=summary(libraries, folder=""),
        over_releases=_over_releases(libraries),
        by_scripts=_by_scripts(libraries),
        between_releases=_between_releases(libraries),
        absent=table(["package", "why"], absent),
        pages="\n".join(each.library for each in libraries),
    )


def history(libraries: Sequence[Audited], each: Audited) -> dict[str, list[tuple[str, str]]]:
    """Return for each claim of a release what came of it in every audited release of the same package."""
    told: dict[str, list[tuple[str, str]]] = {}
    for other in libraries:
        if other.pin.package == each.pin.package:
            for run in other.runs:
                for check in run.checks:
                    verdict = "refuted" if run.is_refuted(check) else f"not refuted ({check['verdict']})"
                    told.setdefault(claim_key(check), []).append((other.pin.version, verdict))
    return told


def claim_key(check: Check) -> str:
    """Return the name of a check without its library: the same for all releases."""
    return str(check["name"]).partition("/")[2]


def _over_releases(libraries: Sequence[Audited]) -> str:
    rows = {}
    for each in libraries:
        told = history(libraries, each)
        for check in (check for run in each.findings for check in run.refuted):
            verdicts = told[claim_key(check)]
            if len(verdicts) > 1:
                key = (each.pin.package, claim_key(check))
                rows[key] = [*map(escaped, key), ", ".join(f"{version} {said}" for version, said in verdicts)]
    return table(["library", "claim", "audited releases"], list(rows.values()))


def _by_scripts(libraries: Sequence[Audited]) -> str:
    rows = []
    for each in libraries:
        for run in each.findings:
            if run.finding and each.library == run.finding.library and (told := releases_of(run.finding)):
                found = [since(told), until(told) or "–", by_status(told)]
                rows.append([escaped(each.pin.package), escaped(run.finding.title), *found])
    return table(["library", "finding", "since", "until", "releases"], rows)


def _between_releases(libraries: Sequence[Audited]) -> str:
    rows = []
    for older, newer in itertools.pairwise(libraries):
        if older.pin.package != newer.pin.package:
            continue
        shared = {claim_key(check) for check in older.checks} & {claim_key(check) for check in newer.checks}
        found = changes(_shared(older, shared), _shared(newer, shared))
        verdicts = [change for change in found if " became " in change.what]
        said = "; ".join(f"{escaped(change.check)}: {escaped(change.what.partition(':')[0])}" for change in verdicts)
        rows.append([escaped(older.release), escaped(newer.release), len(shared), said or "none"])
    return table(["from", "to", "shared checks", "changed verdicts"], rows)


def _shared(each: Audited, shared: Collection[str]) -> dict[str, list[dict[str, Any]]]:
    """The records of some claims, named as in every release."""
    return {"checks": [{**check, "name": claim_key(check)} for check in each.checks if claim_key(check) in shared]}


def release_page(each: Audited, told: Mapping[str, Sequence[tuple[str, str]]]) -> str:
    """Return the page of one release."""
    base = next((run.certificate for run in each.runs if run.finding is None), None)
    said = recorded(each.library).get("caveats", [])
    quotes = [found["quote"] for found in said if found["place"] in README]
    served, pins = (f"wild/{path.parent.name}/{path.name}" for path in (served_of(each.library), pins_of(each.library)))
    sections: dict[bool, list[str]] = {True: [], False: []}
    for run in each.findings:
        if run.finding:
            heading = f"### {escaped(finding_heading(run.finding))}"
            sections[run.finding.letter == DOCUMENTED].append(finding_page(each, run, told, heading))
    return filled(
        "release.md",
        each=each,
        base=base,
        folder=folder_of(each.library),
        served=served,
        pins=pins,
        summary=summary([each], folder=""),
        findings=sections[False],
        documented=sections[True],
        kept=_kept(each.kept),
        words=WORDS,
        quotes=quotes,
        more=len(said) - len(quotes),
        record=RECORD,
    )


def _kept(kept: Sequence[Check]) -> str:
    rows = []
    for check in kept:
        verdict = "INCONCLUSIVE (did not repeat)" if check["verdict"] == "FAIL" else check["verdict"]
        resolution = number(check.get("resolution")) if is_privacy(check) else "–"
        measured = [verdict, certified(check), resolution, drawn(check) + searched(check), _datasets(check)]
        rows.append([escaped(check["name"]), escaped(claimed(check)), *measured])
    return table(["check", "claim", "verdict", "certified epsilon ≥", "resolution", "outputs", "pairs"], rows)


def _datasets(check: Check) -> str:
    """Return the first pairs of a check, as code."""
    if not is_privacy(check):
        return _code(check["dataset"])
    pairs = check["pairs"]
    shown = [f"{_code(pair['left'])} / {_code(pair['right'])}" for pair in pairs[:SHOWN_PAIRS]]
    more = len(pairs) - len(shown)
    return "; ".join(shown) + (f"; {more} more" if more > 0 else "")


def _code(text: str) -> str:
    short = short_code(" ".join(text.split()))
    return escaped(short if len(short) <= SHOWN_CODE else short[:SHOWN_CODE] + "…")


def main() -> None:
    """Write the pages and say which."""
    for path in write_pages():
        print(path)


if __name__ == "__main__":
    main()
