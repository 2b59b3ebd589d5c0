"""Find words, spellings and phrases that the project does not use, in identifiers and in prose."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

# Parts of identifiers, lower case, each with what is said instead.
BANNED_PARTS = {
    "aim": "choice",
    "anatomy": "float_parts",
    "bear": "confirm",
    "board": "features",
    "boards": "features",
    "careless": "naive",
    "contender": "candidate",
    "contenders": "candidates",
    "crew": "pool",
    "crumbs": "rounding",
    "examination": "evidence",
    "examine": "gather",
    "examines": "gathers",
    "keeper": "supervisor",
    "nurse": "serve",
    "nursery": "fork server",
    "offer": "proposal",
    "oddities": "anomalies",
    "panel": "cell, expert group or features",
    "panels": "cells, expert groups or features",
    "promise": "claim or estimated bound",
    "relay": "worker process",
    "stakes": "design",
    "wants": "needs",
    "worth": "value",
}

_IS_STEMS = (
    "character critic canonical categor central custom discret equal factor final formal general initial linear local "
    "material maxim memo minim normal optim organ parallel parametr penal prioriti privat quant random real recogn "
    "regular serial special stabil standard summar symmetr synchron token util vector visual"
)
_BRITISH = (
    r"analyse|artefact|behaviour|centre|centring|colour|defence|favour|fulfil\b|grey|honour|judgement"
    r"|(?<!aria-)labell(?:ed|ing)|labour|learnt|licence|modell(?:ed|ing)|neighbour|rigour|whilst|amongst"
    rf"|\b\w*(?:{'|'.join(_IS_STEMS.split())})is(?:e|ed|es|er|ers|ing|ation|ations)\b"
)

# Patterns in prose, each with what to write instead.
BANNED_PROSE = {
    re.compile(_BRITISH, re.IGNORECASE): "American spelling",
    re.compile(r"\bcrumbs?\b|\bnurser(?:y|ies)\b|\bkeepers?\b", re.IGNORECASE): "what is meant",
    re.compile(r"\bcontenders?\b|\bstakes\b|\bcrew\b|\bthe relay\b|\banatomy\b", re.IGNORECASE): "the field's term",
    re.compile(r"\b(?:outputs|runs|samples|games|many|much|at most|[\d,]*\d) a side\b"): "per dataset",
    re.compile(r"(?<!here )\b(?:is|are|was) no (?!longer|more|less|fewer|other|such|\w+er\b)\w+"): "is not a ...",
    re.compile(r"\bbears? (?:it |them )?out\b|\bborne out\b"): "confirm",
    re.compile(r"\bso many\b"): "that many, or a number",
    re.compile(r"\bone way round\b"): "in either order",
    re.compile(r"\bone case a\b|\bone request a\b|\bone uniform U? ?a\b|\ba line each\b"): "per",
}
HEADLINE = re.compile(r"(?:What|Whether|How|Why|Which|Gives?)\b")
"""How the first line of a docstring must not begin: it says what a function returns or does."""

_QUOTED = re.compile(r"```.*?```|``[^`]+``|`[^`\n]+`|\"[^\"\n]+\"|“[^”]+”|https?://\S+", re.DOTALL)
_TEXT_OR_COMMENT = re.compile(
    r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|'
    r"'{3}(?:\\.|[^\\])*?'{3}|'(?:\\.|[^'\\\n])*'|#[^\n]*",
    re.DOTALL,
)


def parts_of(name: str) -> list[str]:
    """Split an identifier into lower-case words."""
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


@functools.lru_cache(maxsize=2)  # a file is asked about several times in a row
def nodes_in(source: str) -> tuple[ast.AST, ...]:
    """Return the nodes of the syntax tree of a file."""
    return tuple(ast.walk(ast.parse(source)))


def last_words_of_classes(source: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each class of a file, and the word with which it ends."""
    for node in nodes_in(source):
        if isinstance(node, ast.ClassDef):
            yield node.name, parts_of(node.name)[-1]


def names_in(source: str) -> Iterator[tuple[int, str]]:
    """Yield the names that a file defines, with their lines."""
    for node in nodes_in(source):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr


def docstrings_in(source: str) -> Iterator[tuple[int, str]]:
    """Yield docstrings, those below assignments included, with their lines."""
    for node in nodes_in(source):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def comments_in(source: str) -> Iterator[tuple[int, str]]:
    """Yield comments with their lines; what looks like one in a text is none."""
    line, at = 1, 0
    for found in _TEXT_OR_COMMENT.finditer(source):
        if found.group().startswith("#"):
            line, at = line + source.count("\n", at, found.start()), found.start()
            yield line, found.group()


def faults_of_names(source: str, path: Path) -> list[str]:
    """Return what is wrong with the identifiers of a file and with its own name."""
    found = []
    for line, name in [(0, path.stem), *names_in(source)]:
        found += [f"{line}: {name}: say {BANNED_PARTS[part]}" for part in parts_of(name) if part in BANNED_PARTS]
        if re.search(_BRITISH, " ".join(parts_of(name))):
            found.append(f"{line}: {name}: American spelling")
    return found


def faults_of_prose(text: str, line: int = 1) -> list[str]:
    """Return what is wrong with a text; code, quotations and addresses in it are left out."""
    plain = _QUOTED.sub(lambda quoted: "_" + "\n" * quoted.group().count("\n"), text)
    return [
        f"{line + plain[: hit.start()].count(chr(10))}: {hit.group()!r}: write {instead}"
        for pattern, instead in BANNED_PROSE.items()
        for hit in pattern.finditer(plain)
    ]


def faults_of_python(source: str) -> list[str]:
    """Return what is wrong with the docstrings and comments of a file."""
    texts = [*docstrings_in(source), *comments_in(source)]
    return [fault for line, text in texts for fault in faults_of_prose(text, line)]


def faults_of_headlines(source: str) -> list[str]:
    """Return the docstrings whose first line is a noun clause."""
    nodes = [
        node
        for node in nodes_in(source)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    first = [(node, (ast.get_docstring(node) or "").partition("\n")[0]) for node in nodes]
    return [f"{getattr(node, 'lineno', 1)}: {text!r}" for node, text in first if HEADLINE.match(text)]
