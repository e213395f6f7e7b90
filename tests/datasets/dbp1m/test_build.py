"""The builder against an oracle, on dumps with the quirks of real ones."""

from __future__ import annotations

import hashlib
import json
from urllib.parse import unquote

import numpy as np
import pytest

import largeea
from largeea.datasets.dbp1m import build
from largeea.datasets.dbp1m.select import Sizes


def key(iri: str) -> str:
    return unquote(iri).replace("//en.dbpedia.org", "//dbpedia.org")


def content(graph):
    """Triples and entities of a graph by key."""
    entities = [key(iri) for iri in graph.entities.to_pylist()]
    relations = graph.relations.to_pylist()
    return {(entities[h], relations[r], entities[t]) for h, r, t in graph.triples.tolist()}, set(entities)


def links_of(pair):
    sources, targets = pair.source.entities.to_pylist(), pair.target.entities.to_pylist()
    return {(key(sources[s]), key(targets[t])) for s, t in pair.links.pairs.tolist()}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("layout", ["dbp1m", "openea"])
def test_it_is_what_the_oracle_says(make_build, seed, layout):
    made = make_build(seed, things=25 + 15 * (seed % 3))
    expected = made.world.oracle()
    assert expected.links
    assert len(expected.links) < expected.stated, "the world should have conflicts"
    for entities, unknown in zip(made.world.present(), expected.unknown, strict=True):
        assert unknown, "the world should have unknown entities"
        assert entities - unknown - {e for pair in expected.links for e in pair}, "and some that are left out"

    card = build(made.recipe, made.folder)

    pair = largeea.read(made.folder / layout)
    assert links_of(pair) == expected.links
    for side, graph in enumerate((pair.source, pair.target)):
        triples, entities = content(graph)
        assert triples == expected.triples[side]
        assert entities == expected.entities[side]
        figures = card["source" if side == 0 else "target"]
        assert figures["unknown"] == len(expected.unknown[side])
        assert figures["linked"] == len(expected.links)
        assert figures["entities"] == len(expected.entities[side])
        assert figures["triples"] == len(expected.triples[side])
    assert card["links"]["stated"] == expected.stated
    assert card["links"]["left_out_as_conflicting"] == expected.stated - len(expected.links)


def test_names_are_those_of_the_language_and_of_no_redirect(make_build):
    made = make_build()
    build(made.recipe, made.folder)
    pair = largeea.read(made.folder / "openea")
    for side, graph in enumerate((pair.source, pair.target)):
        own = made.world.languages[side]
        labels = {}
        for subject, text, tag in made.world.labels[side]:
            if tag == f"@{own}" and "Old_" not in subject:
                labels[key(subject)] = text.replace("\n", " ").strip()
        for iri, name in zip(graph.entities.to_pylist(), graph.names.to_pylist(), strict=True):
            if key(iri) in labels:
                assert name == labels[key(iri)]
        assert len(graph.attributes) == len(labels.keys() & {key(iri) for iri in graph.entities.to_pylist()})


def test_iris_are_kept_as_the_triples_spell_them(make_build):
    made = make_build()
    build(made.recipe, made.folder)
    pair = largeea.read(made.folder / "dbp1m")
    for side, graph in enumerate((pair.source, pair.target)):
        written = {
            end for s, p, o in made.world.statements[side] if "/ontology/wiki" not in p for end in (s, o)
        }
        assert set(graph.entities.to_pylist()) <= written
        assert any("%" in iri for iri in graph.entities.to_pylist())


def test_the_result_can_be_aligned(make_build):
    made = make_build(things=40)
    build(made.recipe, made.folder)
    pair = largeea.read(made.folder / "dbp1m")
    answer = largeea.align(pair.source, pair.target)
    true = set(map(tuple, pair.links.pairs.tolist()))
    found = set(map(tuple, answer.pairs[answer.accepted].tolist()))
    assert len(found & true) > 0.85 * len(true)


@pytest.mark.filterwarnings("ignore:6 malformed line")
def test_the_order_of_lines_and_dumps_leaves_no_trace(make_build, tmp_path):
    made = make_build()
    first = build(made.recipe, tmp_path / "one")
    other = make_build(seed=0, bad_lines=3)  # written anew, with other spellings of the same lines
    flipped = type(other.recipe)(
        other.recipe.source_dumps[::-1], other.recipe.target_dumps[::-1], other.recipe.languages
    )
    second = build(flipped, tmp_path / "two")
    assert first["files"] == second["files"]


