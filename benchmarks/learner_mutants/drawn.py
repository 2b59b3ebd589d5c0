"""Mutations of `mechanisms/learners` drawn at random, the whole file unmutated first.

    python -m benchmarks.learner_mutants.drawn 150 0    150 mutations by seed 0; a survivor takes a minute
    python -m benchmarks.learner_mutants.drawn 150 0 base.py:70 regressor    of these, the ones so named

Each changes one operator, number, condition, assignment, keyword or budget in the body of a function; texts, what is
raised and where a warning points are left alone. Tests of the learners' package and of `audit.check_estimator` run on
it until one fails: that alone is a kill. A mutation that takes three times as long as the unmutated files is listed as
too slow. The exit status is 1 if the unmutated files fail.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.learner_mutants.mutant import Mutant
from benchmarks.learner_mutants.running import ROOT, Finder, told_apart

FILES = ("base", "classifiers", "regressor", "ledger")
PACKAGE, AUDIT = "tests/mechanisms/test_learner_package.py", "tests/checks/estimators/test_check_estimator.py"
STAGES = (  # the fast ones first
    (PACKAGE, "-k", "not scikit_learn and not answer"),
    (PACKAGE, "-k", "scikit_learn or answer"),
    (AUDIT,),
)
_PATIENCE = 3  # times the seconds of the unmutated files
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


def mutants() -> list[Mutant]:
    """Return all mutations of all files, each with its whole text."""
    found = []
    for name in FILES:
        source = (ROOT / f"mechanisms/learners/{name}.py").read_text()
        count = sum(1 for _ in places(ast.parse(source)))
        for at in range(count):
            tree = ast.parse(source)
            node, part, value = next(change for index, change in enumerate(places(tree)) if index == at)
            before = ast.unparse(node)
            setattr(node, part, value)
            said = f"{name}.py:{getattr(node, 'lineno', 0)} {before.splitlines()[0]!r} -> "
            said += f"{ast.unparse(ast.fix_missing_locations(node)).splitlines()[0]!r}"
            text = ast.unparse(ast.fix_missing_locations(tree))
            found.append(Mutant(said, f"learners/{name}.py", source, text, PACKAGE))
    return found


def judged(mutant: Mutant, answer: Any) -> None:
    """Send what became of one mutation: the stage that fails, or that it survives."""
    import pytest

    sys.meta_path.insert(0, Finder(mutant, mutant.new))
    nowhere = io.StringIO()
    os.chdir(ROOT)
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        for path, *more in STAGES:
            status = pytest.main(["-q", "-x", "-n", "0", "-p", "no:cacheprovider", str(ROOT / path), *more])
            if status != 0:
                answer.send(f"killed by {Path(path).name}" if status in (1, 2) else f"invalid: status {status}")
                return
    answer.send("SURVIVED")


def main() -> None:
    """Judge the unmutated files, then the mutations that are drawn."""
    import sklearn.utils.estimator_checks  # noqa: F401  imported once, before the processes are forked

    import mechanisms.stability.transfer  # noqa: F401

    count, seed = (int(value) for value in (*sys.argv[1:3], *("150", "0")[len(sys.argv[1:3]) :]))
    chosen = tuple(sys.argv[3:]) or ("",)
    source = (ROOT / "mechanisms/learners/base.py").read_text()
    started = time.monotonic()
    baseline = told_apart(judged, Mutant("unmutated", "learners/base.py", source, source, PACKAGE))
    print(f"unmutated: {baseline}", flush=True)
    if baseline != "SURVIVED":
        raise SystemExit(1)
    limit = _PATIENCE * (time.monotonic() - started)
    every = mutants()
    drawn = random.Random(seed).sample(every, min(count, len(every)))
    unchanged = {ast.unparse(ast.parse(mutant.old)) for mutant in drawn}  # an assignment of None is replaced by itself
    drawn = [mutant for mutant in drawn if mutant.new not in unchanged and mutant.name.startswith(chosen)]
    found: Counter[str] = Counter()
    for index, mutant in enumerate(drawn, 1):
        said = told_apart(judged, mutant, limit)
        found[said.split()[0]] += 1
        if index % 25 == 0:
            print(f"after {index}: {dict(found)}", flush=True)
        if not said.startswith("killed"):
            print(f"{said}: {mutant.name}", flush=True)
    print(f"{found['killed']} of {len(drawn)} killed, drawn from {len(every)} by seed {seed}: {dict(found)}")


if __name__ == "__main__":
    main()
