"""A result of each kind of the extension as text, in one line, and in a notebook."""

from typing import ClassVar

import audit
from audit.extensions.stability.plugin import PLUGIN
from tests.core.shown import ShownResults


class TestStability(ShownResults):
    RUNS: ClassVar = {
        "stability": dict(
            transformation=sum, bound=9, distance_in="symmetric", distance_out="absolute",
            datasets=audit.columns(audit.numbers(0, 10, integers=True), max_size=4), budget=200,
        ),
    }  # fmt: skip

    def test_they_are_the_kinds_of_the_extension(self):
        assert set(self.RUNS) == {kind.replace("-", "_") for kind in PLUGIN.kinds}
