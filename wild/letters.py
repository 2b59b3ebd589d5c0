"""Pages of findings that are not public, each with the letter to the library's maintainers; written into `drafts/`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from audit.certificate.wording import claimed
from audit.text import count, number
from wild.audited import Audited, Run
from wild.finding_page import counterexample, finding_page, over_time, script, sources
from wild.markdown import filled
from wild.texts import README, recorded

PAGE, LETTER = "page.md", "letter.md"


def letters(libraries: Sequence[Audited]) -> dict[Path, str]:
    """Return page and letter of every finding that is not public, by path."""
    found = {}
    for each in libraries:
        for run in each.findings:
            if run.finding and run.finding.is_withheld and each.library == first(run, libraries):
                found[run.finding.folder / PAGE] = finding_page(each, run, {}, f"# {run.finding.title}")
                found[run.finding.folder / LETTER] = letter(each, run, libraries)
    return found


def first(run: Run, libraries: Sequence[Audited]) -> str:
    """Return the release that the letter is about: the first of the finding's that was audited."""
    audited = [each.library for each in libraries if any(other.finding == run.finding for other in each.findings)]
    assert run.finding is not None
    return next(release for release in run.finding.releases if release in audited)


def letter(each: Audited, run: Run, libraries: Sequence[Audited]) -> str:
    """Return the text that goes to the maintainers."""
    finding, check = run.finding, run.refuted[0]
    assert finding is not None
    repetition = run.repetitions[check["name"]]
    releases = [other.release for other in libraries if any(found.finding == finding for found in other.findings)]
    return filled(
        "letter.md",
        package=each.pin.package,
        version=each.pin.version,
        title=finding.title,
        sources="; ".join(sources(run)),
        cause=" ".join(finding.cause.split()),
        outputs=count(repetition["evidence"]["samples"]),
        bound=number(repetition["epsilon_lower_bound"]),
        claimed=claimed(check),
        pair=counterexample(finding, repetition),
        releases=", ".join(releases),
        since=over_time(finding),
        caveats=_caveats(each.library),
        script=script(finding),
    )


def _caveats(library: str) -> str:
    """The README's own words of caution, so that the maintainers see that they were read."""
    said = [each["quote"] for each in recorded(library).get("caveats", []) if each["place"] in README]
    return "We read in your README: " + " / ".join(f'"{quote}"' for quote in said) + "\n\n" if said else ""
