"""Draw public functions to test the map in docs/design.md: can a reader who has read only the map place them?

`python -m benchmarks.placement --seed 1` prints the name and the first line of the docstring of 20 functions, without
their files. The reader writes room and folder of each; `--answers` prints those, with what a room's row says.
"""

from __future__ import annotations

import argparse
import ast
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

AUDIT = Path(__file__).resolve().parents[1] / "audit"


class Function(NamedTuple):
    """A public function or class of `audit`: where it is, and what its docstring says first."""

    place: str
    name: str
    headline: str


@cache
def functions() -> tuple[Function, ...]:
    """Return the functions, classes and methods of `audit` with a docstring and a public name, in order of files."""
    return tuple(_functions())


def _functions() -> Iterator[Function]:
    for path in sorted(AUDIT.rglob("*.py")):
        tree = ast.parse(path.read_text())
        for prefix, body in [("", tree.body), *((f"{node.name}.", node.body) for node in _classes(tree.body))]:
            for node in body:
                public = isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
                if public and (said := ast.get_docstring(node)):
                    place = path.relative_to(AUDIT).as_posix()
                    yield Function(place, f"{prefix}{node.name}", " ".join(said.partition("\n\n")[0].split()))


def _classes(body: list[ast.stmt]) -> list[ast.ClassDef]:
    return [node for node in body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]


def drawn(seed: int, number: int) -> list[Function]:
    """Return functions drawn without replacement."""
    return random.Random(seed).sample(functions(), number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=20)
    parser.add_argument("--answers", action="store_true", help="print where each function is")
    options = parser.parse_args()
    for index, found in enumerate(drawn(options.seed, options.number), 1):
        print(f"{index:2}. " + (found.place if options.answers else f"{found.name}: {found.headline}"))


if __name__ == "__main__":
    main()
