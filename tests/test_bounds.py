"""The bounds of docs/security.md on memory: three times the input may take three times as much.

Work is bounded by caps, which have tests where they are. `python -m benchmarks.attack --only graphs` measures
the growth of time.
"""

from __future__ import annotations

import re
import shutil
import sys
import tracemalloc
from collections import defaultdict
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyoxigraph as ox
import pytest

from largeea import Execution, align_files
from largeea.evidence.neighbours import MAX_FAN
from largeea.execution import stages
from largeea.execution.stages import bytes_of
from largeea.formats import read_graph
from largeea.formats.links import read_links

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.attack.shapes import GROWING, statements

ROOT = Path(__file__).parents[1]

TIMES = 3
ALLOWED = 1.25 * TIMES
"""Growth that counts as linear; quadratic growth would be 9-fold."""
SPARE = 1 << 20
"""Bytes that do not count, such as those of modules that are imported meanwhile."""
SHAPES = (
    *("one hub", "one hub of n relations", "equal names", "equal names around a hub"),
    *("one word in all names", "one value for all", "n values of one entity"),
    *("n aliases of one entity", "n relations"),
)
"""Those in which something of every entity meets something of every other."""


@pytest.mark.parametrize("shape", SHAPES)
def test_no_stage_takes_more_memory_than_its_share_of_a_larger_graph(
    shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: dict[str, int] = defaultdict(int)
    real = stages.Handle.compute

    def compute(handle: stages.Handle[Any]) -> Any:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        computed = real(handle)
        taken[handle.name] = max(taken[handle.name], tracemalloc.get_traced_memory()[1] - before)
        return computed

    def memory_of_stages(size: int) -> dict[str, int]:
        taken.clear()
        files = [tmp_path / f"{side}{size}.nt" for side in "ab"]
        for side, file in zip("ab", files, strict=True):
            file.write_text("".join(chain(statements(side), GROWING[shape](side, size))))
        run = tmp_path / f"run{size}"
        tracemalloc.start()
        try:
            align_files(*files, run, execution=Execution(threads=1, device="cpu"))
        finally:
            tracemalloc.stop()
        shutil.rmtree(run)
        return dict(taken)

    monkeypatch.setattr(stages.Handle, "compute", compute)
    size = MAX_FAN + 100  # smaller hubs are searched in another way
    memory_of_stages(TIMES * size)  # compiles what it needs, which would count
    few, many = memory_of_stages(size), memory_of_stages(TIMES * size)
    assert "alignment" in few
    assert not {
        stage: (few.get(stage, 0), bytes_taken)
        for stage, bytes_taken in many.items()
        if bytes_taken > ALLOWED * few.get(stage, 0) + SPARE
    }


ROWS = 3000


def rows_of(count: int) -> list[tuple[str, str, str]]:
    return [(f"urn:{i}", f"urn:p{i % 7}", f"urn:{i // 2}") for i in range(count)]


def as_rdf(format: ox.RdfFormat) -> Callable[[Path, int], None]:
    def write(file: Path, count: int) -> None:
        statements = (ox.Triple(*map(ox.NamedNode, row)) for row in rows_of(count))
        ox.serialize(statements, file, format)

    return write


def as_text(separator: str) -> Callable[[Path, int], None]:
    return lambda file, count: file.write_text("".join(separator.join(row) + "\n" for row in rows_of(count)))


def as_parquet(file: Path, count: int) -> None:
    columns = zip(*rows_of(count), strict=True)
    pq.write_table(pa.table(dict(zip(("head", "relation", "tail"), columns, strict=True))), file)


WRITERS = {
    ".nt": as_rdf(ox.RdfFormat.N_TRIPLES),
    ".nq": as_rdf(ox.RdfFormat.N_QUADS),
    ".ttl": as_rdf(ox.RdfFormat.TURTLE),
    ".trig": as_rdf(ox.RdfFormat.TRIG),
    ".rdf": as_rdf(ox.RdfFormat.RDF_XML),
    ".jsonld": as_rdf(ox.RdfFormat.JSON_LD),
    ".tsv": as_text("\t"),
    ".csv": as_text(","),
    ".parquet": as_parquet,
}


def bytes_taken(action: Callable[[], Any]) -> int:
    """The peak of what Python, numpy and Arrow allocate meanwhile."""
    usual = pa.default_memory_pool()
    counting = pa.proxy_memory_pool(usual)
    pa.set_memory_pool(counting)
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1] + counting.max_memory()
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(usual)


@pytest.mark.parametrize("suffix", WRITERS)
def test_no_reader_takes_more_memory_than_its_share_of_a_larger_file(suffix: str, tmp_path: Path) -> None:
    files = [tmp_path / f"{count}{suffix}" for count in (ROWS, TIMES * ROWS)]
    for file in files:
        WRITERS[suffix](file, int(file.stem))
    read_graph(files[0])
    few, many = (bytes_taken(lambda file=file: read_graph(file)) for file in files)
    assert many <= ALLOWED * few + SPARE


def test_links_take_no_more_memory_than_their_share_of_a_larger_file(tmp_path: Path) -> None:
    few, many = tmp_path / "few.tsv", tmp_path / "many.tsv"
    few.write_text("".join(f"urn:a:{i}\turn:b:{i}\n" for i in range(ROWS)))
    many.write_text("".join(f"urn:a:{i}\turn:b:{i}\n" for i in range(TIMES * ROWS)))
    read_links(few)
    assert bytes_taken(lambda: read_links(many)) <= ALLOWED * bytes_taken(lambda: read_links(few)) + SPARE


def test_a_graph_takes_the_bytes_that_are_stated(tmp_path: Path) -> None:
    file = tmp_path / "graph.nt"
    lines = chain(GROWING["n distinct values"]("a", ROWS), GROWING["equal names"]("a", TIMES * ROWS))
    file.write_text("".join(lines))
    graph = read_graph(file)
    columns = graph.entities, graph.names, graph.attributes.values
    text = sum(pc.sum(pc.binary_length(column)).as_py() for column in columns)
    entities, triples, literals = graph.size, len(graph.triples), len(graph.attributes)
    assert (entities, triples, literals) == (TIMES * ROWS, TIMES * ROWS, (TIMES + 2) * ROWS)
    assert bytes_of(graph) <= 12 * triples + 24 * literals + 26 * entities + text + 1000


def test_every_bound_names_a_test_that_exists() -> None:
    page = (ROOT / "docs" / "security.md").read_text()
    rows = page.partition("| part |")[2].partition("\n\n")[0].splitlines()
    named = [re.findall(r"`([a-z_/]*test_\w+\.py)`", row.rsplit(" | ", 1)[1]) for row in rows[2:]]
    assert len(named) > 10
    assert all(named)
    assert not [test for tests in named for test in tests if not (ROOT / "tests" / test).is_file()]
