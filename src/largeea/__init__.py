"""LargeEA: which entities of two knowledge graphs are the same thing.

Example:
    import largeea
    alignment = largeea.align(largeea.read("a.nt.gz"), largeea.read("b.ttl"))
    alignment.to_table()
"""

__version__ = "0.1.0"

from largeea.alignment import Alignment
from largeea.config import Config
from largeea.errors import InputError, LargeEAError, ResourceError, UsageError
from largeea.evaluate import evaluate
from largeea.formats import ReadOptions, read
from largeea.graph import KnowledgeGraph, Links, Pair, Task
from largeea.pipeline import align
from largeea.similarity import Similarity

__all__ = [
    "Alignment",
    "Config",
    "InputError",
    "KnowledgeGraph",
    "LargeEAError",
    "Links",
    "Pair",
    "ReadOptions",
    "ResourceError",
    "Similarity",
    "Task",
    "UsageError",
    "align",
    "evaluate",
    "read",
]
