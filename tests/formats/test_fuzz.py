"""Some of what `benchmarks/fuzz_readers.py` does by the thousand: damage ends in a result or an error."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from largeea.formats import GRAPH_FORMATS
from largeea.formats.links import FORMATS
from largeea.formats.pairs import LAYOUTS

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fuzz_readers.py"
INPUTS = 150
pytestmark = pytest.mark.filterwarnings("ignore:.*malformed:largeea.errors.LargeEAWarning")


def loaded():
    spec = importlib.util.spec_from_file_location("fuzz_readers", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz_readers"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


fuzz = loaded()


def test_every_format_is_fuzzed():
    layouts = {name.lower() for name in LAYOUTS}
    compressions = {"gz", "bz2", "xz", "zst"}
    assert {*GRAPH_FORMATS, *(f"links-{name}" for name in FORMATS), *layouts, *compressions} <= set(
        fuzz.READERS
    )


@pytest.mark.parametrize("reader", fuzz.READERS)
def test_sound_files_are_read(reader, tmp_path):
    if reader == "xlsx":
        pytest.importorskip("openpyxl", reason="needs largeea[xlsx]")
    assert fuzz.outcome(reader, tmp_path, fuzz.READERS[reader].files).kind == "result"


@pytest.mark.parametrize("reader", fuzz.READERS)
def test_damaged_files_end_in_a_result_or_an_error(reader, tmp_path):
    kinds = set()
    for index in range(INPUTS):
        found = fuzz.outcome(reader, tmp_path, fuzz.damaged(reader, seed=1, index=index))
        assert found.kind != "bug", f"{reader}, input {index}: {found.detail}"
        assert found.seconds < 20, f"{reader}, input {index}"
        kinds.add(found.kind)
    assert "refused" in kinds


def test_damage_is_the_same_every_time_and_does_damage():
    for reader in fuzz.READERS:
        inputs = [fuzz.damaged(reader, 0, index) for index in range(20)]
        assert inputs == [fuzz.damaged(reader, 0, index) for index in range(20)]
        assert sum(files != fuzz.READERS[reader].files for files in inputs) >= 15
        assert inputs != [fuzz.damaged(reader, 1, index) for index in range(20)]


def test_what_is_no_clear_error_counts_as_a_bug(tmp_path, monkeypatch):
    def broken(folder: Path) -> object:
        raise RuntimeError("nobody thought of this")

    monkeypatch.setitem(fuzz.READERS, "broken", fuzz.Reader({"a": b"x"}, [b"y"], broken))
    found = fuzz.outcome("broken", tmp_path, {"a": b"x"})
    assert (found.kind, found.detail) == ("bug", "RuntimeError: nobody thought of this")
