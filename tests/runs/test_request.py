from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from largeea import api
from largeea.config import PRESETS, Config, load
from largeea.errors import InputError, UsageError
from largeea.formats import ReadOptions
from largeea.formats.naming import Naming
from largeea.formats.tables import Columns
from largeea.inputs import Inputs
from largeea.runs.folder import Run
from largeea.runs.manifest import read_manifest, write_manifest
from largeea.runs.request import Request, read_request

READING = ReadOptions(
    "tsv", Columns("id", None, "up", attributes=("x",)), Naming(("urn:label",), ("de",)), 3, "fr"
)
FULL = Request(
    Path("a-*.nt"),
    Path("/data/b\udcff.ttl"),
    (Path("seeds.tsv"),),
    READING,
    ("sssom", "tsv"),
    "urn:p",
    (Path("wrong.tsv"),),
    True,
)
PLAIN = Request(Path("pair"), None, (), ReadOptions(), ("sssom",))


def begin(folder: Path, request: Request, config: Config) -> None:
    with Run(folder, request.to_plain()) as run:
        run.begin(config)


@pytest.mark.parametrize("request_made", [FULL, PLAIN])
@pytest.mark.parametrize("preset", PRESETS)
def test_a_run_knows_what_it_was_asked_for(tmp_path: Path, request_made: Request, preset: str) -> None:
    config = load(preset, seed=3)
    begin(tmp_path / "run", request_made, config)
    assert read_request(tmp_path / "run") == (request_made, config)
    assert read_request(tmp_path / "run")[1].to_toml() == config.to_toml()


def test_places_hold_wherever_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    begin(Path("run"), FULL, Config())
    monkeypatch.chdir(tmp_path / "there")
    request, _ = read_request(tmp_path / "here" / "run")
    assert request.source == tmp_path / "here" / "a-*.nt"
    assert request.target == FULL.target
    assert request.seeds == (tmp_path / "here" / "seeds.tsv",)


@pytest.mark.parametrize(("stored", "read"), [(None, ()), ("seeds.tsv", (Path("seeds.tsv"),))])
def test_a_manifest_with_one_seed_file_or_none_is_read(
    tmp_path: Path, stored: str | None, read: tuple[Path, ...]
) -> None:
    """Earlier versions stored no tuple, and neither forbidden pairs nor reviews."""
    begin(tmp_path, PLAIN, Config())
    manifest = read_manifest(tmp_path)
    manifest["request"]["seeds"] = stored
    del manifest["request"]["forbidden"], manifest["request"]["with_reviews"]
    write_manifest(tmp_path, manifest)
    assert read_request(tmp_path)[0] == replace(PLAIN, seeds=read)


def test_a_run_that_was_not_asked_for_in_this_way(tmp_path: Path) -> None:
    with Run(tmp_path / "run") as run:
        run.begin(Config())
    with pytest.raises(UsageError, match="was not started by `largeea align`; repeat the command that"):
        read_request(tmp_path / "run")


@pytest.mark.parametrize(
    ("part", "change", "place"),
    [
        ("config", {"colour": "blue"}, "colour"),
        ("config", {"names": {"encoder": "ngram", "top_k": "many"}}, r"names\.top_k"),
        ("request", {"source": None}, "source"),
    ],
)
def test_a_request_of_another_release(tmp_path: Path, part: str, change: dict[str, Any], place: str) -> None:
    begin(tmp_path, PLAIN, Config())
    manifest = read_manifest(tmp_path)
    manifest[part] |= change
    write_manifest(tmp_path, manifest)
    message = rf"manifest\.json: was written by another version: {place}; run `largeea align` again"
    with pytest.raises(InputError, match=message):
        read_request(tmp_path)
    del manifest[part]
    manifest["request"] = {}
    write_manifest(tmp_path, manifest)
    with pytest.raises(InputError, match="was written by another version: "):
        read_request(tmp_path)


def test_files_of_both_graphs_and_the_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a-1.nt", "a-2.nt", "b.ttl"):
        Path(name).touch()
    seeds, wrong = (Path("seeds.tsv"), Path("more.tsv")), (Path("wrong.tsv"),)
    request = Request(Path("a-*.nt"), Path("b.ttl"), seeds, ReadOptions(), ("sssom",), forbidden=wrong)
    assert {side: [path.name for path in found] for side, found in request.files().items()} == {
        "source": ["a-1.nt", "a-2.nt"],
        "target": ["b.ttl"],
        "seeds": ["seeds.tsv", "more.tsv"],
        "forbidden": ["wrong.tsv"],
        "left_out": [],
        "compatible": [],
    }
    assert replace(request, seeds=()).files()["seeds"] == []


def test_the_subject_is_the_same_wherever_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)
    subject = Request(Path("here/a.nt"), Path("b.nt"), (), ReadOptions(), ()).subject()
    assert subject == [str(tmp_path / "here" / "a.nt"), str(tmp_path / "b.nt")]
    assert Request(tmp_path / "here" / "a.nt", Path("b.nt"), (), ReadOptions(), ()).subject() == subject
    monkeypatch.chdir(tmp_path / "here")
    moved = Request(Path("a.nt"), Path("../b.nt"), (), ReadOptions(), ()).subject()
    assert moved == subject
    assert PLAIN.subject() == [str(Path.cwd() / "pair")]


def test_a_run_that_was_killed_while_it_read_its_graphs_could_not_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder with a run of other settings would even have been resumed with those."""
    folder, older, newer = tmp_path / "run", load(settings=("seed=1",)), load(settings=("seed=2",))

    def killed(inputs: Inputs, *_: Any) -> None:
        inputs.source.ensure()
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "run_method", killed)
    for config in (older, newer):
        (tmp_path / "a.nt").write_text(f"<urn:a> <urn:p> <urn:{config.seed}> .\n")
        with pytest.raises(KeyboardInterrupt):
            api.align_files(tmp_path / "a.nt", tmp_path / "a.nt", folder, config=config)
        assert read_manifest(folder)["stages"]
        assert read_request(folder)[1] == config
