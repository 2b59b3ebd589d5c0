"""Audit the leaks at the defaults, and print a table."""

import sys

import audit

from . import CLAIM, LEAKS, LEFT, RIGHT


def main(names: list[str]) -> None:
    print("| leak | kind | verdict | epsilon >= | reason |\n| --- | --- | --- | --- | --- |")
    for each in LEAKS:
        if not names or each.name in names:
            result = audit.check_privacy(each.mechanism, CLAIM, pairs=[(LEFT, RIGHT)], floats=each.floats)
            bound = f"{result.epsilon_lower_bound:.3g}"
            print(f"| {each.name} | {each.group} | {result.verdict} | {bound} | {result.reason[:150]} |")


if __name__ == "__main__":
    main(sys.argv[1:])
