"""A person in a real browser, and a server that is killed."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from largeea.cli import run as largeea
from largeea.finished import FinishedRun
from largeea.reviews import read_reviews

from .conftest import SCRIPT, Start

pytest.importorskip("starlette", reason="the web extra is not installed")


class Page:
    """A page that notes what goes wrong and what it asks for."""

    def __init__(self, browser: Any, address: str, **more: Any) -> None:
        self.page = browser.new_context(**more).new_page()
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("requestfailed", self._failed)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)
        self.page.wait_for_selector("#card:not([hidden])")

    def _failed(self, request: Any) -> None:
        if request.failure != "net::ERR_ABORTED":  # the picture of a pair that was left before it came
            self.problems.append(f"{request.url}: {request.failure}")

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))

    def press(self, key: str) -> str:
        """Press a key and return what is said to a screen reader."""
        before = self.page.text_content("#said")
        self.page.keyboard.press(key)
        self.page.wait_for_function(
            "before => document.getElementById('said').textContent !== before", arg=before
        )
        return str(self.page.text_content("#said"))


def test_ten_pairs_by_keyboard_then_kill_then_all_is_found_again(
    start: Start, browser: Any, run_folder: Path
) -> None:
    server, address = start()
    page = Page(browser, address)
    assert "token" not in page.page.url
    assert page.text("#position") == "Pair 1 of 20"
    said = [page.press(key) for key in "yynuyyy1yn"]
    assert all("Stored" in one for one in said)
    assert page.text("#position") == "Pair 11 of 20"
    assert page.press("z").startswith("Undone")
    assert page.text("#position") == "Pair 10 of 20"
    assert page.text("#progress").startswith("10 reviewed: 7 same, 2 different, 1 unsure")
    decided = read_reviews(run_folder).decisions
    assert len(decided) == 12, "ten pairs, one of them with another candidate, and one undone"

    server.kill()
    assert server.wait() == -9
    page.page.keyboard.press("y")
    page.page.wait_for_selector("#problem:not([hidden])")
    assert "nothing was stored" in page.text("#problem")
    assert page.text("#position") == "Pair 10 of 20"
    page.problems.clear()

    _, address = start()
    assert read_reviews(run_folder).decisions == decided
    page = Page(browser, address)
    assert page.text("#progress").startswith("10 reviewed: 7 same, 2 different, 1 unsure")
    assert page.text("#position") == "Pair 10 of 20", "the first pair without a decision"
    page.press("y")
    page.page.wait_for_load_state("networkidle")
    assert page.problems == []
    assert {re.match(r"http://[^/]+", url)[0] for url in page.requests} == {address.partition("/?")[0]}

    reviews, before = read_reviews(run_folder), pairs_of(run_folder)
    rejected = set(reviews.rejected)
    assert len(rejected) == 2
    assert rejected & set(before), "one of them was accepted or doubtful"
    assert largeea(["resume", str(run_folder), "--with-reviews", "-q"]) == 0
    after = pairs_of(run_folder)
    ends = Counter(iri for pair in reviews.confirmed for iri in pair)
    sound = [pair for pair in reviews.confirmed if all(ends[iri] == 1 for iri in pair)]
    assert len(sound) >= 6, "another candidate is chosen for one pair, which may be in a confirmed pair"
    assert {after.get(pair) for pair in sound} == {"accepted"}
    assert not rejected & set(after)


def pairs_of(folder: Path) -> dict[tuple[str, str], str]:
    """The status of each pair of the answer, by IRIs."""
    rows = FinishedRun(folder).alignment.to_table().to_pylist()
    return {(row["source"], row["target"]): row["status"] for row in rows}


def test_scores_stay_hidden_until_the_decision(start: Start, browser: Any) -> None:
    _, address = start()
    page = Page(browser, address)
    assert "Hidden" in page.text("#scores")
    page.press("y")
    assert "The run said" in page.text("#last")
    assert "Hidden" in page.text("#scores")
    page.page.keyboard.press("k")
    page.page.wait_for_function("() => document.getElementById('position').textContent === 'Pair 1 of 20'")
    assert "confidence" in page.text("#scores")
    page.page.keyboard.press("ArrowRight")
    page.page.wait_for_function("() => document.getElementById('position').textContent === 'Pair 2 of 20'")
    page.press("b")
    assert "confidence" in page.text("#scores")
    assert page.page.get_attribute("#blind", "aria-pressed") == "false"
    assert page.problems == []


def test_search_help_and_text_that_looks_like_markup(start: Start, browser: Any) -> None:
    _, address = start()
    page = Page(browser, address)
    page.page.keyboard.press("?")
    assert page.page.is_visible("#help")
    page.page.keyboard.press("y")
    page.page.keyboard.press("Escape")
    assert page.text("#progress") == "Nothing reviewed yet", "keys do nothing while the help is open"
    page.page.keyboard.press("/")
    page.page.keyboard.type("<script>")
    assert page.press("Enter") == "1 pair"
    assert page.text(".entity .name").startswith(SCRIPT)
    page.press("n")
    assert page.text("#progress").startswith("1 reviewed: 0 same, 1 different")
    page.page.wait_for_load_state("networkidle")
    assert "owned" not in page.page.title()[:6]
    assert page.problems == []


def test_everything_can_be_reached_by_tab_and_is_named(start: Start, browser: Any) -> None:
    _, address = start()
    page = Page(browser, address)
    nameless = page.page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, summary, a")]
            .filter((one) => one.checkVisibility())
            .filter((one) => !(one.textContent.trim() || one.ariaLabel || one.labels?.length)).length"""
    )
    assert nameless == 0
    for _ in range(60):
        page.page.keyboard.press("Tab")
        if page.page.evaluate("document.activeElement.dataset.decision") == "different":
            break
    style = page.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert style == "solid", "the focus is visible"
    page.press("Enter")
    assert page.text("#progress").startswith("1 reviewed: 0 same, 1 different")


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (320, "dark"), (1280, "dark")])
def test_it_fits_any_screen(start: Start, browser: Any, width: int, scheme: str) -> None:
    _, address = start()
    page = Page(browser, address, viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.page.wait_for_load_state("networkidle")
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.page.evaluate("document.getElementById('picture').naturalWidth") > 0
    page.page.click("[data-decision=same]")
    page.page.wait_for_function("() => document.getElementById('said').textContent.includes('Stored')")
    assert page.problems == []
