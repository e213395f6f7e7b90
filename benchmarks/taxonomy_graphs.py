"""Clades of the NCBI taxonomy of 2021 and 2024 as two RDF graphs with opaque IRIs; used by `taxonomy.py`.

The folder of a clade holds

    source.nt, target.nt  an IRI for each taxon (a hash of its id, with another key on each side), its
                          scientific name as rdfs:label, edges to its parent and to the node of its rank
    links.tsv             source and target IRI of each taxon and each rank that is on both sides
    taxa.tsv              id, source IRI, target IRI, source name, target name; empty where a side lacks it
"""

from __future__ import annotations

import hashlib
import lzma
import os
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

DATA = Path(os.environ.get("LARGEEA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
CLADES = (
    "Mollusca",
    "Aves",
    "Fabaceae",
    "Orchidaceae",
    "Mammalia",
    "Aconoidasida",
    "Agaricales",
    "Anthomyiidae",
)
"""Five named in advance, then the alphabetically first class, order and family of 5,000 to 40,000 taxa."""

NAMESPACE = "http://taxonomy.example/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
LEAVES_DROPPED = 0.3
NAMES_ABBREVIATED = 0.4


@cache
def taxonomy(year: str) -> pa.Table:
    """All taxa of a year, sorted by id: columns id, parent (int64), rank, name (text)."""
    with lzma.open(DATA / "ncbi_taxonomy" / f"{year}.tsv.xz") as file:
        table = pa.csv.read_csv(
            file,
            read_options=pa.csv.ReadOptions(column_names=["id", "parent", "rank", "name"]),
            parse_options=pa.csv.ParseOptions(delimiter="\t", quote_char=False),
        )
    return table.sort_by("id").combine_chunks()


def clade(year: str, root: str) -> pa.Table:
    """The taxon of scientific name `root` and everything below it; the largest such clade of equal names."""
    table = taxonomy(year)
    ids = table["id"].to_numpy()
    parent = np.searchsorted(ids, table["parent"].to_numpy())
    roots = np.flatnonzero(pc.equal(table["name"], root).to_numpy())
    if not len(roots):
        raise SystemExit(f"no taxon of {year} is named {root!r}; give a scientific name such as Mollusca")
    members = [below(parent, taxon) for taxon in roots]
    return table.filter(pa.array(max(members, key=np.sum)))


def below(parent: np.ndarray, root: int) -> np.ndarray:
    """bool[n]: `root` and its descendants, where taxon i has the parent `parent[i]`."""
    member = np.zeros(len(parent), bool)
    member[root] = True
    while True:
        grown = member | member[parent]
        if (grown == member).all():
            return member
        member = grown


def without_some_leaves(taxa: pa.Table, rng: np.random.Generator) -> pa.Table:
    """The taxa without 30 % of the leaves."""
    leaf = ~np.isin(taxa["id"].to_numpy(), taxa["parent"].to_numpy())
    return taxa.filter(pa.array(~leaf | (rng.random(len(leaf)) >= LEAVES_DROPPED)))


def with_abbreviated_names(taxa: pa.Table, rng: np.random.Generator) -> pa.Table:
    """40 % of the names of two words or more have their first word abbreviated: "M. musculus"."""
    short = pc.replace_substring_regex(taxa["name"], r"^(\p{Lu})\S+ ", r"\1. ")
    chosen = pa.array(rng.random(len(taxa)) < NAMES_ABBREVIATED)
    return taxa.set_column(3, "name", pc.if_else(chosen, short, taxa["name"]))


def write_clade(folder: Path, name: str, *, hard: bool = False, itself: bool = False) -> None:
    """Write the graphs and links of one clade, unless `folder` has them."""
    if (folder / "taxa.tsv").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    source, target = clade("2024" if itself else "2021", name), clade("2024", name)
    if hard:
        rng = np.random.default_rng(0)
        source = without_some_leaves(source, rng)
        target = with_abbreviated_names(without_some_leaves(target, rng), rng)
    sides = [with_iris(taxa, side) for taxa, side in ((source, "source"), (target, "target"))]
    for taxa, side in zip(sides, ("source", "target"), strict=True):
        (folder / f"{side}.nt").write_text("".join(sorted(statements(taxa, side))), encoding="utf-8")
    both = sides[0].join(
        sides[1], "id", join_type="full outer", left_suffix="_source", right_suffix="_target"
    )
    columns = ["id", "iri_source", "iri_target", "name_source", "name_target"]
    both = both.sort_by("id").select(columns)
    ranks = sorted(set(source["rank"].to_pylist()) & set(target["rank"].to_pylist()))
    links = both.filter(pc.and_(pc.is_valid(both["iri_source"]), pc.is_valid(both["iri_target"])))
    lines = [
        f"{left}\t{right}\n"
        for left, right in zip(*(links[c].to_pylist() for c in columns[1:3]), strict=True)
    ]
    lines += [f"{rank_iri('source', rank)}\t{rank_iri('target', rank)}\n" for rank in ranks]
    (folder / "links.tsv").write_text("".join(sorted(lines)), encoding="utf-8")
    rows = zip(*(both[column].to_pylist() for column in columns), strict=True)
    text = "".join("\t".join("" if value is None else str(value) for value in row) + "\n" for row in rows)
    (folder / "taxa.tsv").write_text(text, encoding="utf-8")


def with_iris(taxa: pa.Table, side: str) -> pa.Table:
    """The taxa with a column of IRIs that do not reveal the id."""
    key = side.encode()
    digests = (
        hashlib.blake2b(str(i).encode(), key=key, digest_size=8).hexdigest() for i in taxa["id"].to_pylist()
    )
    return taxa.append_column("iri", pa.array([f"{NAMESPACE}{side}/{digest}" for digest in digests]))


def rank_iri(side: str, rank: str) -> str:
    """The IRI of a rank's node."""
    return f"{NAMESPACE}{side}/rank/{rank}"


def statements(taxa: pa.Table, side: str) -> list[str]:
    """The N-Triples lines of one graph."""
    iri_of = dict(zip(taxa["id"].to_pylist(), taxa["iri"].to_pylist(), strict=True))
    lines = []
    for row in taxa.to_pylist():
        subject = row["iri"]
        name = row["name"].replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'<{subject}> <{LABEL}> "{name}" .\n')
        lines.append(f"<{subject}> <{NAMESPACE}rank> <{rank_iri(side, row['rank'])}> .\n")
        if row["parent"] in iri_of and row["parent"] != row["id"]:
            lines.append(f"<{subject}> <{NAMESPACE}parent> <{iri_of[row['parent']]}> .\n")
    return lines
