"""Entities selected by a SPARQL query on the files of a graph, in a process with limited memory and time."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np

from largeea.child import REFUSED
from largeea.constraints import select_program
from largeea.errors import InputError, LargeEAError, ResourceError, UsageError
from largeea.execution.settings import current
from largeea.formats import recognise
from largeea.formats.prefixes import CUSTOMARY
from largeea.formats.programs import Ending, running
from largeea.formats.rdf import SUFFIXES, base_iri_of
from largeea.formats.streams import open_bytes
from largeea.graph import Bool, KnowledgeGraph, strings

QUERY_SECONDS = 120
"""Computing time of a query; loading a file may take one second more for each MB."""
_CHUNK_BYTES = 1 << 20
_NO_CODE = re.compile(
    r"""<[^<>\s]*>|\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}"""
    r"""|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\#[^\r\n]*""",
    re.DOTALL,
)
_SERVICE = re.compile(r"(?<![:?$\w-])SERVICE(?![\w:-])", re.IGNORECASE)


def query_text(given: str) -> str:
    """The text of a query that is given as such or as the path of a file."""
    if "{" in given:
        return given
    path = Path(given)
    if not path.is_file():
        raise InputError("is neither a file nor a SPARQL query: SELECT ?x WHERE { ... }", given)
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text; convert the file to UTF-8", path) from None


def select(graph: KnowledgeGraph, side: str, query: str, files: Sequence[Path], format: str | None) -> Bool:
    """Mask of the entities of a graph that a query selects from its files, `[size]`.

    The prefixes of the files and customary ones need not be declared in the query.
    """
    prefixes, where = CUSTOMARY | graph.prefixes, f"the selection of the {side} graph"
    if _SERVICE.search(_NO_CODE.sub(" ", query)):
        raise UsageError(f"{where} uses SERVICE; nothing is fetched from the network")
    formats = [format or recognise(file) for file in files]
    if not files or not set(formats) <= set(SUFFIXES.values()):
        raise UsageError(
            f"the {side} graph does not come from RDF files, and only these can be queried by SPARQL; "
            "list the entities that are not to be matched in a file instead"
        )
    found = graph.find(strings(_run(query, side, prefixes, list(zip(files, formats, strict=True)))))
    if not (found >= 0).any():
        raise UsageError(f"{where} selects none of its entities")
    mask = np.zeros(graph.size, bool)
    mask[found[found >= 0]] = True
    return mask


def _run(query: str, side: str, prefixes: dict[str, str], files: list[tuple[Path, str]]) -> list[str]:
    """The IRIs that a query selects from files, each with its format."""
    memory = current().memory_bytes // 2
    request = {"query": query, "prefixes": prefixes, "memory": memory, "seconds": QUERY_SECONDS}

    def feed(pipe: IO[bytes]) -> None:
        pipe.write(json.dumps(request).encode() + b"\n")
        for path, format in files:
            _feed_file(path, format, pipe)

    purpose = f"for the selection of the {side} graph"
    with running(select_program.__file__, purpose=purpose, source=feed) as child:
        found = child.output.read().decode("utf-8", "replace")
        ending = child.wait()
    if ending.code:
        raise _failure(ending, side, memory)
    return found.split("\n")[:-1]


def _feed_file(path: Path, format: str, pipe: IO[bytes]) -> None:
    pipe.write(json.dumps([format, base_iri_of(path)]).encode() + b"\n")
    with open_bytes(path) as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            pipe.write(len(chunk).to_bytes(8, "little") + chunk)
    pipe.write(bytes(8))


def _failure(ending: Ending, side: str, memory: int) -> LargeEAError:
    """The error for a child that failed."""
    where = f"the selection of the {side} graph"
    if ending.code == REFUSED:
        return UsageError(f"{where} {ending.refusal[0]}")
    if ending.code == -signal.SIGXCPU:
        return ResourceError(
            f"{where} takes longer than {QUERY_SECONDS} s; make the query simpler, or give types instead"
        )
    if ending.out_of_memory:
        return ResourceError(
            f"{where} takes more than {memory / 1e9:.1f} GB, half of the memory that this run may use; allow "
            "more memory, or give types instead"
        )
    if ending.code == -signal.SIGSEGV:
        return UsageError(f"{where} crashes the SPARQL engine; is it nested too deeply? Make it simpler")
    return ResourceError(f"{where} failed: {ending.in_words}")
