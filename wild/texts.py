"""`python -m wild.texts`: what the audited distributions say of themselves, found in their own text.

For each library it writes `wild/<library>/texts.json`: the sentences of README and docstrings that hold one of `WORDS`,
and the place of every quotation in the sources of its claims. Those of a finding are in `quotations.json` beside its
data. A quotation that does not occur is an error.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

import click

from audit.certificate.document import write_whole
from wild.audited import jobs_of
from wild.environments import CATALOGUE, HOME, Pin, is_javascript, libraries, pin_of, prepare

WORDS = (
    "research",
    "production",
    "intended",
    "limitation",
    "experimental",
    "toy",
    "educational",
    "education",
    "not secure",
    "insecure",
)
RECORD, QUOTATIONS = "texts.json", "quotations.json"
SUFFIXES = {".py", ".pyi", ".md", ".rst", ".txt", ".js", ".so"}  # compiled modules hold their docstrings
README = ("METADATA", "README.md")
LONGEST = 400  # characters of a sentence that is quoted

_GREEK = {"ε": "epsilon", "ɛ": "epsilon", "δ": "delta", "𝛿": "delta"}
_BOILERPLATE = re.compile("under the License|Classifier:|limitation of liability", re.IGNORECASE)
_WORD = re.compile(r"\b(" + "|".join(f"{word}s?" for word in WORDS) + r")\b", re.IGNORECASE)


def texts_of(pin: Pin, site: Path) -> dict[str, str]:
    """Return the texts of an installed distribution, by place: the README in its metadata, and its files of text."""
    if (site / pin.package / "package.json").is_file():  # an npm package in node_modules
        found = [path for path in sorted((site / pin.package).rglob("*")) if "node_modules" not in path.parts[-2:]]
        paths = {str(path.relative_to(site / pin.package)): path for path in found}
    else:
        distribution = installed(pin.package, site)
        paths = {str(file): Path(str(file.locate())) for file in distribution.files or ()}
    texts = {name: path.read_text("utf-8", errors="ignore") for name, path in paths.items() if is_text(path)}
    metadata = next((text for name, text in texts.items() if name.endswith(".dist-info/METADATA")), None)
    kept = {name: text for name, text in texts.items() if ".dist-info/" not in name}
    return kept if metadata is None else {"METADATA": metadata, **kept}


def installed(package: str, site: Path) -> Distribution:
    """Return the metadata of a package in a folder of packages."""
    for each in distributions(name=package, path=[str(site)]):
        return each
    raise FileNotFoundError(f"{package} is not installed in {site}")


def is_text(path: Path) -> bool:
    """Return whether a file is read: source, documentation, or metadata."""
    return path.is_file() and (path.suffix in SUFFIXES or path.name == "METADATA")


def caveats(texts: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the sentences of README and docstrings that hold one of the words, with their places."""
    found = []
    for place, text in texts.items():
        for prose in [text] if place in README else docstrings(place, text):
            for sentence in re.split(r"(?<=[.!?])\s+|\n\s*\n|\n[*-] ", without_links(prose)):
                plain = " ".join(sentence.split())
                if (words := _WORD.search(plain)) and not _BOILERPLATE.search(plain):
                    start = max(0, words.end() - LONGEST)
                    quote = plain[start : start + LONGEST]
                    found.append({"place": place, "word": words[0].lower(), "quote": quote})
    return found


def docstrings(place: str, text: str) -> Iterator[str]:
    """Yield the docstrings of a Python file; a file that this Python cannot parse has none."""
    if not place.endswith((".py", ".pyi")):
        return
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (said := ast.get_docstring(node)):
            yield said


def quotations(checks: Iterable[Any]) -> list[str]:
    """Return what the sources of claims quote, each once.

    An ellipsis separates two quotations; the name of a parameter, before a colon, is not quoted.
    """
    found: dict[str, None] = {}
    for check in checks:
        claim = check.claim if getattr(check, "parameters", None) is None else None
        for quoted in re.findall(r'"([^"]+)"', claim.source if claim else ""):
            found |= dict.fromkeys(re.sub(r"^\w+: ", "", part.strip()) for part in quoted.split(" ... "))
    return list(found)


def place_of(quotation: str, texts: Mapping[str, str]) -> str | None:
    """Return where a quotation occurs, whatever the line breaks; None where it does not."""
    return next((place for place, text in texts.items() if squeezed(quotation) in squeezed(text)), None)


def without_links(text: str) -> str:
    """Return a text without tags, addresses of links, and roles of reStructuredText."""
    return re.sub(r"<[^<>\n]*>|\]\([^()\s]*\)|:\w+:(?=`)", " ", text)


@cache
def squeezed(text: str) -> str:
    """Return the letters and digits of a text, without links and markup; Greek letters by name."""
    plain = re.sub(r"[\W_]+", "", without_links(text)).lower()
    return re.sub("[εɛδ𝛿]", lambda letter: _GREEK[letter[0]], plain)


def write(library: str, site: Path) -> list[str]:
    """Write what a library's distribution says, and the places of the quotations; return those that do not occur."""
    pin, missing = pin_of(library), []
    texts = texts_of(pin, site)
    _save(CATALOGUE / library / RECORD, {"release": str(pin), "caveats": caveats(texts), "quotations": {}})
    for job in jobs_of(library):
        places = {quotation: place_of(quotation, texts) for quotation in quotations(job.checks)}
        missing += [quotation for quotation, place in places.items() if place is None]
        if job.finding is not None and places and library == job.finding.releases[0]:
            _save(job.finding.folder / QUOTATIONS, {"release": str(pin), "quotations": places})
        elif job.finding is None:
            _save(CATALOGUE / library / RECORD, {**recorded(library), "quotations": places})
    return missing


def _save(path: Path, record: Mapping[str, Any]) -> None:
    write_whole(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def recorded(library: str) -> dict[str, Any]:
    """Return what was recorded of a library's distribution; empty when nothing was."""
    path = CATALOGUE / library / RECORD
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def site_of(library: str) -> Path:
    """Return the folder of packages of a library's environment."""
    home = HOME.resolve() / library
    if is_javascript(library):
        return home / "node_modules"
    return next(iter(home.glob("lib/python*/site-packages")), home)


@click.command()
@click.option("--library", "chosen", multiple=True, metavar="NAME", help="Only this one; may be repeated.")
def main(chosen: tuple[str, ...]) -> None:
    """Find caveats and quotations in the audited distributions."""
    missing = []
    for library in chosen or libraries():
        prepare(library)
        missing += [f"{library}: {quotation!r} does not occur" for quotation in write(library, site_of(library))]
    for line in missing:
        click.echo(line, err=True)
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
