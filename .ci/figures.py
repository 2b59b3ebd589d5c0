"""Draw the results of the first examples of some pages with `plot`: python .ci/figures.py docs."""

import linecache
import re
import sys
from pathlib import Path

PAGES = ("tutorial", "following", "canaries")


def draw(page: Path) -> None:
    """Run the blocks of a page until one makes a result, and write the figure of it beside the page."""
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        named = re.match(r"# (\w+\.py)\n", block)
        file = named[1] if named else "code.py"
        linecache.cache[file] = len(block), None, block.splitlines(keepends=True), file
        exec(compile(block, file, "exec"), names)
        if "result" in names:
            names["result"].plot().savefig(page.with_name(f"{page.stem}-plot.png"), dpi=100)
            return


if __name__ == "__main__":
    for name in PAGES:
        draw(Path(sys.argv[1]) / f"{name}.md")
