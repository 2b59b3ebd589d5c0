"""One language: the words of the table in docs/design.md, American spelling, and docstrings that begin with a verb.

Names of classes end with a word of `class_nouns.txt`, so that an image is noticed when it arrives, whatever it is.
"""

from operator import itemgetter
from pathlib import Path

import pytest

from tests.meta.language import (
    faults_of_headlines,
    faults_of_names,
    faults_of_prose,
    faults_of_python,
    last_words_of_classes,
)

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("audit", "mechanisms", "benchmarks", "wild", "tests", "examples")
# they quote names of checks, and the words of other libraries and tools
GENERATED = {"docs/found.md", "docs/calibration.md", "docs/peers.md"}
NOUNS = [
    line for line in (Path(__file__).parent / "class_nouns.txt").read_text().splitlines() if not line.startswith("#")
]


def python_files(*packages):
    return [
        path.relative_to(ROOT).as_posix() for package in packages for path in sorted((ROOT / package).rglob("*.py"))
    ]


def pages():
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    found += [path for package in PACKAGES for kind in ("*.md", "*.j2") for path in (ROOT / package).rglob(kind)]
    return sorted({path.relative_to(ROOT).as_posix() for path in found} - GENERATED)


def faults(aspect, path):
    source = (ROOT / path).read_text()
    if aspect == "names":
        return faults_of_names(source, Path(path))
    if aspect == "headlines":
        return faults_of_headlines(source)
    return faults_of_prose(source) if path.endswith((".md", ".j2")) else faults_of_python(source)


CASES = {
    *(("names", path) for path in python_files(*PACKAGES)),
    *(("prose", path) for path in [*python_files(*PACKAGES), *pages()]),
    *(("headlines", path) for path in python_files("audit", "mechanisms", "benchmarks", "wild", "examples")),
}


def test_names_prose_and_headlines():
    found = {case: faults(*case) for case in sorted(CASES, key=itemgetter(1))}
    assert len(found) > 500
    assert not {case: wrong for case, wrong in found.items() if wrong}


def test_classes_are_named_by_nouns_of_the_field():
    classes = {name: word for path in python_files("audit") for name, word in words_of_classes(path)}
    assert len(classes) > 300
    assert not {name for name, word in classes.items() if word not in NOUNS}, "say what it is, or add the word"
    assert sorted(set(classes.values())) == NOUNS, "take words off the list that no class ends with; keep it sorted"


def words_of_classes(path):
    return last_words_of_classes((ROOT / path).read_text())


@pytest.mark.parametrize("name", ["Nursery", "_TrainingCrew", "FeatureBoard"])
def test_a_class_named_by_an_image_is_found(name):
    ((_, word),) = last_words_of_classes(f"class {name}: ...")
    assert word not in NOUNS


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("def take_aim(): ...", "1: take_aim: say choice"),
        ("class BestContender: ...", "1: BestContender: say candidate"),
        ("neighbours = 1", "1: neighbours: American spelling"),
        ("def f(normalised): ...", "1: normalised: American spelling"),
        ("self.crew = 1", "1: crew: say pool"),
    ],
)
def test_a_banned_name_is_found(source, line):
    assert faults_of_names(source, Path("module.py")) == [line]


def test_a_banned_file_name_is_found():
    assert faults_of_names("", Path("audit/panels.py")) == ["0: panels: say cells, expert groups or features"]


@pytest.mark.parametrize(
    "text",
    [
        "The behaviour of neighbours.",
        "It is randomised and then\nlabelled.",
        "at most 100,000 outputs a side",
        "Text that is no Unicode.",
        "the best of the contenders",
        "fresh outputs bear them out",
    ],
)
def test_banned_prose_is_found(text):
    assert faults_of_prose(text)
    assert faults_of_python(f'"""{text}"""')
    assert faults_of_python("".join(f"# {line}\n" for line in text.splitlines()))


@pytest.mark.parametrize(
    "text",
    [
        "There is no such pair, and it is no longer than two records: exercise, promise, noise, precise.",
        '`randomise` is a method of diffprivlib, whose page says "neighbouring".',
        "```python\ncolour = 1\n```",
    ],
)
def test_other_prose_is_admitted(text):
    assert not faults_of_prose(text)


@pytest.mark.parametrize("first", ["What a check is.", "Whether it is.", "How far it is.", "Give the bound."])
def test_a_noun_clause_as_headline_is_found(first):
    assert faults_of_headlines(f'def f():\n    """{first}"""')
    assert not faults_of_headlines('def f():\n    """Return the bound."""')
