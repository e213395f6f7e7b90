"""A folder with everything that the commands of the pages name: graphs, links, runs, benchmarks."""

from __future__ import annotations

import bz2
import gzip
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from largeea import align_files
from largeea.datasets.demo import demo_pair
from largeea.datasets.openea_layout import write_pair
from largeea.datasets.synth import find_twin, synthetic_pair
from pages import ROOT

KNOWN = 100
CHANGED = 5
"""Statements of `old.nt` that `new.nt` lacks."""
BENCHMARKS = ("ids15k_en_de_v1", "dbp15k_fr_en", "dbp15k_zh_en", "small")


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once: the demo pair as RDF with two finished runs, and a small benchmark under several names."""
    folder = tmp_path_factory.mktemp("prepared")
    write_pair(demo_pair(), folder / "pair")
    for name, side in (("a", 1), ("b", 2)):
        content = _n_triples(folder / "pair", side).encode()
        for suffix in (".nt", ".ttl"):
            (folder / f"{name}{suffix}").write_bytes(content)
        (folder / f"{name}.nt.gz").write_bytes(gzip.compress(content, 1))
        (folder / f"{name}.nt.bz2").write_bytes(bz2.compress(content, 1))
    for name, origin in (("old.nt", "a.nt"), ("target.nt", "b.nt")):
        shutil.copy(folder / origin, folder / name)
    (folder / "new.nt").write_text(
        "".join((folder / "old.nt").read_text("utf-8").splitlines(True)[CHANGED:]), "utf-8"
    )
    links = (folder / "pair" / "ent_links").read_text().splitlines()
    (folder / "true_links.tsv").write_text("\n".join(links) + "\n")
    (folder / "known.tsv").write_text("\n".join(links[:KNOWN]) + "\n")
    source, target = zip(*(line.split("\t") for line in links[:2]), strict=True)
    (folder / "wrong.tsv").write_text(f"{source[0]}\t{target[1]}\n")
    for name, config in (("run", {}), ("other_run", {"without": ["evidence"]})):
        align_files(folder / "a.nt", folder / "b.nt", folder / name, config=config)
    shutil.copy(folder / "run" / "alignment.sssom.tsv", folder / "known.sssom.tsv")
    workbook = ROOT / "tests" / "formats" / "sound_files" / "records.xlsx"
    shutil.copy(workbook, folder / "companies.xlsx")
    for name in BENCHMARKS:
        write_pair(synthetic_pair(find_twin("ids15k-en-fr").scaled(0.02), seed=1), folder / name)
    return folder


@pytest.fixture
def place(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of one page: a copy of what is prepared, and the folders of the repository."""
    folder = tmp_path / "place"
    shutil.copytree(prepared, folder)
    for name in ("examples", "benchmarks", "docs"):
        (folder / name).symlink_to(ROOT / name)
    monkeypatch.chdir(folder)
    return folder


def _n_triples(pair: Path, side: int) -> str:
    """One side of a pair in the OpenEA layout as N-Triples."""
    lines = []
    for line in (pair / f"rel_triples_{side}").read_text("utf-8").splitlines():
        head, relation, tail = line.split("\t")
        lines.append(f"<{head}> <{relation}> <{tail}> .\n")
    for line in (pair / f"attr_triples_{side}").read_text("utf-8").splitlines():
        entity, predicate, value = line.split("\t")
        lines.append(f'<{entity}> <{predicate}> "{value}" .\n')
    return "".join(lines)
