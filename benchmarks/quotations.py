"""Compare the sentences that the pages say something against with the papers' own words.

    python -m benchmarks.quotations DIRECTORY       with the papers as text, one file for each page

The project contains no papers. Formulas are lost or doubled in most texts, so that words of prose are compared: every
word of a quotation must occur in one sentence of the paper, in order, and no word of that sentence around them.
Prints each quotation that does not, and how many were compared; the exit status is 1 if there is one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PAPERS = {
    "consistency": "bayes-consistency",
    "cover-learning": "cover-learning",
    "label-privacy": "label-vector",
    "local-classification": "local-classification",
    "stability-learning": "stability-learning",
}
LISTS = ("The theorem is false", "A step of the proof is false", "Misprint or reading")
DOCS = Path(__file__).parents[1] / "docs"
_FEWEST_WORDS = 3
_FORMULA = re.compile(
    r"\\[a-zA-Z]+|\S*(?:script|italic|assign|absent|conditional|formulae|displaystyle|differential-d)\S*"
)
_LOST = re.compile(r"Inline graphic|graphic file with name \S+")
_END = re.compile(  # a formula that ends a sentence has no full stop
    r"(?<=[^A-Za-z,;:\s]) (?!Inline)(?=[A-Z][a-z]+ [a-z])|(?=Theorem [\d.]+ shows)"
    r"|[.?!](?=\s+[A-Z0-9(\\])|\b\d{3}(?=Note)|\biii?\)|\bi\)"
    r"|\b(?:(?:Theorem|Lemma|Corollary|Remark) [A-Z]?[\d.]+(?: \([A-Z][^)]*\))?|Proof\.?) (?=[A-Z])"
)
_GREEK = {"alpha", "beta", "gamma", "delta", "theta", "kappa", "omega"}
_LEFT_OUT = _GREEK | {"supp", "sqrt", "laplace", "theorem", "lemma", "lies"}  # beside formulas; lost in some texts


def words_of(text: str) -> list[str]:
    """Return the words of prose: lower-case, four letters at least, formulas left out."""
    plain = _LOST.sub(" ", _FORMULA.sub(" ", text))
    return [
        word.lower()
        for word in re.findall(r"(?<![A-Za-z_^{])[A-Za-z][a-z]{3,}(?![A-Za-z_^{}])", plain)
        if word.lower() not in _LEFT_OUT
    ]


def sentences_of(text: str) -> list[list[str]]:
    """Return the words of each sentence."""
    return [words_of(part) for part in _END.split(" ".join(text.split()))]


def quotations_of(page: str) -> list[str]:
    """Return the quotations in the three lists of a page."""
    parts = re.split(r"^## (.+)$", (DOCS / f"{page}.md").read_text(), flags=re.MULTILINE)
    listed = [text for title, text in zip(parts[1::2], parts[2::2], strict=True) if title in LISTS]
    found = [" ".join(each.split()) for text in listed for each in re.findall(r'"([^"]*)"', text)]
    return [each for each in found if len(each.split()) >= _FEWEST_WORDS]


def left_out(quotation: str, sentences: list[list[str]]) -> list[str] | None:
    """Return the fewest words by which a sentence goes on around a quotation, or None if no sentence holds it."""
    wanted, best = words_of(quotation), None
    for sentence in sentences:
        at, first = -1, None
        for word in wanted:
            try:
                at = sentence.index(word, at + 1)
            except ValueError:
                break
            first = at if first is None else first
        else:
            beside = sentence[: first or 0] + sentence[at + 1 :]
            best = beside if best is None or len(beside) < len(best) else best
    return best


def main(directory: str) -> int:
    """Print what differs, and return the exit status."""
    compared = wrong = 0
    for page, paper in PAPERS.items():
        sentences = sentences_of((Path(directory) / f"{paper}.txt").read_text())
        for quotation in quotations_of(page):
            compared += 1
            beside = left_out(quotation, sentences)
            if beside is None or beside:
                wrong += 1
                why = (
                    "no sentence has these words"
                    if beside is None
                    else f"the sentence goes on: {' '.join(beside)[:200]}"
                )
                print(f"{page}: {quotation[:90]}...\n    {why}")
    print(f"{compared} quotations compared, {wrong} differ")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
