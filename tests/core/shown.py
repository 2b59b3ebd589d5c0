"""What a result of any kind shows: as text, in one line, in a failing test and in a notebook."""

from typing import ClassVar

import pytest

import audit
from audit import Verdict
from audit.auditor import Auditor
from audit.certificate.render import check_fragment
from audit.defaults import Session, Settings
from audit.text import printable

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

    def test_the_text_says_claim_reason_and_cost(self, results, kind):
        result = results[kind]
        first, second, *rest = str(result).split("\n  ")
        assert first == f"{result.verdict}: {result.check.stated}"
        assert second == printable(result.reason)
        unit = result.check.unit if result.samples != 1 else result.check.unit.removesuffix("s")
        assert rest[-1].startswith(f"{result.samples:,} {unit} in ")

    def test_a_failing_test_prints_the_text(self, results, kind):
        auditor = Auditor(Session(0.05, 1_000, 0), "test_a.py::test_b", Settings())
        other = next(verdict for verdict in Verdict if verdict is not results[kind].verdict)
        with pytest.raises(pytest.fail.Exception) as failed:
            getattr(auditor, kind)(**self.RUNS[kind], expected=other)
        assert str(failed.value).startswith(
            f"{auditor.results[-1]}; the same audit alone:\n  pytest test_a.py::test_b "
        )
        named = auditor.results[-1]
        assert f"<{type(named).__name__} test_a.py::test_b: {named.verdict}, " in repr(named)

    def test_the_short_form_fits_one_line(self, results, kind):
        result = results[kind]
        assert repr(result).startswith(f"<{type(result).__name__} {kind}: a name")
        assert len(repr(result)) <= 100
        assert "\n" not in repr(result)

    def test_a_notebook_shows_the_check_as_its_certificate_does(self, results, kind):
        result = results[kind]
        shown = result._repr_html_()
        assert shown == check_fragment(result.record())
        assert result.verdict.value in shown
        assert result.name in shown
