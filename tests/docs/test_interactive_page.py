"""The page on mechanisms that answer back runs as printed, and its numbers are those of the benchmark.

What must be convicted is so with fixed seeds. The one PASS is exact: the fit of its sampler rejects with probability
0.05 over fresh seeds, and the seed is fixed.
"""

import re
from pathlib import Path

import audit

PAGE = (Path(__file__).parents[2] / "docs" / "interactive.md").read_text()
SESSION, TEST, *BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.S)
TURNS, *SHOWN = re.findall(r"```text\n(.*?)```", PAGE, flags=re.S)


def test_the_session_fails_by_the_conversation_that_is_shown():
    names = {}
    exec(SESSION + TEST, names)

    class Fixture:
        def interactive(self, *arguments, **settings):
            self.result = audit.check_interactive(*arguments, **settings, budget=20_000, workers=0)

    fixture = Fixture()
    names["test_session"](fixture)
    assert fixture.result.verdict is audit.Verdict.FAIL
    assert [line.strip() for line in TURNS.splitlines()] == [
        line.strip() for line in str(fixture.result).splitlines() if re.match(r" *\d\. ", line)
    ]


def test_the_blocks_print_what_is_shown(capsys):
    names = {"audit": audit}
    for block, shown in zip(BLOCKS, SHOWN, strict=True):
        exec(block, names)
        assert capsys.readouterr().out == shown
