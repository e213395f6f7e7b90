"""Take the pictures of the report and the review app that the README shows, with Chromium.

python docs/pictures.py

Aligns the demo, judges its report by the true links, and confirms the first pair in the review app.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

IMAGES = Path(__file__).resolve().parent / "images"
LARGEEA = [sys.executable, "-m", "largeea"]
WIDTH = 1100
REPORT_HEIGHT, REVIEW_HEIGHT = 1000, 820
MOST_PAIRS = 50


def take_report(browser: Browser, run: Path) -> None:
    """Write report.png: the top of the page, with both charts."""
    links = run / "pair" / "ent_links"
    subprocess.run([*LARGEEA, "-q", "report", run, "--links", links], check=True)
    page = browser.new_page(viewport={"width": WIDTH, "height": REPORT_HEIGHT})
    page.goto((run / "report.html").as_uri())
    page.screenshot(path=IMAGES / "report.png")


def take_review(browser: Browser, run: Path) -> None:
    """Write review.png: the first pair with neighbours, after a decision about the pair at the top."""
    command = [*LARGEEA, "review", run, "--no-open", "--author", "Ada"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = next(line.strip() for line in server.stdout if line.startswith("http"))
            page = browser.new_page(viewport={"width": WIDTH, "height": REVIEW_HEIGHT})
            page.goto(address)
            page.get_by_text("Pair 1 of").wait_for()
            page.keyboard.press("n")
            for number in range(2, MOST_PAIRS):
                page.get_by_text(f"Pair {number} of").wait_for()
                if not page.get_by_text("Neither has neighbours").is_visible():
                    break
                page.keyboard.press("j")
            page.locator("#picture").wait_for()
            page.screenshot(path=IMAGES / "review.png")
        finally:
            server.terminate()


def main() -> None:
    """Take both pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        run = Path(folder) / "demo"
        subprocess.run([*LARGEEA, "-q", "demo", "-o", run], check=True, stdout=subprocess.DEVNULL)
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        take_report(browser, run)
        take_review(browser, run)
        browser.close()


if __name__ == "__main__":
    main()