def test_bad_lines_are_left_out_counted_and_listed(make_build):
    made = make_build(bad_lines=3)
    expected = made.world.oracle()
    with pytest.warns(
        largeea.LargeEAWarning, match=r"6 malformed line.* left out .* listed in .*rejects\.tsv"
    ):
        card = build(made.recipe, made.folder)
    assert links_of(largeea.read(made.folder / "dbp1m")) == expected.links
    assert [sum(dump["bad_lines"] for dump in card["dumps"][side]) for side in ("source", "target")] == [3, 3]
    rejects = (made.folder / "rejects.tsv").read_text().splitlines()
    assert len(rejects) == 1 + 6
    assert all("mappingbased_objects" in line for line in rejects[1:])


def test_too_many_bad_lines_end_the_build(make_build):
    made = make_build(bad_lines=3, max_errors=2)
    with pytest.raises(largeea.InputError, match=r"(?s)mappingbased_objects_en.*3 malformed line"):
        build(made.recipe, made.folder)


def test_the_masked_twin_has_the_same_shape_and_no_names(make_build):
    made = make_build()
    build(made.recipe, made.folder)
    pair, twin = largeea.read(made.folder / "dbp1m"), largeea.read(made.folder / "masked")
    for side, (graph, masked) in enumerate(((pair.source, twin.source), (pair.target, twin.target)), start=1):
        assert not masked.named.any()
        rows = [
            line.split("\t") for line in (made.folder / f"masked_key_{side}.tsv").read_text().splitlines()
        ]
        original = dict(rows)
        assert len(original) == len(rows) == graph.size
        names, relations = masked.entities.to_pylist(), masked.relations.to_pylist()
        unmasked = {
            (original[names[h]], relations[r], original[names[t]]) for h, r, t in masked.triples.tolist()
        }
        iris = graph.entities.to_pylist()
        assert unmasked == {(iris[h], relations[r], iris[t]) for h, r, t in graph.triples.tolist()}
        order = np.argsort([original[name] for name in names])
        assert abs(np.corrcoef(order, np.arange(len(order)))[0, 1]) < 0.5, "ids must not follow the IRIs"
    assert len(twin.links) == len(pair.links)


def test_masks_depend_on_the_seed_alone(make_build, tmp_path):
    made = make_build()
    keys = []
    for place, seed in (("a", 0), ("b", 0), ("c", 1)):
        build(type(made.recipe)(**{**vars(made.recipe), "seed": seed}), tmp_path / place)
        keys.append((tmp_path / place / "masked_key_1.tsv").read_bytes())
    assert keys[0] == keys[1] != keys[2]


def test_the_card_tells_the_truth_about_the_files(make_build):
    made = make_build()
    card = build(made.recipe, made.folder, command="largeea build-dbp1m ...")
    assert card == json.loads((made.folder / "card.json").read_text())
    for file in card["files"]:
        data = (made.folder / file["file"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (file["bytes"], file["sha256"])
    for side, dumps in (("source", made.recipe.source_dumps), ("target", made.recipe.target_dumps)):
        assert [dump["sha256"] for dump in card["dumps"][side]] == [
            hashlib.sha256(path.read_bytes()).hexdigest() for path in dumps
        ]
    readme = (made.folder / "README.md").read_text()
    assert "CC BY-SA" in readme
    assert "largeea build-dbp1m ..." in readme
    assert f"| in benchmark | {card['links']['in_benchmark']:,} |" in readme


def test_sizes_are_kept_and_filled_in_the_order_told(make_build):
    made = make_build(things=60)
    whole = build(made.recipe, made.folder)
    assert whole["links"]["in_benchmark"] > 12
    sizes = Sizes(links=12, source=15, target=13)
    card = build(type(made.recipe)(**{**vars(made.recipe), "sizes": sizes}), made.folder)
    assert card["links"]["in_benchmark"] == 12
    assert card["links"]["left_out_for_size"] == whole["links"]["in_benchmark"] - 12
    assert card["source"]["entities"] <= 15
    assert card["target"]["entities"] <= 13
    assert links_of(largeea.read(made.folder / "dbp1m")) < made.world.oracle().links


def test_one_layout_alone(make_build):
    made = make_build()
    build(made.recipe, made.folder)
    build(type(made.recipe)(**{**vars(made.recipe), "layouts": ("openea",)}), made.folder)
    assert not (made.folder / "dbp1m").exists()
    assert largeea.read(made.folder / "openea").links


def test_without_labels_the_openea_layout_is_still_readable(make_build):
    made = make_build()
    source, target = (
        tuple(dump for dump in dumps if "labels" not in dump.name)
        for dumps in (made.recipe.source_dumps, made.recipe.target_dumps)
    )
    card = build(type(made.recipe)(source, target, ("en", "fr")), made.folder)
    assert card["source"]["labels"] == 0
    assert links_of(largeea.read(made.folder / "openea")) == made.world.oracle().links
