"""Measure how fast the page of a certificate answers in headless Chromium, and take its pictures.

    python -m benchmarks.page reports/certificate.html
    python -m benchmarks.page reports/certificate.html --pictures /tmp/pictures     # 1280 and 390 pixels wide

Load ends when the page has run its script and is laid out. A keystroke in the filter ends when the next frame is drawn.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
from pathlib import Path
from typing import Any

WIDTHS = {"desk": (1280, 900), "phone": (390, 844)}
TYPED, REPEATS = "laplace", 5

_LOADED = "() => performance.getEntriesByType('navigation')[0].loadEventEnd"
_KEY = """letter => new Promise((done) => {
  const field = document.querySelector("#filters input[name=name]"), start = performance.now();
  field.value += letter;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
})"""
_OPEN = """() => new Promise((done) => {
  const link = document.querySelector("#overview tr[data-outcome] a"), start = performance.now();
  const watched = () => document.getElementById(link.hash.slice(1)) ? done(performance.now() - start)
    : requestAnimationFrame(watched);
  link.click();
  watched();
})"""


def measured(browser: Any, path: Path, size: tuple[int, int], pictures: Path | None, name: str) -> dict[str, float]:
    """Return milliseconds to load, to open a check, and for the slowest keystroke; save pictures on demand."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    page.goto(path.resolve().as_uri())
    found = {"load": page.evaluate(_LOADED), "open": page.evaluate(_OPEN)}
    found["key"] = max(page.evaluate(_KEY, letter) for letter in TYPED)
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
        page.goto(path.resolve().as_uri())
        page.screenshot(path=pictures / f"{name}.png")
        page.evaluate(_OPEN)
        page.wait_for_timeout(300)
        page.screenshot(path=pictures / f"{name}-check.png")
    page.close()
    return found


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--pictures", type=Path)
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    print(f"{options.path.stat().st_size:,} bytes")
    print("| window | load, ms | slowest keystroke, ms | open a check, ms |\n| --- | --- | --- | --- |")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, size in WIDTHS.items():
            runs = [measured(browser, options.path, size, options.pictures, name) for _ in range(REPEATS)]
            middle = {part: statistics.median(run[part] for run in runs) for part in ("load", "key", "open")}
            print(f"| {size[0]} x {size[1]} | " + " | ".join(f"{value:.0f}" for value in middle.values()) + " |")


if __name__ == "__main__":
    main()
