"""The README's pictures of a certificate: `python .ci/pictures.py reports/certificate.html docs`."""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

CHECK = "gaussian/count eps=1 delta=1e-05"


def main(source: str, folder: str) -> None:
    """Write certificate.png, the first screen, and certificate-check.png, the section of one check."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1120, "height": 660}, color_scheme="light")
        page.goto(Path(source).resolve().as_uri())
        page.screenshot(path=Path(folder) / "certificate.png")
        page.get_by_label("Name").fill(CHECK)  # hides the articles around it, which would be laid out while it is shot
        page.get_by_role("link", name=CHECK, exact=True).click()  # opens it
        page.locator("article:visible").screenshot(path=Path(folder) / "certificate-check.png")
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
