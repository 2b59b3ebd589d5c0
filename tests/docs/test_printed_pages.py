"""The README runs as printed, in an environment with what it installs and nothing else; what it shows is printed."""

import re

import pytest

from tests.bare import ROOT, Bare, built
from tests.docs.printed import shown_in

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


def test_the_environment_holds_the_auditor_alone_and_has_the_size_that_is_stated(environment, tmp_path):
    assert environment.run("python -c 'import audit'", tmp_path).returncode == 0
    assert environment.run("python -c 'import mechanisms'", tmp_path).returncode == 1
    stated = int(re.search(r"about (\d+) MB", README)[1])
    assert stated == pytest.approx(environment.megabytes(), rel=0.15)
