"""What exact_laws.md says, as a test: `python -m pytest drafts/diffprivlib/test_exact_laws.py`."""

from fractions import Fraction

import pytest

import audit

mechanisms = pytest.importorskip("diffprivlib.mechanisms")


def test_permute_and_flip_raises_where_a_uniform_is_zero():
    """The best of three candidates is refused for u = 0 twice in a row (`u <= 0`), and the message shows the scores."""
    made = mechanisms.PermuteAndFlip(epsilon=1.0, sensitivity=1, utility=[0, 1, 2])
    law = audit.enumerate_law(lambda _: made.randomise(), None)
    raised = {text: p for text, p in law.texts.items() if text.startswith("raised RuntimeError")}
    ((text, probability),) = raised.items()
    assert "[-1.  -0.5  0. ]" in text
    assert Fraction(1, 2**56) < probability < Fraction(1, 2**54)
    assert law.behind == ()
    assert law.residual < Fraction(1, 2**200)
