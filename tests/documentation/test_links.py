"""Links between pages lead to files and headings that exist, and every page is in the navigation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pages import PAGES, ROOT

LINKING = [*PAGES, ROOT / "docs" / "results.md", ROOT / "CHANGELOG.md"]
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```$|``[^\n]*?``|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_GENERATED = {"commands.md", "settings.md", "python-api.md"}
"""Pages with headings that are generated while the site is built."""


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub and MyST make them."""
    headings = _HEADING.findall(re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", LINKING, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in _LINK.findall(_CODE.sub("", page.read_text("utf-8"))):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor and target.name not in _GENERATED:
            assert anchor in anchors(target), f"{page.name}: {link}"


def test_every_page_is_in_the_navigation() -> None:
    index = (ROOT / "docs" / "index.md").read_text("utf-8").splitlines()
    listed = {line.strip() for line in index}
    missing = [page.stem for page in (ROOT / "docs").glob("*.md") if page.stem not in listed | {"index"}]
    assert not missing
