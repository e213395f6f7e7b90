"""The registry of published benchmarks."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from largeea.datasets import archives, registry
from largeea.datasets.registry import DATA_SETS, data_folder, find_data_set, get_data_set, local_pairs
from largeea.errors import InputError, ResourceError, UsageError
from largeea.formats import read


def pair_files(folder: str) -> dict[str, str]:
    return {
        f"{folder}/rel_triples_1": "a\tr\tb\n",
        f"{folder}/rel_triples_2": "x\tr\ty\n",
        f"{folder}/ent_links": "a\tx\n",
    }


def packed(files: dict[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return made.getvalue()


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def toy(server):
    """A data set on the local server, of unknown checksum."""
    server.content = packed(pair_files("Toy/EN_FR") | pair_files("Toy/EN_DE"))
    return replace(
        DATA_SETS["openea-v2.0"],
        name="toy",
        file="toy.zip",
        url=server.url,
        size=None,
        checksum=None,
        folders=(),
    )


@pytest.mark.parametrize("known", DATA_SETS.values(), ids=list(DATA_SETS))
def test_every_entry_is_complete_and_well_formed(known):
    assert DATA_SETS[known.name] is known
    assert all((known.title, known.holds, known.licence, known.citation, known.file, known.folders))
    for address in (known.page, known.fetch_page, known.url or known.page):
        assert re.fullmatch(r"https://[\w.-]+/\S+", address)
    if known.checksum:
        algorithm, digits = known.checksum.split(":")
        assert re.fullmatch(r"[0-9a-f]+", digits)
        assert len(digits) == {"sha256": 64, "sha512": 128}[algorithm]


def test_names_that_are_not_known():
    with pytest.raises(UsageError, match=r"unknown data set 'dbp15'; known: openea-v1.1, .*dbp1m"):
        find_data_set("dbp15")


def test_where_data_lies(monkeypatch):
    monkeypatch.delenv("LARGEEA_DATA", raising=False)
    assert data_folder() == Path("data")
    monkeypatch.setenv("LARGEEA_DATA", "/somewhere")
    assert data_folder() == Path("/somewhere")


def test_folders_that_are_there_are_used(tmp_path):
    put(tmp_path, pair_files("dbp15k_fr_en") | pair_files("DBP15K/zh_en/0_3") | pair_files("other/fr_en"))
    found = local_pairs(DATA_SETS["dbp15k"], tmp_path)
    assert found == [tmp_path / "DBP15K/zh_en/0_3", tmp_path / "dbp15k_fr_en"]
    assert get_data_set(DATA_SETS["dbp15k"], tmp_path) == found
    assert local_pairs(DATA_SETS["srprs"], tmp_path) == []
    assert local_pairs(DATA_SETS["srprs"], tmp_path / "absent") == []


def test_shared_data_is_recognised(shared_data):
    names = {
        name: {pair.name for pair in local_pairs(known, shared_data)} for name, known in DATA_SETS.items()
    }
    assert names["dbp15k"] >= {"dbp15k_fr_en", "dbp15k_zh_en"}
    assert names["srprs"] >= {"srprs_en_de"}
    assert names["openea-v1.1"] >= {"ids15k_en_de_v1", "d_w_15k_v1"}


def test_get_downloads_unpacks_and_finds(toy, tmp_path, server):
    pairs = get_data_set(toy, tmp_path)
    assert [pair.name for pair in pairs] == ["EN_DE", "EN_FR"]
    assert len(read(pairs[0]).links) == 1
    assert get_data_set(toy, tmp_path) == pairs
    assert len(server.ranges) == 1, "what is here is not fetched again"


def test_the_archive_is_remembered_by_its_checksum(toy, tmp_path, server):
    pairs = get_data_set(toy, tmp_path)
    for pair in pairs:
        for file in pair.iterdir():
            file.unlink()
    assert get_data_set(toy, tmp_path) == pairs, "unpacked again from the archive"
    assert len(server.ranges) == 1
    for pair in pairs:
        for file in pair.iterdir():
            file.unlink()
    (tmp_path / "toy/toy.zip").write_bytes(packed(pair_files("Evil/EN_FR")))
    with pytest.raises(InputError, match="is not what it should be"):
        get_data_set(toy, tmp_path)


def test_a_file_fetched_by_hand_is_taken(tmp_path):
    known = replace(DATA_SETS["dbp1m"], folders=())
    with pytest.raises(
        ResourceError, match=r"By hand: fetch mkdata.zip from https://drive.*save it as (\S+)"
    ):
        get_data_set(known, tmp_path)
    (tmp_path / "dbp1m").mkdir()
    (tmp_path / "dbp1m/mkdata.zip").write_bytes(packed(pair_files("mkdata/fr")))
    assert [pair.name for pair in get_data_set(known, tmp_path)] == ["fr"]


def test_an_archive_for_other_programs(toy, tmp_path):
    seven = replace(toy, file="toy.7z")
    with pytest.raises(ResourceError, match=r"toy\.7z is here, but only other programs unpack it: 7z x -o"):
        get_data_set(seven, tmp_path)
    assert (tmp_path / "toy/toy.7z.sha256").is_file()


def test_an_archive_without_a_pair(toy, tmp_path, server):
    server.content = packed({"readme": "nothing here"})
    with pytest.raises(ResourceError, match="holds no pair of graphs"):
        get_data_set(toy, tmp_path)


def test_a_server_that_is_not_there_tells_the_way_by_hand(tmp_path):
    known = replace(DATA_SETS["dbp15k"], url="http://nowhere.invalid/a.tar.gz", folders=())
    with pytest.raises(
        ResourceError, match=r"offline\? By hand: fetch dbp15k.tar.gz from https://github.com/nju"
    ):
        get_data_set(known, tmp_path)


def test_the_registry_needs_no_network_to_be_read(monkeypatch):
    monkeypatch.setattr(registry, "download", None)
    assert len(DATA_SETS) == 5


def test_a_half_unpacked_data_set_is_not_taken_for_the_whole(toy, tmp_path, monkeypatch):
    """A process killed while it unpacked left a folder that looks like a pair with few triples."""
    with monkeypatch.context() as patch:
        patch.setattr(archives.shutil, "rmtree", lambda *_, **__: None)
        patch.setattr(Path, "rename", killed)
        with pytest.raises(KeyboardInterrupt):
            get_data_set(toy, tmp_path)
    assert (tmp_path / "toy" / ".unpacked.unfinished" / "Toy" / "EN_DE").is_dir()
    assert local_pairs(toy, tmp_path) == []
    found = get_data_set(toy, tmp_path)
    assert [pair.relative_to(tmp_path).as_posix() for pair in found] == [
        "toy/unpacked/Toy/EN_DE",
        "toy/unpacked/Toy/EN_FR",
    ]


def killed(*_: object) -> None:
    raise KeyboardInterrupt
