"""Audit differential privacy: does the code that runs keep the claim made about it, with a stated error probability?

Importing the package costs next to nothing. The public names are listed once, with their types, in `__init__.pyi`;
each is imported when it is first used.
"""

from collections.abc import Mapping
from typing import Any

import lazy_loader

from audit.base import notebook

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def _html_of(record: Mapping[str, Any]) -> str:
    from audit.report.renderers import check_fragment

    return check_fragment(record)


notebook.html_of = _html_of
