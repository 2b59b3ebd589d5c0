"""Write a repository that may be published: one commit with the tree of HEAD, and nothing of the history.

    python .ci/public_copy.py DIR HIDDEN

HIDDEN is a file outside of this repository with the words that nobody may find in the copy: names of served mechanisms,
titles, places in code; one a line, `#` starts a comment. Case and white space do not count. DIR must not exist. Where a
path or a text of the copy holds a word, the copy is removed, and the command prints the word with its line and
its place, and ends with status 1.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MESSAGE = "dp-audit: the state of the project"


def main(folder: str, hidden: str) -> int:
    """Write the copy and look through it; return the exit status."""
    copy, listed = Path(folder), Path(hidden).resolve()
    try:
        words = read_words(listed)
        write_copy(copy)
    except (OSError, ValueError) as error:
        print(f"no copy was written: {error}", file=sys.stderr)
        return 2
    found = sorted(set(hits_in(copy, words)))
    for number, word, place in found:
        print(f"{listed.name}:{number}, {word!r}, stands in {place}", file=sys.stderr)
    if found:
        shutil.rmtree(copy)
        print(f"removed {copy}: {len(found)} places lead to what is not public", file=sys.stderr)
        return 1
    print(f"{copy}: one commit, {len(words)} words looked for, none found")
    return 0


def read_words(listed: Path) -> dict[str, int]:
    """Return the words of a list, each with the number of its line."""
    if listed.is_relative_to(ROOT):
        raise ValueError(f"{listed} is in the repository, where no list of what is not public may be")
    lines = enumerate(listed.read_text(encoding="utf-8").splitlines(), start=1)
    words = {plain(line): number for number, line in reversed([*lines]) if plain(line) and not line.startswith("#")}
    if not words:
        raise ValueError(f"{listed} has no words: a copy that is not looked through may not be published")
    return words


def plain(text: str) -> str:
    """Return a text in lower case, with single spaces."""
    return " ".join(text.lower().split())


def write_copy(copy: Path) -> None:
    """Write a repository with one commit: what `git archive HEAD` holds."""
    if copy.exists():
        raise ValueError(f"{copy} exists: name a new folder")
    copy.mkdir(parents=True)
    archive = subprocess.Popen(["git", "-C", ROOT, "archive", "--format=tar", "HEAD"], stdout=subprocess.PIPE)
    subprocess.run(["tar", "--extract", "--directory", copy], stdin=archive.stdout, check=True)
    if archive.wait():
        raise ValueError("git archive failed")
    git(copy, "init", "--quiet", "--initial-branch", "main")
    for key in ("user.name", "user.email"):
        git(copy, "config", key, git(ROOT, "config", key).strip())
    git(copy, "add", "--all", "--force")
    git(copy, "commit", "--quiet", "--message", MESSAGE)


def hits_in(copy: Path, words: dict[str, int]) -> Iterator[tuple[int, str, str]]:
    """Yield the line of each word that stands in a path or in a blob of any commit of the copy, the word, and where."""
    for line in git(copy, "rev-list", "--objects", "--all").splitlines():
        name, _, path = line.partition(" ")
        places = {f"the path {path}": path}
        if git(copy, "cat-file", "-t", name).strip() != "tree":  # a commit has a message and an author
            places[f"{path or 'the commit'} (blob {name[:10]})"] = git(copy, "cat-file", "-p", name)
        for place, text in ((place, plain(text)) for place, text in places.items()):
            yield from ((number, word, place) for word, number in words.items() if word in text)


def git(folder: Path, *words: str) -> str:
    """Return what git prints in a folder."""
    return subprocess.run(
        ["git", "-C", folder, *words], capture_output=True, text=True, errors="replace", check=True
    ).stdout


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 3 else __doc__)
