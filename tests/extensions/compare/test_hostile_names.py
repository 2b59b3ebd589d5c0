"""Names and notes of a comparison that would command a terminal or a CI system never leave as they are."""

import io
from dataclasses import replace

import numpy as np
from rich.console import Console

from audit import PrivacyClaim
from audit.extensions.compare.comparison import Comparison, Implementation, compare, print_comparisons, rendered
from tests.core.certificate.test_hostile_text import HOSTILE, NAME, PAIR, harmless, raises


def test_comparisons_are_harmless():
    claim = PrivacyClaim(1.0, source=HOSTILE)
    one = Implementation(name=NAME, mechanism=raises, note=HOSTILE, budget=400)
    two = replace(one, name="other")
    comparison = Comparison(name=NAME, claim=claim, pairs=[PAIR], truth=np.sum, implementations=[one, two], sample=200)
    found = compare([comparison], workers=0)
    out = io.StringIO()
    print_comparisons(Console(file=out, width=60), found.table)
    for text in (out.getvalue(), *(rendered(suffix, found.table) for suffix in (".html", ".md"))):
        assert harmless(text)
        assert "forged" in text
