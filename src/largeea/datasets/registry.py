"""Published benchmarks: download address, contents, licence, and whether they are present locally.

Checksums are those on which public programs agree. If a data set has no direct address, `get` says where to
fetch the file by hand. If it has no known checksum, that of the first download is recorded and later
downloads must match it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from largeea.datasets.archives import can_unpack, is_unfinished, unpack
from largeea.datasets.download import check, download
from largeea.errors import ResourceError, UsageError
from largeea.formats.pairs import is_pair_folder
from largeea.progress import note, step

FOLDER_VARIABLE = "LARGEEA_DATA"
_DEPTH = 5
"""Folder levels below a data set's own folder that are searched for pairs."""


@dataclass(frozen=True)
class DataSet:
    """A published benchmark.

    `url` is the address of the archive `file`, or None if it must be fetched by hand. `size` (in bytes) and
    `checksum` (`sha256:...` or `sha512:...`) are given where known. `folders` are the usual names of folders
    with its unpacked parts.
    """

    name: str
    title: str
    holds: str
    page: str
    fetch_page: str
    file: str
    url: str | None
    size: int | None
    checksum: str | None
    licence: str
    citation: str
    folders: tuple[str, ...]


_OPENEA_PAPER = (
    "Sun, Zhang, Hu, Wang, Chen, Akrami, Li: A Benchmarking Study of Embedding-based Entity Alignment for "
    "Knowledge Graphs. PVLDB 13(11), 2020"
)
_OPENEA_HOLDS = (
    "IDS15K and IDS100K: EN-FR, EN-DE, D-W, D-Y, each as V1 (real degrees) and V2 (dense), with five folds"
)
_FROM_DBPEDIA = "data from DBpedia (CC BY-SA 3.0)"
_SEE_PAGE = "the repository's own terms are on its page"

DATA_SETS = {
    known.name: known
    for known in (
        DataSet(
            name="openea-v1.1",
            title="OpenEA / IDS, version 1.1 (names in IRIs)",
            holds=_OPENEA_HOLDS,
            page="https://github.com/nju-websoft/OpenEA",
            fetch_page="https://figshare.com/articles/dataset/OpenEA_dataset_v1_1/19258760/2",
            file="OpenEA_dataset_v1.1.zip",
            url="https://www.dropbox.com/s/nzjxbam47f9yk3d/OpenEA_dataset_v1.1.zip?dl=1",
            size=None,
            checksum="sha512:b7d1465c60130a02e9eec85e43841bb2d777fd2d13133f06c29d5507bc12cb29"
            "ebec1065319a5d746fe261ee459dba7c16d61095d7cc7038274dc63932e93029",
            licence=f"{_FROM_DBPEDIA}, Wikidata (CC0) and YAGO (CC BY); the repository is under GPL-3.0",
            citation=_OPENEA_PAPER,
            folders=("OpenEA_dataset_v1.1", "ids15k_*", "ids100k_*", "d_w_15k_v1"),
        ),
        DataSet(
            name="openea-v2.0",
            title="OpenEA / IDS, version 2.0 (IRIs encoded, so that names give nothing away)",
            holds=_OPENEA_HOLDS,
            page="https://github.com/nju-websoft/OpenEA",
            fetch_page="https://figshare.com/articles/dataset/OpenEA_dataset_v1_1/19258760/3",
            file="OpenEA_dataset_v2.0.zip",
            url="https://figshare.com/ndownloader/files/34234391",
            size=248_800_649,
            checksum="sha256:37adcaf4a7ed33530a39b637da7329e891456bfc89557d8b1ac307c67eb8f5bc",
            licence=f"{_FROM_DBPEDIA}, Wikidata (CC0) and YAGO (CC BY); the repository is under GPL-3.0",
            citation=_OPENEA_PAPER,
            folders=("OpenEA_dataset_v2.0",),
        ),
        DataSet(
            name="dbp15k",
            title="DBP15K",
            holds="ZH-EN, JA-EN, FR-EN with 15,000 links each, split for 10 to 50 % seeds (0_1 to 0_5)",
            page="https://github.com/nju-websoft/JAPE",
            fetch_page="https://github.com/nju-websoft/JAPE/tree/master/data",
            file="dbp15k.tar.gz",
            url="https://github.com/nju-websoft/JAPE/raw/master/data/dbp15k.tar.gz",
            size=None,
            checksum="sha512:a3bcee42dd0ecfd7188be36c57b9ec6d57b2995d0cf6a17e8fd6f302b4e70d2f"
            "c354282f7f7130040bcdcc6c7a55eab7a3af4c361fb1fd98c376bda1490e3f9d",
            licence=f"{_FROM_DBPEDIA}; {_SEE_PAGE}",
            citation="Sun, Hu, Li: Cross-lingual Entity Alignment via Joint Attribute-Preserving Embedding. "
            "ISWC 2017",
            folders=("dbp15k*",),
        ),
        DataSet(
            name="srprs",
            title="SRPRS",
            holds="EN-FR, EN-DE, D-W, D-Y with 15,000 links each, with the degrees of the real graphs",
            page="https://github.com/nju-websoft/RSN",
            fetch_page="https://github.com/nju-websoft/RSN/blob/master/entity-alignment-full-data.7z",
            file="entity-alignment-full-data.7z",
            url="https://github.com/nju-websoft/RSN/raw/master/entity-alignment-full-data.7z",
            size=None,
            checksum=None,
            licence=f"{_FROM_DBPEDIA}, Wikidata (CC0) and YAGO (CC BY); {_SEE_PAGE}",
            citation="Guo, Sun, Hu: Learning to Exploit Long-term Relational Dependencies in Knowledge "
            "Graphs. ICML 2019",
            folders=("srprs*", "entity-alignment-full-data"),
        ),
        DataSet(
            name="dbp1m",
            title="DBP1M, the benchmark of the LargeEA paper",
            holds="EN-FR (1,877,793 and 1,365,118 entities) and EN-DE (1,625,999 and 1,112,970), about a "
            "million links each, unknown entities on all sides",
            page="https://github.com/ZJU-DAILY/LargeEA",
            fetch_page="https://drive.google.com/file/d/15jeGD-6pVGlqI5jCn7KJfGIER6AeoQ-L/view",
            file="mkdata.zip",
            url=None,
            size=None,
            checksum=None,
            licence=f"{_FROM_DBPEDIA}; {_SEE_PAGE}",
            citation="Ge, Liu, Chen, Zheng, Gao: LargeEA: Aligning Entities for Large-scale Knowledge "
            "Graphs. PVLDB 15(2), 2022",
            folders=("dbp1m*", "mkdata"),
        ),
    )
}


