"""The README's commands and snippets do what it says: run as printed, numbers aside."""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()

pytest_plugins = ["pytester"]


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.S)


def masked(line):
    """A line without its numbers, which change with the version of the generator."""
    return re.sub(r"-?\d[\d.,e+-]*|inf", "#", line).strip()


def test_the_first_screen(pytester):
    pytester.makepyfile(test_count=blocks("python")[0])
    printed = {masked(line) for line in pytester.runpytest_subprocess("-p", "no:cacheprovider").stdout.lines}
    shown = [masked(line) for line in blocks("console")[0].splitlines()[1:]]
    events = re.compile(r"^event: ")  # which of the equivalent events is shown depends on the draws
    missing = [line for line in shown if line not in printed and not events.match(line)]
    assert not missing
    assert sum("event: output" in line for line in printed) == 1


def test_the_snippet_for_python(tmp_path):
    path = tmp_path / "snippet.py"
    path.write_text(blocks("python")[2])
    result = runpy.run_path(str(path))["result"]
    assert result.verdict.value == "PASS"
    assert 0.95 < result.epsilon_lower_bound < 1.0


def test_the_search_snippet(tmp_path):
    path = tmp_path / "snippet.py"
    path.write_text("import numpy as np\nimport audit\n" + blocks("python")[3])
    found = runpy.run_path(str(path))["found"]
    assert found.verdict.value == "FAIL"
    assert sorted(found.witness.pair) == [[], [0.0]]


def test_the_snippet_that_searches_parameters(tmp_path):
    path = tmp_path / "snippet.py"
    head = "import numpy as np\nimport audit\nfrom hypothesis import strategies as st\n"
    path.write_text(head + blocks("python")[4])
    found = runpy.run_path(str(path))["found"]
    assert found.verdict.value == "FAIL"
    epsilon = found.evidence.searched.setting["epsilon"]
    assert max(1, round(1 / epsilon)) * epsilon < 1


def test_its_targets_and_files_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"(?:`|\$ )make (\w+)", README):
        assert re.search(rf"^{target}:", makefile, flags=re.M), target
    for path in re.findall(r"`((?:docs|tests|reports|benchmarks)/[\w./-]*)`", README):
        assert (ROOT / path).exists(), path
