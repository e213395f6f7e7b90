"""What cannot be merged is refused with a message that says what to do, and an earlier output stays."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from largeea.cli import run as command
from largeea.errors import InputError, ResourceError, UsageError
from largeea.merging import merge_run
from largeea.runs.folder import MANIFEST
from largeea.runs.manifest import read_manifest, strike_answer, write_manifest

SOURCE = '<http://s.org/a> <http://p> "1" .\n'
TARGET = '<http://t.org/b> <http://p> "1" .\n'


@pytest.fixture
def run(aligned: Callable[..., Path]) -> Path:
    return aligned({"s.nt": SOURCE}, {"t.nt": TARGET}, [("http://s.org/a", "http://t.org/b")])


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("m.csv", {}, "known suffix"),
        ("m", {}, "known suffix"),
        ("m.zip", {}, "known suffix"),
        ("m.nt", {"provenance": "graphs"}, "N-Quads"),
        ("m.nt", {"provenance": "other"}, "choose graphs or prov"),
        ("m.nt", {"canonical": "both"}, "choose source or target"),
        ("m.nt", {"threshold": 1.5}, "between 0 and 1"),
        ("m.nt", {"bases": ("no iri", "urn:b:")}, "beginning of an IRI"),
        ("m.nt", {"bases": ("urn:a:", "urn:a:")}, "different ones"),
    ],
)
def test_wrong_options_are_refused(run: Path, tmp_path: Path, name: str, options: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        merge_run(run, tmp_path / name, **options)
    assert not (tmp_path / name).exists()


def test_the_output_must_not_be_an_input_or_a_folder(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is an input"):
        merge_run(run, tmp_path / "s" / "s.nt")
    (tmp_path / "m.nt").mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        merge_run(run, tmp_path / "m.nt")


def test_changed_and_missing_inputs_are_refused_and_the_old_output_stays(run: Path, tmp_path: Path) -> None:
    output = tmp_path / "m.nt"
    merge_run(run, output)
    before = output.read_bytes()
    (tmp_path / "t" / "t.nt").write_text(TARGET.replace('"1"', '"2"'))
    with pytest.raises(InputError, match="has changed since the run read it"):
        merge_run(run, output)
    (tmp_path / "t" / "t.nt").unlink()
    with pytest.raises(InputError, match="no such file"):
        merge_run(run, output)
    assert output.read_bytes() == before
    assert command(["merge", str(run), "-o", str(output)]) == 3


def test_an_input_that_was_only_touched_is_fine(run: Path, tmp_path: Path) -> None:
    os.utime(tmp_path / "t" / "t.nt", (1, 1))
    assert merge_run(run, tmp_path / "m.nt").written == 2


def test_an_unfinished_run_and_other_folders_are_refused(run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a run folder"):
        merge_run(tmp_path, tmp_path / "m.nt")
    manifest = read_manifest(run)
    strike_answer(manifest)
    write_manifest(run, manifest)
    with pytest.raises(InputError, match="not finished"):
        merge_run(run, tmp_path / "m.nt")
    (run / MANIFEST).write_text("{}")
    with pytest.raises(InputError, match="damaged"):
        merge_run(run, tmp_path / "m.nt")


def test_an_unwritable_place_is_an_error_of_resources(run: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ResourceError, match="cannot write"):
        merge_run(run, tmp_path / "file" / "m.nt")
    assert command(["merge", str(run), "-o", str(tmp_path / "file" / "m.nt")]) == 4
