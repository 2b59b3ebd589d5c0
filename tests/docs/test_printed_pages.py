"""The README runs as printed, in an environment with what it installs and nothing else; what it shows is printed."""

import re

import pytest

from tests.bare import ROOT, Bare, built
from tests.docs.printed import Shown, blocks_of, mended, shown_in

README = (ROOT / "README.md").read_text()
PAGES = ["README.md", "docs/index.md", "docs/tasks.md", "docs/conformance.md"]


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("environment")
    return Bare(folder / "bare", built(".", folder))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_runs_as_printed(name, environment, tmp_path):
    shown = list(shown_in((ROOT / name).read_text(), environment, tmp_path))
    assert shown
    missing = [(each.line, each.printed) for each in shown if not each.found()]
    assert not missing, f"python -m tests.docs.printed {name} puts in what is printed today"


def test_a_line_that_is_not_printed_is_noticed(environment, tmp_path):
    page = "```python\n# one.py\nprint(1)\n```\n\n```console\n$ python one.py\n2\n```\n\n"
    page += "```python\nprint(3.5)\n```\n\n```text\n3.25\n```\n"
    shown = list(shown_in(page, environment, tmp_path))
    assert [each.line for each in shown] == ["2", "3.25"]
    assert not any(each.found() for each in shown)
    right = mended(page, shown)
    assert right == page.replace("\n2\n", "\n1\n").replace("3.25", "3.5")
    assert all(each.found() for each in shown_in(right, environment, tmp_path))
    with pytest.raises(AssertionError, match="NameError"):
        list(shown_in("```python\nprint(nowhere)\n```\n", environment, tmp_path))


def test_lines_are_looked_for_in_their_order(environment, tmp_path):
    page = "```python\nprint(1.5)\nprint(2.5)\n```\n\n```text\n1.5\n1.5\n```\n"
    shown = list(shown_in(page, environment, tmp_path))
    assert [each.found() for each in shown] == [True, False]
    assert mended(page, shown) == page.replace("1.5\n1.5\n", "1.5\n2.5\n")


def test_only_timings_are_masked():
    assert Shown("5 outputs in 0.1 s", 0, ["5 outputs in 0.37 s"]).found()
    assert not Shown("5 outputs in 0.1 s", 0, ["6 outputs in 0.1 s"]).found()


def test_the_install_line_is_the_only_block_for_a_shell():
    (install,) = [block.text for block in blocks_of(README) if block.language == "shell"]
    assert re.fullmatch(r'python -m pip install "dp-audit @ git\+https://URL-OF-THIS-REPOSITORY"\n', install)


def test_the_environment_holds_the_auditor_alone_and_has_the_size_that_is_stated(environment, tmp_path):
    assert environment.run("python -c 'import audit'", tmp_path).returncode == 0
    assert environment.run("python -c 'import mechanisms'", tmp_path).returncode == 1
    stated = int(re.search(r"about (\d+) MB", README)[1])
    assert stated == pytest.approx(environment.megabytes(), rel=0.15)
