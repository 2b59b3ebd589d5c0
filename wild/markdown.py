"""Markdown from text that a library or a certificate holds: tables, and names that cannot become markup."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Sequence
from typing import Any

import jinja2

from audit.text import count
from wild.environments import CATALOGUE

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|$&~!])")


def filled(name: str, **words: Any) -> str:
    """Return a page of the folder `pages` with its words filled in."""
    pages = jinja2.FileSystemLoader(CATALOGUE / "pages")
    made = jinja2.Environment(
        loader=pages, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined
    )
    made.filters |= {"md": escaped, "number": count}
    return made.get_template(name).render(words)


def escaped(text: Any) -> str:
    """Return a text as Markdown that shows it as it is, on one line.

    Examples
    --------
    >>> print(escaped("a|b <c>"))
    a\\|b \\<c\\>
    """
    return _MARKUP.sub(r"\\\1", " ".join(str(text).split()))


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as the site and the code host make it.

    Examples
    --------
    >>> anchor("1. lib/Some mean eps=1")
    '1-libsome-mean-eps1'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table; its cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def fenced(code: str, language: str = "python") -> str:
    """Return a block of code, between fences longer than any in it."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", code))])
    return f"{fence}{language}\n{code}\n{fence}\n"


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
