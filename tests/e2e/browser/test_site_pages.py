"""The site that `make docs` built in a real browser: nothing overflows, nothing is logged, axe-core finds nothing."""

import functools
import http.server
import os
import threading

import pytest

from tests.e2e.browser.test_certificate_page import SIZES

PAGES = ["index", "tutorial", "tasks", "files", "training", "following", "reference", "privacy-officer"]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        """Say nothing of requests."""


@pytest.fixture(scope="module")
def address():
    """The address of the site: from files, axe-core could not read the style sheets."""
    if not (built := os.environ.get("DP_AUDIT_SITE")):
        pytest.skip("no site was built: make docs")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=built)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("size", SIZES)
def test_a_page_is_quiet_fits_and_is_accessible(browser, axe, address, size, name):
    context = browser.new_context(viewport=SIZES[size])
    page, noise = context.new_page(), []
    page.on("console", lambda message: noise.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.goto(f"{address}/{name}.html")
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    found = {rule["id"]: rule["nodes"][0]["html"][:120] for rule in axe.run(page).response["violations"]}
    context.close()
    assert (overflow, noise, found) == (0, [], {})
