"""The basic data types: knowledge graphs, links between two graphs, tasks, and edges."""

from largeea.graph.links import Links, Pair, Task
from largeea.graph.types import (
    Arrays,
    Attributes,
    Bool,
    Float32,
    Float64,
    Int8,
    Int32,
    Int64,
    KnowledgeGraph,
    ReadCounts,
    Role,
    Strings,
    UInt64,
    check_ids,
    frozen,
    strings,
)

__all__ = [
    "Arrays",
    "Attributes",
    "Bool",
    "Float32",
    "Float64",
    "Int8",
    "Int32",
    "Int64",
    "KnowledgeGraph",
    "Links",
    "Pair",
    "ReadCounts",
    "Role",
    "Strings",
    "Task",
    "UInt64",
    "check_ids",
    "frozen",
    "strings",
]
