from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from largeea.errors import InputError, UsageError
from largeea.runs.manifest import (
    FORMAT,
    MANIFEST,
    check_output,
    read_manifest,
    records_of_answer,
    stage_file,
    way_on,
    write_manifest,
)

RECORD = {"key": "f", "sha256": "0", "bytes": 3, "after": [], "files": {}}


def manifest_with(record: Any) -> dict[str, Any]:
    return {"format": FORMAT, "stages": {"task": record}}


def test_what_was_written_is_read(tmp_path: Path) -> None:
    manifest = manifest_with(RECORD) | {"request": {"source": "/data/\udcff.nt"}}
    write_manifest(tmp_path, manifest)
    assert read_manifest(tmp_path) == manifest


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        "3",
        "{}",
        '{"format": 2}',
        b"\xff\xfe\x00",
        pytest.param("[" * 99_999, id="deep"),
    ],
)
def test_what_is_no_manifest(tmp_path: Path, content: str | bytes) -> None:
    (tmp_path / MANIFEST).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=r"manifest\.json: is damaged: .*; without it") as told:
        read_manifest(tmp_path)
    assert f"move {tmp_path} away and repeat the command that began it" in str(told.value)


@pytest.mark.parametrize(
    "manifest",
    [
        {"format": FORMAT, "stages": []},
        *(manifest_with(record) for record in (3, None, {})),
        *(manifest_with({k: v for k, v in RECORD.items() if k != key}) for key in RECORD),
        *(manifest_with(RECORD | {key: None}) for key in RECORD),
        manifest_with(RECORD | {"files": {"../precious": {}}}),
        manifest_with(RECORD | {"arguments": None}),
        *(manifest_with(RECORD) | {"timings": {"names": found}} for found in (None, [1], {"k": {}})),
        *(manifest_with(RECORD) | {"timings": {"names": {"k": {"seconds": wrong}}}} for wrong in ("", [])),
        manifest_with(RECORD) | {"results": {"../precious": {}}},
        manifest_with(RECORD) | {"outdated": ["/etc/passwd"]},
        *(manifest_with(RECORD | {"after": wrong}) for wrong in (3, [1])),
        *(manifest_with(RECORD) | {"request": wrong} for wrong in (None, [1], {"working_directory": []})),
        *(manifest_with(RECORD) | {"config": wrong} for wrong in (None, {"x": {}}, {"names": "bert"})),
        *(manifest_with(RECORD) | {"results": {"a.tsv": wrong}} for wrong in (None, {}, {"bytes": ""})),
        *(manifest_with(RECORD) | {"answer": wrong} for wrong in (None, [], {"stages": 3})),
        *(manifest_with(RECORD) | {"inputs": wrong} for wrong in (None, {}, [1], [{"path": 1}])),
        *(manifest_with(RECORD) | {name: [1]} for name in ("plan", "update", "summary", "peak_memory_mb")),
        manifest_with(RECORD) | {"timings": {"names": {"k": {"seconds": 1.0, "memory_mb": {}}}}},
    ],
)
def test_manifests_nobody_would_write(tmp_path: Path, manifest: dict[str, Any]) -> None:
    write_manifest(tmp_path, manifest)
    with pytest.raises(InputError, match=r"manifest\.json: is damaged"):
        read_manifest(tmp_path)


def test_an_answer_whose_stage_is_gone_is_no_internal_error(tmp_path: Path) -> None:
    """As in a folder that has got the manifest of another run."""
    write_manifest(
        tmp_path,
        manifest_with(RECORD)
        | {"answer": {"stages": ["task", "source"], "config_sha256": ""}, "request": {}},
    )
    with pytest.raises(
        InputError, match=f"'source', which its answer needs, is gone; .* largeea resume {tmp_path}"
    ):
        records_of_answer(tmp_path)


def read_leniently(content: bytes) -> dict[str, Any] | None:
    """The content if this is JSON at all, without its checksum."""
    try:
        manifest: dict[str, Any] = json.loads(content)
    except ValueError:
        return None
    manifest.pop("checksum", None)
    return manifest


def test_every_changed_letter_is_noticed(tmp_path: Path) -> None:
    manifest = manifest_with(RECORD)
    write_manifest(tmp_path, manifest)
    content = (tmp_path / MANIFEST).read_bytes()
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1
        (tmp_path / MANIFEST).write_bytes(changed)
        if content[place : place + 1].isspace() and read_leniently(changed) == manifest:
            continue
        with pytest.raises(InputError, match=r"manifest\.json: "):
            read_manifest(tmp_path)


def test_a_manifest_of_another_format(tmp_path: Path) -> None:
    for version, words in (({"version": "9.0"}, "largeea 9.0"), ({}, "largeea of another version")):
        (tmp_path / MANIFEST).write_text(json.dumps({"format": 3, "stages": {}} | version))
        with pytest.raises(
            InputError, match=rf"written by {words} \(format 3; this version reads 2\): read it"
        ):
            read_manifest(tmp_path)


def test_the_way_on(tmp_path: Path) -> None:
    again = "the command that began it"
    assert way_on(tmp_path) == again, "killed before there was a manifest"
    write_manifest(tmp_path, manifest_with(RECORD))
    assert way_on(tmp_path) == again
    write_manifest(tmp_path, manifest_with(RECORD) | {"request": {}})
    assert way_on(tmp_path) == f"largeea resume {tmp_path}"
    (tmp_path / MANIFEST).write_bytes((tmp_path / MANIFEST).read_bytes()[:-9])
    assert way_on(tmp_path) == again


@pytest.mark.parametrize("name", ["task", "names", "structure-batch-3-of-5"])
def test_plain_names_are_file_names(name: str) -> None:
    assert stage_file(Path("run"), name) == Path(f"run/stages/{name}.safetensors")


@given(st.lists(st.text(max_size=300), min_size=2, max_size=2, unique=True))
def test_any_names_are_told_apart_and_stay_in_the_folder(names: list[str]) -> None:
    one, two = (stage_file(Path("run"), name.encode("utf-8", "replace").decode()) for name in names)
    assert one.parent == two.parent == Path("run/stages")
    assert len(one.name) <= 120
    assert not one.name.startswith(".")
    if names[0].encode("utf-8", "replace") != names[1].encode("utf-8", "replace"):
        assert one.name.lower() != two.name.lower()


@pytest.mark.parametrize(
    "name", ["structure, batch 3", "../escape", "a/b", "Names", ".", "..", "", "x" * 200]
)
def test_other_names_become_safe(name: str) -> None:
    path = stage_file(Path("run"), name)
    assert path.resolve().parent == Path("run/stages").resolve()
    assert path.stem.split("-")[-1].isalnum()


def test_results_do_not_replace_inputs_or_parts_of_the_run(tmp_path: Path) -> None:
    run, graph = tmp_path / "run", tmp_path / "a.nt"
    run.mkdir()
    seen = {"path": str(graph), "bytes": 3, "sha256": "0", "modified": 1, "seen": 1}
    write_manifest(run, manifest_with(RECORD) | {"inputs": [seen]})
    (tmp_path / "link.nt").symlink_to(graph)
    for path in (graph, tmp_path / "run" / ".." / "a.nt", tmp_path / "link.nt"):
        with pytest.raises(UsageError, match="is an input of the run; write to another file"):
            check_output(run, path)
    for name in (MANIFEST, "config.toml", "reviews.tsv", "stages/task.safetensors"):
        with pytest.raises(UsageError, match="is a part of the run; write to another file"):
            check_output(run, run / name)
    check_output(run, run / "schema.tsv")
    check_output(run, tmp_path / "b.nt")
