"""A PASS on floating-point numbers is about real ones, and says so; `floats="audit"` needs an extension."""

import pytest

import audit
from audit import PrivacyCheck, PrivacyClaim, Verdict, plugins
from audit.certificate.render import RENDERERS
from audit.certificate.summary import find_view
from audit.errors import MissingExtension
from tests.core.mechanisms import PAIR, laplace

CLAIM = PrivacyClaim(1.0)


def whole(data, size, rng):
    return data.sum() + rng.geometric(0.5, size) - rng.geometric(0.5, size)


def test_a_pass_says_that_numbers_count_as_real_ones():
    result = audit.check_privacy(laplace, CLAIM, [PAIR], workers=0)
    assert result.verdict is Verdict.PASS
    assert result.reason.endswith("; floating point: not audited")
    assert "read as real numbers; set floats='audit'" in result.scope[1]
    assert "low bits" not in result.reason
    assert find_view(result.record()).floats == "not audited"
    assert "floating point: not audited" in find_view(result.record()).reason


def test_outputs_that_are_whole_have_no_bits_to_audit():
    report = audit.run([PrivacyCheck(name="x", mechanism=whole, claim=CLAIM, pairs=[PAIR])], workers=0)
    assert find_view(report["x"].record()).floats == ""
    assert "real numbers" not in "; ".join(report["x"].scope)
    assert "floating point" not in RENDERERS["badge.svg"](report.certificate)


def test_bits_are_audited_by_an_extension_only(monkeypatch):
    monkeypatch.setattr(plugins, "list_plugins", lambda: {"core": plugins.CORE})
    with pytest.raises(MissingExtension, match="needs the extension precision"):
        PrivacyCheck(name="x", mechanism=laplace, claim=CLAIM, pairs=[PAIR], floats="audit")
