"""LargeEA: which entities of two knowledge graphs are the same thing.

Example:
    import largeea
    alignment = largeea.align("a.nt.gz", "b.ttl")
    alignment.to_table()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from largeea.version import __version__

if TYPE_CHECKING:
    from largeea.api import AlignedFiles, align, align_files, update, write
    from largeea.config import Config
    from largeea.deduplication import dedupe, dedupe_files
    from largeea.errors import InputError, LargeEAError, LargeEAWarning, ResourceError, UsageError
    from largeea.evaluation import evaluate
    from largeea.execution import Execution
    from largeea.formats import ReadOptions, read
    from largeea.formats.frames import graph_of_table
    from largeea.formats.links import read_links
    from largeea.formats.scope import Scope
    from largeea.graph import KnowledgeGraph, Links, Pair, Task
    from largeea.matching.alignment import Alignment
    from largeea.similarity import Similarity

_HOMES = {
    "api": ("AlignedFiles", "align", "align_files", "update", "write"),
    "config": ("Config",),
    "deduplication": ("dedupe", "dedupe_files"),
    "errors": ("InputError", "LargeEAError", "LargeEAWarning", "ResourceError", "UsageError"),
    "evaluation": ("evaluate",),
    "execution": ("Execution",),
    "formats": ("ReadOptions", "read"),
    "formats.frames": ("graph_of_table",),
    "formats.links": ("read_links",),
    "formats.scope": ("Scope",),
    "graph": ("KnowledgeGraph", "Links", "Pair", "Task"),
    "matching.alignment": ("Alignment",),
    "similarity": ("Similarity",),
}
"""Modules and the public names in them, which are imported when they are first asked for."""

__all__ = [
    "AlignedFiles",
    "Alignment",
    "Config",
    "Execution",
    "InputError",
    "KnowledgeGraph",
    "LargeEAError",
    "LargeEAWarning",
    "Links",
    "Pair",
    "ReadOptions",
    "ResourceError",
    "Scope",
    "Similarity",
    "Task",
    "UsageError",
    "__version__",
    "align",
    "align_files",
    "dedupe",
    "dedupe_files",
    "evaluate",
    "graph_of_table",
    "read",
    "read_links",
    "update",
    "write",
]


def __getattr__(name: str) -> Any:
    """The public object of this name."""
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
