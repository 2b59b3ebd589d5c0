"""Search the worst analyst of faults whose state no fixed list of queries reaches, beside the best fixed list.

`python -m benchmarks.interactive.search [TEXT]` prints one line a fault: CPU seconds of search and certification
together, the conversation that was found, and the certified epsilon with answers as arguments and without. Pairs differ
in the first or in the second record, and the search has to find which counts.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from audit import Moves, check_interactive
from mechanisms.faults.interactive.noises import Echo, NearEcho, OldHandle, RefundsTheLast, last
from mechanisms.interactive.sessions import CLAIM

BUDGET = 20_000
PAIRS = [([0.0, 0.0], [0.0, 1.0]), ([0.0, 0.0], [1.0, 0.0])]
NUMBERS = [0.0, 0.5, 1.0, 7.0, -1.0]
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "echo": (Echo, {"ask": [[0, 1], [0.1, 0.5]], "is_far": [NUMBERS], "left": []}),
    "near echo": (NearEcho, {"ask": [[0, 1], [0.1, 0.5]], "confirm": [NUMBERS], "left": []}),
    "old handle": (OldHandle, {"ask": [[0, 1], [0.1, 0.5]], "ticket": [], "read": [NUMBERS]}),
    "refunds the last": (RefundsTheLast, {"ask": [[0, 1], [0.5, 0.9]], "refund": [NUMBERS], "left": []}),
}


def adaptive(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table whose numbers may also be the last answer."""
    return {name: [[*each, last] if each is NUMBERS else each for each in values] for name, values in table.items()}


def searched(make: Any, table: dict[str, Any], length: int = 8) -> Any:
    """Return the result of a search, and its CPU seconds."""
    started = time.process_time()
    result = check_interactive(make, CLAIM, PAIRS, analyst=Moves(table, length), budget=BUDGET, workers=0)
    return result, time.process_time() - started


def main(only: str = "") -> None:
    """Print the table, of faults whose name holds a text."""
    for name, (make, table) in CASES.items():
        if only not in name:
            continue
        for kind, moves in (("fixed", table), ("adaptive", adaptive(table))):
            result, seconds = searched(make, moves)
            plan = result.evidence.searched.setting["plan"]
            bound = f"epsilon >= {result.epsilon_lower_bound:.2f}"
            print(f"{name:16} {kind:8} {result.verdict} {bound}, {seconds:.1f} CPU s: {plan}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
