"""Audit objects of released libraries that answer, each in the environment of its library.

`python -m benchmarks.interactive.real [LIBRARY ...]` prints a row of a table for each object: the words of its
documentation, the verdict, conversations per dataset, and CPU seconds. A library is `opendp`, `tmlt_core`,
`diffprivlib`, `smartnoise_sql`, `dpcrpy` or `mechanisms`, which is this project; all of them unless named.
`LIBRARY/TEXT` chooses the objects whose name holds a text. Environments are made in `.wild/interactive/` from the
requirements in `wild/`, where they are missing. Words that do not occur in the text of the release are an error.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

from audit import Verdict, check_interactive
from benchmarks.environments import behind, prepared, release_of
from benchmarks.interactive import accountants, compositors
from benchmarks.interactive.objects import NUMBERS, OWN, Audited

LIBRARIES: dict[str, Callable[[], list[Audited]]] = {
    "opendp": lambda: compositors.OPENDP,
    "tmlt_core": lambda: compositors.TUMULT,
    "diffprivlib": lambda: accountants.DIFFPRIVLIB,
    "smartnoise_sql": accountants.smartnoise,
    "dpcrpy": lambda: accountants.DPCRPY,
    OWN: lambda: accountants.SERVICES,
}
_ROOT = Path(__file__).resolve().parents[2]
_CALL = "from benchmarks.interactive.real import audit_all; audit_all({library!r}, {text!r})"
_FIT = 1e-3  # that an object is taken to leave its stated law, where it does not: there are a dozen of them
_BY = {"law": ", exact", "computed": ", exact", "outputs": ", by sampling"}
HEAD = "| object | its documentation | verdict | conversations per dataset | CPU s |\n| --- | --- | --- | --- | --- |"


def unwritten(library: str) -> list[str]:
    """Return the words that are quoted and do not occur in the text of the release."""
    files = [str(path) for path in (_ROOT / "mechanisms").rglob("*.py")]
    if library != OWN:
        found = distribution(release_of(requirements_of(library)).split()[0]).files or ()
        files = [str(file.locate()) for file in found if file.suffix in (".py", ".so") or file.name == "METADATA"]
    texts = [_squeezed(Path(file).read_text("utf-8", errors="ignore")) for file in files]
    quoted = {part for each in LIBRARIES[library]() for part in re.findall('"([^"]+)"', each.documented)}
    return [part for part in sorted(quoted) if not any(_squeezed(part) in text for text in texts)]


def requirements_of(library: str) -> Path:
    """Return the file of the requirements of a library."""
    return _ROOT / "wild" / library / "requirements.txt"


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()


def row_of(each: Audited, release: str) -> str:
    """Audit an object, and return its row."""
    given = {"analyst": each.analyst, "law": each.law, "cost": each.cost, "charged": each.charged}
    started = time.process_time()
    result = check_interactive(
        each.make, each.claim, each.pairs or NUMBERS, **given,
        budget=each.budget, tolerance=each.tolerance, significance=0.05 if each.law is None else _FIT, workers=0,
    )  # fmt: skip
    seconds = time.process_time() - started
    claim = each.claim.epsilon if each.claim.delta == 0 else (round(each.claim.epsilon, 3), each.claim.delta)
    verdict = f"{result.verdict}{_BY.get(result.basis, '')}: {claim}"
    verdict += "" if result.verdict is Verdict.PASS else f"; {result.reason}"
    return f"| {release}: {each.name} | {each.documented} | {verdict} | {each.budget:,} | {seconds:.0f} |"


def audit_all(library: str, text: str = "") -> None:
    """Print the rows of a library, of the objects whose name holds a text."""
    warnings.simplefilter("ignore")
    if missing := unwritten(library):
        raise SystemExit(f"{library}: its text does not hold {missing[0]!r}")
    for each in LIBRARIES[library]():
        if text in each.name:
            print(row_of(each, "this project" if library == OWN else release_of(requirements_of(library))), flush=True)


def main(*libraries: str) -> None:
    """Print the table."""
    print(HEAD, flush=True)
    for name in libraries or LIBRARIES:
        library, _, text = name.partition("/")
        if library == OWN:
            audit_all(library, text)
            continue
        python = prepared(f"interactive/{library}", requirements_of(library))
        subprocess.run(behind(python, _CALL.format(library=library, text=text)), check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
