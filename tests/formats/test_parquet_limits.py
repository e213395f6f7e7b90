"""Parquet files that lie about their size, or expand without bound: refused by a process of their own."""

from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
from pathlib import Path

import pyarrow as pa
import pytest

from largeea.errors import InputError, ResourceError
from largeea.execution import Execution, executing
from largeea.formats import read_graph
from largeea.formats.parquet import read_parquet

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "attack"))
files = importlib.import_module("parquet_files")
sys.path.pop(0)

HOSTILE = {
    "a_page_unpacks_to_more_than_the_footer_declares": lambda: files.false_footer(400_000_000),
    "a_page_header_declares_a_gigabyte": lambda: files.false_page_header((1 << 30) - 1),
    "a_large_string_stands_in_every_row": lambda: files.one_text_in_every_row(
        pa.large_string(), "y" * 60_000
    ),
    "bytes_stand_in_every_row": lambda: files.one_text_in_every_row(pa.large_binary(), b"y" * 60_000),
    "rows_differ_little_from_each_other": files.shared_prefixes,
}
MOST_MB = 600


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    for name, make in HOSTILE.items():
        (folder / f"{name}.parquet").write_bytes(make())
    return folder


@pytest.mark.parametrize("name", HOSTILE)
def test_a_few_kilobytes_do_not_become_gigabytes(hostile: Path, name: str) -> None:
    path = hostile / f"{name}.parquet"
    assert path.stat().st_size < 100_000
    with pytest.raises(InputError, match="like a decompression bomb"):
        read_graph(path)


def test_no_process_takes_more_memory_than_allowed(hostile: Path) -> None:
    program = f"""
    import resource
    from pathlib import Path
    from largeea.errors import InputError
    from largeea.formats import read_graph
    for path in Path({str(hostile)!r}).iterdir():
        try:
            read_graph(path)
        except InputError:
            pass
    status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    own = int(status["VmHWM"].split()[0])
    print(max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) >> 10)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert int(said) < MOST_MB


def test_genuine_texts_with_shared_prefixes_are_read(tmp_path: Path) -> None:
    columns = {"subject": ["urn:a", "urn:b"], "relation": ["urn:p", "urn:p"], "object": ["urn:b", "urn:a"]}
    encoding = dict.fromkeys(columns, "DELTA_BYTE_ARRAY")
    path = tmp_path / "a.parquet"
    path.write_bytes(files.parquet_bytes(columns, use_dictionary=False, column_encoding=encoding))
    assert read_graph(path).entities.to_pylist() == ["urn:a", "urn:b"]


def test_a_run_with_too_little_memory_is_told_to_allow_more(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(
        files.parquet_bytes({"subject": ["urn:a"], "relation": ["p"], "object": ["x" * (40 << 20)]})
    )
    with (
        executing(Execution(memory="64MB")),
        pytest.raises(ResourceError, match=r"takes more than .* Allow more memory"),
    ):
        read_graph(path)


def test_rows_that_nobody_reads_leave_no_process(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(files.parquet_bytes({"subject": [f"urn:{i}" for i in range(500_000)]}))
    before = _children()
    names, batches = read_parquet(path)
    assert names == ["subject"]
    assert len(next(batches)) > 0
    assert _children() > before
    del batches
    assert _children() == before


def _children() -> set[str]:
    return {
        pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()
    }
