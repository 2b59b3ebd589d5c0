"""Headless Chromium from PATH, driven by Playwright; where there is none the tests are skipped, unless it is required.

DP_AUDIT_BROWSER=required, which continuous integration sets, turns a skip into a failure.
"""

import os
import shutil

import pytest

_SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def _unavailable(reason):
    if os.environ.get("DP_AUDIT_BROWSER") == "required":
        pytest.fail(f"{reason}, and DP_AUDIT_BROWSER=required")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def axe():
    """The accessibility rules of axe-core."""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        _unavailable("axe-core is not installed: pip install 'dp-audit[browser]'")
    return Axe()


@pytest.fixture(scope="session")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _unavailable("Playwright is not installed: pip install 'dp-audit[browser]'")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        _unavailable("no Chromium on PATH")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_SWITCHES)
        yield browser
        browser.close()
