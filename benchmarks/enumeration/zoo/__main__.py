"""Print what the enumeration makes of each program of the zoo: `python -m benchmarks.enumeration.zoo [word ...]`.

With words, only programs of which the family or the name holds one of them. The exit status is 1 when a law is wrong.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter

from benchmarks.enumeration.zoo import families
from benchmarks.enumeration.zoo.case import WRONG, outcome_of


def main(words: list[str]) -> int:
    """Print a row for each program, and the counts of each family."""
    warnings.simplefilter("ignore")
    counts: dict[str, Counter[str]] = {}
    for case in families.CASES:
        if words and not any(word in f"{case.family}: {case.name}" for word in words):
            continue
        outcome = outcome_of(case, time_limit=10.0)
        counts.setdefault(case.family, Counter())[outcome.name] += 1
        print(f"{outcome.name:8} {case.family}: {case.name}  {outcome.said}", flush=True)
    for family, found in counts.items():
        print(f"{family:20} {sum(found.values()):4} {dict(sorted(found.items()))}")
    print(
        f"{'all':20} {dict(sorted(sum(counts.values(), Counter[str]()).items()))}, {time.process_time():.1f} CPU s here"
    )
    return int(any(found[WRONG] for found in counts.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
