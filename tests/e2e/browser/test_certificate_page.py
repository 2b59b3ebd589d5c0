"""The HTML certificate in a real browser: alone, quiet, filterable, on a phone, in the dark, accessible, no trap."""

import copy
import functools
from pathlib import Path

import pytest

from audit.certificate.document import load_certificate
from audit.certificate.render import html_of
from audit.certificate.summary import outcome_of

SAVED = Path(__file__).parents[2] / "extensions" / "utility" / "certificate.json"
HOSTILE = "<img src=x onerror=alert(1)>"
SIZES = {"desk": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}

_ALL_RENDERED = "document.querySelectorAll('article').forEach(a => { a.style.contentVisibility = 'visible'; })"


@pytest.fixture(scope="module")
def certificate():
    """One check of every kind, and one whose name, mechanism, source and reason are markup."""
    found = load_certificate(SAVED)
    check = copy.deepcopy(next(check for check in found["checks"] if check["kind"] == "privacy"))
    check.update(name=HOSTILE, mechanism=HOSTILE, verdict="INCONCLUSIVE", basis="none")
    check["reason"] = 'raised ValueError: </script><script>alert(2)</script> "quoted" & <b>bold</b>'
    check["claim"]["source"] = HOSTILE
    found["checks"].append(check)
    found["timing"][HOSTILE] = 0.1
    return found


@pytest.fixture(scope="module")
def path(certificate, tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "certificate.html"
    file.write_text(html_of(certificate), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def open_page(browser, path):
    """Return the certificate in a browser, once for each setting, with all that it logs or asks for in `noise`."""
    contexts = []

    @functools.cache
    def opened(size, scheme, script):
        contexts.append(browser.new_context(viewport=SIZES[size], color_scheme=scheme, java_script_enabled=script))
        page = contexts[-1].new_page()
        page.noise = []
        page.on("console", lambda message: page.noise.append(message.text))
        page.on("pageerror", lambda error: page.noise.append(str(error)))
        page.on("dialog", lambda dialog: (page.noise.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: page.noise.append(request.url) if request.url != path.as_uri() else None)
        page.goto(path.as_uri())
        return page

    yield lambda size="desk", scheme="light", script=True: opened(size, scheme, script)
    for context in contexts:
        context.close()


def rows(page):
    return page.locator("#overview tr[data-outcome]:visible")


def wait_for_rows(page, count):
    """Wait from outside: the page's policy forbids `eval`, which waiting inside the page needs."""
    from playwright.sync_api import expect

    expect(rows(page)).to_have_count(count)


def test_nothing_leaves_the_file_and_nothing_is_logged(open_page):
    page = open_page()
    page.mouse.wheel(0, 100_000)
    page.wait_for_timeout(100)
    assert page.noise == []


def test_markup_is_text(open_page):
    page = open_page()
    article = page.locator("article", has=page.get_by_role("heading", name=HOSTILE))
    assert article.locator(".reason").text_content().startswith("raised ValueError: </script><script>alert(2)")
    assert article.locator("code").first.text_content() == HOSTILE
    assert page.locator("img, b").count() == 0
    assert page.locator("script").count() == 1
    assert page.noise == []


def test_filters_show_rows_and_their_articles(open_page, certificate):
    page = open_page()
    checks = certificate["checks"]
    assert rows(page).count() == len(checks)
    page.get_by_label("PASS", exact=True).uncheck()
    others = [check for check in checks if outcome_of(check) != "PASS"]
    assert rows(page).count() == len(others) == page.locator("article:visible").count()
    assert page.locator("#shown").inner_text().startswith(f"{len(others)} of {len(checks)} checks")
    page.get_by_label("only what is not as expected").check()
    assert rows(page).count() == 1
    page.get_by_role("button", name="show all").click()
    wait_for_rows(page, len(checks))
    page.locator("select[name=kind]").select_option("rate")
    assert rows(page).count() == sum(check["kind"] == "rate" for check in checks)
    page.locator("select[name=paper]").select_option("Berrett & Butucea 2019")
    wanted = [c for c in checks if c["kind"] == "rate" and c["claim"]["source"].startswith("Berrett & Butucea 2019")]
    assert rows(page).count() == len(wanted) > 0
    page.locator("select[name=mechanism]").select_option(wanted[0]["mechanism"])
    assert 0 < rows(page).count() <= len(wanted)
    page.get_by_label("Name").fill("no such check")
    assert rows(page).count() == 0
    page.get_by_role("button", name="show all").click()
    wait_for_rows(page, len(checks))


def test_no_sideways_scrolling_on_a_phone(open_page):
    page = open_page("phone", script=False)
    page.evaluate(_ALL_RENDERED)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= SIZES["phone"]["width"]
    wide = page.evaluate(
        "Array.from(document.querySelectorAll('body *')).filter(e => !e.closest('.skip, thead'))"
        ".filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))"
    )
    assert wide == []
    narrow = page.evaluate(
        "Array.from(document.querySelectorAll('caption, h3, dd')).filter(e => e.innerText.length > 25)"
        ".filter(e => e.getClientRects().length && e.getBoundingClientRect().width < 120).length"
    )
    assert narrow == 0


@pytest.mark.parametrize(("size", "scheme"), [("desk", "light"), ("phone", "dark")])
def test_axe_finds_nothing(axe, open_page, size, scheme):
    """The rules of axe-core: landmarks, headings, names, tables, contrast and more."""
    found = axe.run(open_page(size, scheme))
    broken = {rule["id"]: [node["html"][:120] for node in rule["nodes"][:3]] for rule in found.response["violations"]}
    assert broken == {}


@pytest.fixture(scope="module")
def large(certificate, tmp_path_factory):
    """A page of 310 checks, whose sections are compressed."""
    many = copy.deepcopy(certificate)
    copies = -(-310 // len(certificate["checks"]))
    many["checks"] = [{**check, "name": f"{check['name']} {k}"} for k in range(copies) for check in many["checks"]]
    many["timing"] = {check["name"]: 0.1 for check in many["checks"]}
    file = tmp_path_factory.mktemp("large") / "certificate.html"
    file.write_text(html_of(many), encoding="utf-8")
    return many, file


def test_sections_of_many_checks_open_one_by_one(browser, large):
    many, file = large
    assert file.stat().st_size < 1_000_000
    page, noise = browser.new_page(), []
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.on("dialog", lambda dialog: (noise.append(dialog.message), dialog.dismiss()))
    page.goto(file.as_uri())
    assert page.locator("article:visible").count() == 0
    name = many["checks"][7]["name"]
    page.get_by_role("link", name=name, exact=True).click()
    page.get_by_role("heading", name=name, exact=True).wait_for()
    assert page.locator("article:visible").count() == 1
    hostile = next(check["name"] for check in many["checks"] if HOSTILE in check["name"])
    page.get_by_label("Name").fill("no such check")
    page.get_by_role("button", name="show all").click()
    page.get_by_role("link", name=hostile, exact=True).click()
    page.get_by_role("heading", name=hostile, exact=True).wait_for()
    assert page.locator("img, b").count() == 0
    assert noise == []
    page.close()
