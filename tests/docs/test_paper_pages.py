"""Examples of the pages on papers run as they stand and print what their comments say; each page has its figure."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("sklearn")

from benchmarks.learner_plots import FIGURES

DOCS = Path(__file__).parents[2] / "docs"
MOST_LINES = 20
LEARNERS = re.compile(r"from mechanisms\.learners import")


def examples_of(page):
    """The blocks that print; one that is a file of tests, by its first line, is for pytest."""
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / f"{page}.md").read_text(), flags=re.S)
    return [code for code in blocks if not code.startswith("# test_")]


def comments_of(code):
    """What the example says that it prints: comments after `print(...)`, and lines that are comments, in order."""
    return re.findall(r"(?:^|print\(.*\)  )# (.*)$", code, flags=re.M)


@pytest.mark.filterwarnings("ignore:the teachers labeled")
@pytest.mark.parametrize("page", [*FIGURES, "learners"])
def test_examples_print_what_they_say(page, capsys):
    blocks = examples_of(page)
    assert any(LEARNERS.search(code) for code in blocks)
    for code in blocks:
        assert len(code.splitlines()) <= MOST_LINES
        exec(compile(code, f"{page}.md", "exec"), {})
        printed, said = capsys.readouterr().out.splitlines(), comments_of(code)
        assert printed
        assert len(printed) == len(said)
        assert [line for line, comment in zip(printed, said, strict=True) if not comment.startswith(line)] == []
