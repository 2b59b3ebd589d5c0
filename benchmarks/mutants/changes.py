"""Change one expression of a file: an operator, a number, a condition, an assignment, a keyword or a budget.

Texts, raised errors and the places of warnings are left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

_OPERATORS: dict[type, Any] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult, ast.And: ast.Or, ast.Or: ast.And, ast.BitXor: ast.BitAnd,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A text of a file with a change at some lines, the text before it, and tests or checks that should notice it."""

    name: str
    file: str
    text: str
    before: str
    tests: tuple[tuple[str, ...], ...] = ()
    lines: range = range(0)

    @property
    def place(self) -> tuple[str, str, str]:
        """The file, and its first line that changes, before and after."""
        lines = zip(self.before.splitlines(), self.text.splitlines(), strict=False)
        return self.file, *next((one.strip(), other.strip()) for one, other in lines if one != other)


def list_changes(node: ast.AST) -> Iterator[tuple[ast.AST, str, Any]]:
    """Yield the changes of one node: the object, its field, and the new value."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _OPERATORS:
        yield node, "ops", [_OPERATORS[type(node.ops[0])](), *node.ops[1:]]
    elif isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)) and type(node.op) in _OPERATORS:
        yield node, "op", _OPERATORS[type(node.op)]()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield node, "op", ast.UAdd()
    elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        yield node, "value", not node.value if isinstance(node.value, bool) else node.value + 1
    elif isinstance(node, ast.Call):
        for at, given in enumerate(node.args):
            if isinstance(given, ast.Attribute) and given.attr in ("epsilon", "delta"):
                twice = ast.BinOp(ast.Constant(2), ast.Mult(), given)
                yield node, "args", [*node.args[:at], twice, *node.args[at + 1 :]]
    elif isinstance(node, (ast.IfExp, ast.If)):
        yield node, "test", ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, (ast.Assign, ast.Return, ast.keyword)) and node.value is not None:
        yield node, "value", ast.Constant(None)


def list_places(tree: ast.Module) -> Iterator[tuple[ast.AST, str, Any]]:
    """Yield all changes in the bodies of functions, in the order of the text."""
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        waiting: list[ast.AST] = list(function.body)
        while waiting:
            node = waiting.pop(0)
            if isinstance(node, (ast.Raise, ast.JoinedStr)) or getattr(node, "arg", None) in ("stacklevel", "strict"):
                continue
            yield from list_changes(node)
            waiting = [*ast.iter_child_nodes(node), *waiting]


def count_places(file: str) -> int:
    """Return how many changes a file admits."""
    return sum(1 for _ in list_places(ast.parse((ROOT / file).read_text())))


def mutate(file: str, number: int) -> Mutant | None:
    """Return the change of that number in a file, or None where it gives the same code."""
    tree = ast.parse((ROOT / file).read_text())
    same = ast.unparse(tree)
    node, part, value = next(islice(list_places(tree), number, None))
    before, line = ast.unparse(node).splitlines()[0], getattr(node, "lineno", 0)
    statements = (each for each in ast.walk(tree) if isinstance(each, ast.stmt) and each.lineno <= line)
    start = max(each.lineno for each in statements if line <= (each.end_lineno or 0))
    setattr(node, part, value)
    text = ast.unparse(ast.fix_missing_locations(tree))
    name = f"{file}:{line} {before!r} -> {ast.unparse(node).splitlines()[0]!r}"
    return None if text == same else Mutant(name, file, text, same, lines=range(start, line + 1))