def find_data_set(name: str) -> DataSet:
    """Return the data set with this name; raises an error for an unknown name."""
    if name not in DATA_SETS:
        raise UsageError(f"unknown data set {name!r}; known: {', '.join(DATA_SETS)}")
    return DATA_SETS[name]


def data_folder() -> Path:
    """The folder for data sets: $LARGEEA_DATA, or `data` in the working directory."""
    return Path(os.environ.get(FOLDER_VARIABLE) or "data")


def local_pairs(known: DataSet, folder: Path) -> list[Path]:
    """Sorted pair folders of a data set that exist locally, in its own folder or under a usual name."""
    names = {known.name, *known.folders}
    places = {place for name in names for place in _matching(folder, name)}
    return sorted({pair for place in places for pair in _pairs_below(place, _DEPTH)})


def get_data_set(known: DataSet, folder: Path) -> list[Path]:
    """Return the pair folders of a data set; downloads and unpacks what is missing."""
    if pairs := local_pairs(known, folder):
        note(f"{known.name} is there already")
        return pairs
    archive = folder / known.name / known.file
    if not archive.is_file():
        if known.url is None:
            raise ResourceError(f"{known.name} cannot be fetched by a program. {by_hand(known, archive)}")
        with step(f"download {known.file}"):
            download(known.url, archive, known.checksum, known.size, help=by_hand(known, archive))
    check(archive, known.checksum)
    if not can_unpack(archive):
        raise ResourceError(
            f"{archive} is here, but only other programs unpack it: 7z x -o{archive.parent} {archive}"
        )
    with step(f"unpack {known.file}"):
        unpack(archive, archive.parent / "unpacked")
    pairs = local_pairs(known, folder)
    if not pairs:
        raise ResourceError(f"{archive} is unpacked, but holds no pair of graphs in a known layout")
    return pairs


def by_hand(known: DataSet, archive: Path) -> str:
    """Instructions for fetching or unpacking the data set by hand."""
    return (
        f"By hand: fetch {known.file} from {known.fetch_page} (see {known.page}), save it as {archive} "
        f"and run 'largeea data get {known.name}' again"
    )


def _matching(folder: Path, pattern: str) -> Iterator[Path]:
    if folder.is_dir():
        for place in folder.iterdir():
            if place.is_dir() and Path(place.name.lower()).match(pattern.lower()):
                yield place


def _pairs_below(place: Path, depth: int) -> Iterator[Path]:
    if is_pair_folder(place):
        yield place
    elif depth:
        for inner in place.iterdir():
            if inner.is_dir() and not is_unfinished(inner):
                yield from _pairs_below(inner, depth - 1)
