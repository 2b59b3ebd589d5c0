"""The statements of the five papers with a computable claim: how many are checked as printed, weaker, or not at all.

    python -m benchmarks.statements

The numbers of statements are a count by hand: algorithms, theorems, lemmas, corollaries, numbered equations, remarks,
footnotes, tables and figures that claim something computable. Those below what is printed are named here, each with the
words of its page that say so: the command fails where a page does not say it any more. The others are those of the
tables of claims on the pages, whose patterns `tests/docs` compares with the checks.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parents[1] / "docs"
STATEMENTS = {
    "consistency": 50,
    "local-classification": 13,
    "cover-learning": 30,
    "label-privacy": 21,
    "stability-learning": 37,
}


class Below(NamedTuple):
    """A statement that is not checked as it is printed."""

    page: str
    name: str
    kind: str  # "weaker" or "missing"
    said: str  # on the page


BELOW = (
    Below("label-privacy", "Table 1(a)", "weaker", "has a fifteenth of what the paper trains on"),
    Below("label-privacy", "Table 1(b)", "weaker", "for Table 1(b) a thirtieth, and two splits"),
    Below("label-privacy", "Table 2", "weaker", "Of Table 2 the six methods are compared at eps = 1"),
    Below("label-privacy", "Table 3", "missing", "nothing stands for Table 3"),
    Below("label-privacy", "Figure 3", "weaker", "figures 3 and 4 where there are many"),
    Below("label-privacy", "Figure 4", "weaker", "figures 3 and 4 where there are many"),
)


def main() -> None:
    """Print the table, and the statements that are below what is printed."""
    texts = {page: " ".join((DOCS / f"{page}.md").read_text().split()) for page in STATEMENTS}
    if silent := [each for each in BELOW if each.said not in texts[each.page]]:
        raise SystemExit(f"the page does not say so: {silent}")
    print("| page | statements | as printed | weaker | missing |\n| --- | --- | --- | --- | --- |")
    rows = []
    for page, count in STATEMENTS.items():
        weaker, missing = (
            sum((each.page, each.kind) == (page, kind) for each in BELOW) for kind in ("weaker", "missing")
        )
        rows.append((count, count - weaker - missing, weaker, missing))
        print(f"| {page} | {' | '.join(map(str, rows[-1]))} |")
    print(f"| together | {' | '.join(str(sum(column)) for column in zip(*rows, strict=True))} |")
    for each in BELOW:
        print(f"{each.kind}: {each.page}, {each.name}")


if __name__ == "__main__":
    main()
