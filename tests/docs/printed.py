"""Run the blocks of a Markdown page as printed, in an empty folder and environment, and compare what they print.

A Python block whose first line is `# name.py` is a file; the others are one session, in their order. A console block is
commands after `$ `, each followed by lines that it prints; a text block is what the Python block above it prints.

`python -m tests.docs.printed README.md docs/index.md` puts the lines that are printed today in place of those shown.
"""

import itertools
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.bare import ROOT, Bare, built

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# (\S+\.py)\n")
_SECONDS = re.compile(r"\bin [\d.]+ m?s\b")
_NUMBER = re.compile(r"-?\d[\d.,e+-]*|inf\b")
_END = "-- end of a block --"  # printed after each block of the session


class Block(NamedTuple):
    """A fenced block, with the offset of its text in the page."""

    language: str
    text: str
    start: int


@dataclass(frozen=True)
class Shown:
    """A line that a page shows, where it stands, and what its command printed after the line shown before it."""

    line: str
    start: int
    printed: Sequence[str]

    def found(self) -> bool:
        """Return whether the line was printed, timings aside."""
        return _timeless(self.line) in map(_timeless, self.printed)

    def today(self) -> str:
        """Return the printed line that differs from the one shown in numbers only; the line itself if there is none."""
        place = self.place()
        return self.line if place is None or self.found() else self.printed[place].rstrip()

    def place(self) -> int | None:
        """Return the place of the line among the printed ones, or of the first that differs in numbers only."""
        for form in (_timeless, _numberless):
            forms = [form(line) for line in self.printed]
            if form(self.line) in forms:
                return forms.index(form(self.line))
        return None


def _timeless(line: str) -> str:
    return _SECONDS.sub("in # s", line.rstrip())


def _numberless(line: str) -> str:
    return " ".join(_NUMBER.sub("#", line).split())


def blocks_of(page: str) -> list[Block]:
    """Return the fenced blocks of a page that have a language."""
    return [Block(found[1], found[2], found.start(2)) for found in _BLOCK.finditer(page)]


def shown_in(page: str, environment: Bare, folder: Path) -> Iterator[Shown]:
    """Run the blocks of a page in a folder, and yield each line that the page shows as printed."""
    blocks = blocks_of(page)
    unknown = {block.language for block in blocks} - {"shell", "python", "console", "text"}
    assert not unknown, f"blocks that cannot be run: {unknown}"
    for block in blocks:
        if block.language == "python" and (named := _FILE.match(block.text)):
            (folder / named[1]).write_text(block.text)
    for block in blocks:
        if block.language == "console":
            yield from _of_console(block, environment, folder)
    session = [block for block in blocks if block.language == "python" and not _FILE.match(block.text)]
    if session:
        printed = _of_session(session, environment, folder)
        for before, block in itertools.pairwise(blocks):
            if block.language == "text":
                yield from _lines(block, 0, len(block.text), printed[session.index(before)])


def _of_console(block: Block, environment: Bare, folder: Path) -> Iterator[Shown]:
    for found in re.finditer(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block.text, re.MULTILINE):
        done = environment.run(found[1], folder)
        printed = (done.stdout + done.stderr).splitlines()
        assert done.returncode in (0, 1), f"{found[1]}: {done.stdout}{done.stderr}"  # 1: a claim is refuted
        yield from _lines(block, found.start(2), found.end(2), printed)


def _of_session(session: Sequence[Block], environment: Bare, folder: Path) -> list[list[str]]:
    (folder / "session").write_text("".join(f"{block.text}\nprint({_END!r})\n" for block in session))
    done = environment.run("python session", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return [part.splitlines() for part in done.stdout.split(_END)]


def _lines(block: Block, start: int, end: int, printed: Sequence[str]) -> Iterator[Shown]:
    for line in re.finditer(r"^.+$", block.text[start:end], re.MULTILINE):
        shown = Shown(line[0], block.start + start + line.start(), printed)
        yield shown
        place = shown.place()
        printed = printed if place is None else printed[place + 1 :]  # lines come in their order


def mended(page: str, shown: Sequence[Shown]) -> str:
    """Return a page with the lines that are printed today."""
    for each in sorted(shown, key=lambda each: -each.start):
        page = page[: each.start] + each.today() + page[each.start + len(each.line) :]
    return page


def main(names: Sequence[str]) -> None:
    for name in names:
        path = ROOT / name
        with tempfile.TemporaryDirectory() as folder:
            environment = Bare(Path(folder, "bare"), built(".", Path(folder)))
            Path(folder, "work").mkdir()
            shown = list(shown_in(path.read_text(), environment, Path(folder, "work")))
        path.write_text(mended(path.read_text(), shown))
        for each in shown:
            if each.today() == each.line and not each.found():
                print(f"{name}: not printed: {each.line}")


if __name__ == "__main__":
    main(sys.argv[1:])
