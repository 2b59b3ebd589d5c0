"""Pages name only files and modules that exist."""

import pkgutil
import re
from pathlib import Path

from tests.offenders import for_each

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("*/README.md")} - {ROOT / "CHANGELOG.md"})


def named_in(text: str) -> tuple[set[str], set[str]]:
    """Return the paths and the dotted names of the project that a page sets in code style."""
    code = set(re.findall(r"`([^`\s]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)))
    paths = {
        name for name in code if re.fullmatch(r"(audit|mechanisms|tests|benchmarks|wild|docs|examples)/[\w./-]*", name)
    }
    dotted = {name for name in code if re.fullmatch(r"(audit|mechanisms|benchmarks|wild)(\.\w+)+", name)}
    return paths, dotted


def resolves(name: str) -> bool:
    """Return whether a dotted name is a module or an attribute of one."""
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


@for_each(PAGES)
def test_pages_name_what_exists(page):
    paths, dotted = named_in(page.read_text())
    assert not {path for path in paths if not (ROOT / path).exists()}
    assert not {name for name in dotted if not resolves(name)}


def test_names_are_found_in_pages():
    assert named_in("`audit/errors.py` and `audit.errors` but `x = 1`") == (
        {"audit/errors.py"},
        {"audit.errors"},
    )
    assert resolves("audit.errors.AuditError")
    assert not resolves("audit.errors.Nothing")
