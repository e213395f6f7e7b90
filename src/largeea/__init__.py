"""LargeEA: which entities of two knowledge graphs are the same thing.

Example:
    import largeea
    alignment = largeea.align("a.nt.gz", "b.ttl")
    alignment.to_table()
"""

from largeea.api import AlignedFiles, align, align_files, update, write
from largeea.config import Config
from largeea.dedupe import dedupe, dedupe_files
from largeea.errors import InputError, LargeEAError, LargeEAWarning, ResourceError, UsageError
from largeea.evaluate import evaluate
from largeea.execution import Execution
from largeea.formats import ReadOptions, read
from largeea.formats.frames import graph_of_table
from largeea.formats.links import read_links
from largeea.formats.scope import Scope
from largeea.graph import KnowledgeGraph, Links, Pair, Task
from largeea.matching.alignment import Alignment
from largeea.similarity import Similarity
from largeea.version import __version__

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
