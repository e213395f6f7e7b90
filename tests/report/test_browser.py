"""The report in a real browser: every chart can be seen, nothing is fetched, nothing runs over the edge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from largeea.matching.alignment import Alignment
from largeea.report import write_comparison, write_report

from .conftest import graph

SCREENS = [(390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")]
BINS = [{"confidence": 0.97, "right": 0.95, "count": 900}, {"confidence": 0.4, "right": 0.5, "count": 30}]
CONTRAST = """
element => {
  const parse = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = rgb => rgb.map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  let behind = element;
  const opaque = one => parse(getComputedStyle(one).backgroundColor + " 1").length === 3 &&
    !getComputedStyle(one).backgroundColor.endsWith(", 0)");
  while (!opaque(behind)) behind = behind.parentElement;
  const style = getComputedStyle(element);
  const ink = light(parse(element.closest("svg") ? style.fill : style.color));
  const paper = light(parse(getComputedStyle(behind).backgroundColor));
  return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
}
"""


@pytest.fixture(scope="module")
def pages(demo_run: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    return {
        "report": write_report(demo_run, BINS, folder / "report.html"),
        "comparison": write_comparison(demo_run, demo_run, folder / "comparison.html")[0],
    }


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
@pytest.mark.parametrize("name", ["report", "comparison"])
def test_the_page_is_whole(browser: Any, pages: dict[str, Path], name: str, width: int, scheme: str) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(pages[name].as_uri())
    assert said == []
    assert asked == [pages[name].as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "no scrolling sideways"
    charts = page.locator("svg").all()
    assert len(charts) == (8 if name == "report" else 2)
    for chart in charts:
        box = chart.bounding_box()
        assert box["width"] > 200
        assert box["height"] > 40
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        texts_inside(chart, box)
    dark = sum(map(int, background(page))) < 3 * 128
    assert dark == (scheme == "dark")
    page.close()


def texts_inside(chart: Any, box: dict[str, float]) -> None:
    """Every text of a chart is inside its frame and large enough to be read."""
    for text in chart.locator("text").all():
        inner = text.bounding_box()
        assert inner["x"] >= box["x"] - 1, text.text_content()
        assert inner["x"] + inner["width"] <= box["x"] + box["width"] + 1, text.text_content()
        assert inner["height"] >= 10, text.text_content()


def background(page: Any) -> list[str]:
    colour: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return colour.removeprefix("rgb(").removesuffix(")").split(",")


def test_long_words_do_not_widen_the_page(browser: Any, store: Any) -> None:
    long = "W" * 400
    both = graph(long, [long, long]), graph(long, [long, long])
    folder = store(Alignment(*both, [[0, 0], [1, 1]], [1, 0.3], [True, False], {"name": [1, 1]}))
    for path in (write_report(folder), write_comparison(folder, folder)[0]):
        page = browser.new_page(viewport={"width": 390, "height": 800})
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(browser: Any, pages: dict[str, Path], scheme: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme=scheme)
    page.goto(pages["report"].as_uri())
    for selector in ("h1", ".summary", ".quiet", ".kicker", "td", "thead th", ".found", "dt", "footer"):
        assert page.locator(selector).first.evaluate(CONTRAST) >= 4.5, selector
    for selector in ("svg text", "svg .axis", "svg .marked"):
        assert page.locator(selector).first.evaluate(CONTRAST) >= 4.5, selector
    for selector in ("svg .first", "svg .second"):
        assert page.locator(selector).first.evaluate(CONTRAST) >= 3, selector
    page.close()


def test_it_can_be_printed(browser: Any, pages: dict[str, Path]) -> None:
    page = browser.new_page(viewport={"width": 690, "height": 1000}, color_scheme="dark")
    page.goto(pages["report"].as_uri())
    page.emulate_media(media="print", color_scheme="dark")
    assert background(page) == ["255", " 255", " 255"], "paper is white, also from a dark screen"
    assert page.evaluate("document.documentElement.scrollWidth") <= 690
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.close()
