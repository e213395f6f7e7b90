"""Sphinx configuration of the documentation site; `make docs` builds it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from pygments.lexers.special import TextLexer  # noqa: E402

from generated import with_generated_parts  # noqa: E402
from largeea import __version__  # noqa: E402

project = "LargeEA"
author = "The LargeEA contributors"
release = version = __version__
extensions = ["myst_parser"]
exclude_patterns = ["plugin-model", "_build"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"LargeEA {__version__}"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_copyright = False
html_theme_options = {"footer_icons": []}


def setup(app: Any) -> None:
    """Fill in the generated parts of pages while Sphinx reads them; show tables as they are."""
    app.connect("source-read", fill_in)
    for table in ("csv", "tsv"):
        app.add_lexer(table, TextLexer)


def fill_in(app: Any, name: str, content: list[str]) -> None:
    """Replace the generated parts of a page; pages of experiments are reached from `results.md` alone."""
    text = with_generated_parts(content[0])
    content[0] = f"---\norphan: true\n---\n{text}" if name.startswith("results/") else text
