"""The tutorial does what it says: its files, in order, in an empty folder."""

import re
from pathlib import Path

from tests.processes import PROGRAMS, run_python

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text()


def test_the_tutorial(tmp_path):
    files = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE, flags=re.S))
    assert list(files) == ["mean.py", "clipped_mean.py", "test_mean.py", "audits.py"]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    commands = [block for block in re.findall(r"```console\n(.*?)```", PAGE, flags=re.S) if "pip install" not in block]
    assert len(commands) == 4
    for block in commands:
        shown = [line for line in block.splitlines() if not line.startswith("$ ")]
        for command in re.findall(r"^\$ (.+)$", block, re.MULTILINE):
            program, *arguments = command.split()
            done = run_python(*PROGRAMS[program], *arguments, cwd=tmp_path, timeout=120)
            assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
            assert set(shown) <= set(done.stdout.splitlines()), command


def from_an_index(line):
    """Whether a line tells its reader to install `dp-audit` by its bare name."""
    asked = re.search(r"pip install ([^#`]+)", line)
    return asked is not None and re.search(r"(^|[ '\"])dp-audit(?!.*@)", asked.group(1)) is not None


def test_no_page_installs_from_an_index():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.*"), *(ROOT / "wild").glob("*.md")]
    lines = [
        line for page in pages if page.suffix in (".md", ".yml", ".yaml") for line in page.read_text().splitlines()
    ]
    assert any("pip install" in line for line in lines)
    assert not [line for line in lines if from_an_index(line)]
    assert from_an_index("$ pip install dp-audit")
    assert from_an_index("- run: pip install . 'dp-audit[dask]'")
    assert not from_an_index("$ pip install 'dp-audit @ git+https://host/repository'")
