"""The basic data types: knowledge graphs, links between two graphs, tasks, and edges."""

from largeea.graph.arrays import (
    Arrays,
    Bool,
    Float32,
    Float64,
    Int8,
    Int32,
    Int64,
    Strings,
    UInt32,
    UInt64,
    check_ids,
    frozen,
    strings,
)
from largeea.graph.links import Links, Pair, Task
from largeea.graph.roles import Part, Role
from largeea.graph.types import Attributes, KnowledgeGraph, ReadCounts

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
    "Part",
    "ReadCounts",
    "Role",
    "Strings",
    "Task",
    "UInt32",
    "UInt64",
    "check_ids",
    "frozen",
    "strings",
]
