"""Text from data cannot become markup, nor change how the page reads."""

from __future__ import annotations

import pytest

from largeea.report.page import counted, page, share, shown, table, visible


def test_a_script_is_shown_as_text() -> None:
    assert shown("<script>alert('x')</script>") == (
        "<bdi>&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;</bdi>"
    )


@pytest.mark.parametrize(
    "hidden", ["\u202e", "\u2066", "\u200e", "\u200b", "\x00", "\x1b", "\n", "\u2028", "\ud800"]
)
def test_characters_that_are_not_seen_are_spelt_out(hidden: str) -> None:
    found = visible(f"a{hidden}b")
    assert hidden not in found
    assert found == f"a\u2039U+{ord(hidden):04X}\u203ab"


@pytest.mark.parametrize("text", ["naïve", "北京", "مى\u200cخواهم", "क्\u200dष", "🙂"])
def test_scripts_are_left_as_they_are(text: str) -> None:
    assert visible(text) == text


def test_long_text_is_cut() -> None:
    assert shown("x" * 500, 10) == "<bdi>xxxxxxxxx\u2026</bdi>"
    assert shown("x" * 10, 10) == "<bdi>xxxxxxxxxx</bdi>"
    assert len(shown("\u202e" * 500)) < 500


def test_a_missing_name_says_so() -> None:
    assert "no name" in shown(None)


@pytest.mark.parametrize(
    ("part", "text"),
    [(0, "0%"), (1, "100%"), (0.914, "91.4%"), (0.5, "50%"), (0.0001, "under 0.1%"), (0.9999, "over 99.9%")],
)
def test_shares(part: float, text: str) -> None:
    assert share(part) == text


def test_nouns_follow_numbers() -> None:
    assert counted(1, "pair") == "1 pair"
    assert counted(2000, "entity", "entities") == "2,000 entities"


def test_titles_of_columns_are_escaped() -> None:
    assert "<b>" not in table("<b>", ["", "<b>"], [["a", "b"]])


def test_a_page_loads_nothing() -> None:
    text = page("<run>", "a report", "<p>body</p>")
    assert "default-src 'none'" in text
    assert "<title>&lt;run&gt;</title>" in text
    for word in ("<script", "<link", "<img", "url(", "@import", "http://", "https://"):
        assert word not in text
