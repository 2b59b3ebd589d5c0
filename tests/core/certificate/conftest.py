"""Certificates of these tests hold checks of the kind in tests/core/kinds.py as well."""

import pytest

from tests.core import kinds


@pytest.fixture(scope="module", autouse=True)
def listed():
    with kinds.listed():
        yield
