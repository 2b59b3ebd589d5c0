"""Change one expression of a file: an operator, a number, a condition, an assignment, a keyword or a budget.

Texts, what is raised and where a warning points are left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from benchmarks.mutants.mutant import Mutant
from benchmarks.mutants.running import ROOT

Place = tuple[str, int]  # a file, without its ending, and the number of a change in it

_OPERATORS: dict[type, Any] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult, ast.And: ast.Or, ast.Or: ast.And, ast.BitXor: ast.BitAnd,
}  # fmt: skip


def changes(node: ast.AST) -> Iterator[tuple[ast.AST, str, Any]]:
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


def places(tree: ast.Module) -> Iterator[tuple[ast.AST, str, Any]]:
    """Yield all changes in the bodies of functions, in the order of the text."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name[:7] != "__sklea")
    for function in functions:
        waiting: list[ast.AST] = list(function.body)
        while waiting:
            node = waiting.pop(0)
            if isinstance(node, (ast.Raise, ast.JoinedStr)) or getattr(node, "arg", None) == "stacklevel":
                continue
            yield from changes(node)
            waiting = [*ast.iter_child_nodes(node), *waiting]


def places_of(package: str, files: Sequence[str]) -> list[Place]:
    """Return the places of all changes of some files of a package, in the order of their texts."""
    trees = ((file, ast.parse((ROOT / package / f"{file}.py").read_text())) for file in files)
    return [(file, number) for file, tree in trees for number, _ in enumerate(places(tree))]


def mutation(package: str, place: Place, notices: str) -> Mutant:
    """Return one change, with the whole text of its file."""
    file, number = place
    source = (ROOT / package / f"{file}.py").read_text()
    tree = ast.parse(source)
    node, part, value = next(islice(places(tree), number, None))
    before = ast.unparse(node).splitlines()[0]
    setattr(node, part, value)
    after = ast.unparse(ast.fix_missing_locations(node)).splitlines()[0]
    name = f"{file}.py:{getattr(node, 'lineno', 0)} {before!r} -> {after!r}"
    return Mutant(name, f"{file}.py", source, ast.unparse(ast.fix_missing_locations(tree)), notices)


def changes_nothing(mutant: Mutant) -> bool:
    """Test whether a change gives the same code: None in place of None."""
    return mutant.new == ast.unparse(ast.parse(mutant.old))
