"""What a result of any kind shows: as text, in one line, in a failing test and in a notebook."""

from typing import ClassVar

import pytest

import audit
from audit import Verdict
from audit.auditor import Auditor
from audit.certificate.render import check_fragment
from audit.defaults import Options, Settings

LONG = "a name that takes more room than one line of a terminal has, " * 3


class ShownResults:
    """Tests of the kinds in RUNS: by kind, the arguments of the function `check_...`."""

    RUNS: ClassVar = {}

    def pytest_generate_tests(self, metafunc):
        if "kind" in metafunc.fixturenames:
            metafunc.parametrize("kind", self.RUNS)

    @pytest.fixture(scope="class")
    @classmethod
    def results(cls):
        return {kind: getattr(audit, f"check_{kind}")(**run, name=f"{kind}: {LONG}") for kind, run in cls.RUNS.items()}

    def test_a_failing_test_prints_the_text(self, results, kind):
        auditor = Auditor(Options(0.05, 1_000, 0), "test_a.py::test_b", Settings())
        other = next(verdict for verdict in Verdict if verdict is not results[kind].verdict)
        with pytest.raises(pytest.fail.Exception) as failed:
            getattr(auditor, kind)(**self.RUNS[kind], expected=other)
        assert str(failed.value).startswith(
            f"{auditor.results[-1]}; the same audit alone:\n  pytest test_a.py::test_b "
        )
        named = auditor.results[-1]
        assert f"<{type(named).__name__} test_a.py::test_b: {named.verdict}, " in repr(named)

    def test_a_notebook_shows_the_check_as_its_certificate_does(self, results, kind):
        result = results[kind]
        shown = result._repr_html_()
        assert shown == check_fragment(result.record())
        assert result.verdict.value in shown
        assert result.name in shown
