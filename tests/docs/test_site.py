"""The documentation site builds without warnings, its links lead somewhere, and it loads nothing from other hosts."""

import os
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.processes import run_python

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = ("http", "https", "mailto", "data", "javascript")
MARKDOWN = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "tests/README.md", "wild/README.md")


class Page(HTMLParser):
    """The anchors, links and loaded resources of a page."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found[key] for key in ("id", "name") if found.get(key)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in ("img", "script", "iframe", "source", "embed") and found.get("src"):
            self.loaded.append(found["src"])
        if tag == "link" and found.get("href"):
            self.loaded.append(found["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the site: the one that `make docs` has just built, or one that is built here."""
    if built := os.environ.get("DP_AUDIT_SITE"):
        return Path(built).resolve()
    pytest.importorskip("sphinx")
    out = tmp_path_factory.mktemp("site")
    options = ["-q", "-W", "--keep-going", "-b", "html", "-d", out / "trees"]
    offline = {**os.environ, "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    done = run_python("-m", "sphinx", *options, ROOT / "docs", out / "html", cwd=ROOT, env=offline, timeout=600)
    assert done.returncode == 0, done.stderr
    return out / "html"


@pytest.fixture(scope="module")
def pages(site):
    found = {path: Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    assert len(found) > 50
    return found


def broken(link, page, pages):
    """Why a link of a page leads nowhere, or None."""
    parts = urlsplit(link)
    if parts.scheme in OUTSIDE:
        return None
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file():
        return "no such file"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
        return "no such anchor"
    return None


def test_internal_links_and_anchors(pages):
    wrong = [
        (page.name, link, why)
        for page, content in pages.items()
        for link in [*content.links, *content.loaded]
        if (why := broken(link, page, pages))
    ]
    assert not wrong


def test_nothing_is_loaded_from_other_hosts(site, pages):
    for page, content in pages.items():
        guilty = [source for source in content.loaded if urlsplit(source).netloc]
        assert not guilty, f"{page.name} loads {guilty}"
    for sheet in site.rglob("*.css"):
        assert not re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//[^)\"']+", sheet.read_text()), sheet.name


def headings(text):
    """The anchors that GitHub gives the headings of a Markdown page."""
    titles = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", MARKDOWN)
def test_links_of_the_markdown_pages(name):
    path = ROOT / name
    for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
        parts = urlsplit(link)
        if parts.scheme in OUTSIDE:
            continue
        target = path.parent / parts.path if parts.path else path
        assert target.exists(), f"{name}: {link}"
        if parts.fragment and target.suffix == ".md":
            assert parts.fragment in headings(target.read_text()), f"{name}: {link}"
