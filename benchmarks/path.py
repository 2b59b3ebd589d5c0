"""Trace the way of one audit through the package: files and functions entered, and the travels of the significance.

    python -m benchmarks.path                 # audit.check_privacy on a scalar mechanism
    python -m benchmarks.path --list          # and the files, in the order of their first call

A file counts once any of its functions runs. Code that runs when a module is imported does not count: everything is
imported before the trace begins, by an audit that is not traced. A comprehension, a generator expression or a lambda is
an expression of the function that it stands in, and is counted apart. A call holds the significance when one of its
arguments is that number, or an object with that number as an attribute. A move is a change of file between two such
calls, in the order of calls; a return is a move into a file that an earlier move has left.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

import audit

PACKAGE = Path(audit.__file__).parent
SIGNIFICANCE = 0.0473  # a number that nothing else has


class Call(NamedTuple):
    """One call of a function of the package."""

    file: str
    function: str
    holds: bool


def laplace(data: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Release a sum with Laplace noise of scale 1."""
    return data.sum() + rng.laplace(size=size)


def audited() -> None:
    """Run the audit that is traced."""
    claim = audit.PrivacyClaim(epsilon=1.0)  # kept: nothing is tested again
    pairs = [(np.zeros(5), np.array([1.0, 0, 0, 0, 0]))]
    settings = {"budget": 20_000, "significance": SIGNIFICANCE, "seed": 0}
    result = audit.check_privacy(laplace, claim, pairs=pairs, workers=0, **settings)  # that of workers is another way
    assert result.verdict != "FAIL"


def traced() -> list[Call]:
    """Return the calls of functions of the package during one audit, in their order."""
    calls: list[Call] = []

    def hook(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and Path(code.co_filename).is_relative_to(PACKAGE):
            file = str(Path(code.co_filename).relative_to(PACKAGE))
            calls.append(Call(file, code.co_qualname, holds_significance(code, frame)))

    audited()
    sys.setprofile(hook)
    try:
        audited()
    finally:
        sys.setprofile(None)
    return calls


def holds_significance(code: CodeType, frame: FrameType) -> bool:
    """Return whether an argument of the call is the significance, or an object that has it as an attribute."""
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    values = [frame.f_locals.get(name) for name in names]
    inside = [part for value in values for part in getattr(value, "__dict__", {}).values()]
    return any(type(value) is float and value == SIGNIFICANCE for value in [*values, *inside])


def moves_and_returns(files: Iterable[str]) -> tuple[int, int]:
    """Count the changes of file along a path, and those into a file that was left before.

    >>> moves_and_returns(["a", "a", "b", "a", "c"])
    (3, 1)
    """
    moves = returns = 0
    left: set[str] = set()
    here: str | None = None
    for file in files:
        if here is not None and file != here:
            moves += 1
            returns += file in left
            left.add(here)
        here = file
    return moves, returns


def main() -> None:
    """Print the figures, and with `--list` the files."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="print the files in the order of their first call")
    arguments = parser.parse_args()
    calls = traced()
    files = list(dict.fromkeys(call.file for call in calls))
    entered = {(call.file, call.function) for call in calls}
    functions = [name for _, name in entered if not name.endswith(">")]
    holders = [call for call in calls if call.holds]
    holding = {call.file for call in holders}
    moves, returns = moves_and_returns(call.file for call in holders)
    print(f"files entered       {len(files)}")
    print(f"functions entered   {len(functions)}, and {len(entered) - len(functions)} expressions in them")
    print(f"significance held   by {len({call[:2] for call in holders})} functions of {len(holding)} files")
    print(f"significance moves  {moves} times between files, {returns} of them into a file that it had left")
    if arguments.list:
        print(*files, sep="\n")


if __name__ == "__main__":
    main()
