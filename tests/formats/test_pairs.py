from __future__ import annotations

import numpy as np
import pytest
from contents import literals

from largeea.errors import InputError, UsageError
from largeea.formats import ReadOptions, files_of, read
from largeea.formats.naming import LABEL_PREDICATES
from largeea.formats.rejects import Rejects
from largeea.graph import Pair

OPENEA = {
    "rel_triples_1": "http://a/x\thttp://p/r\thttp://a/y\n",
    "rel_triples_2": "http://b/x\thttp://p/r\thttp://b/y\nhttp://b/x\thttp://p/r\thttp://b/y\n",
    "ent_links": "http://a/x\thttp://b/x\nhttp://a/Lonely_one\thttp://b/y\n",
}
DBP15K = {
    "ent_ids_1": "0\thttp://a/x\n1\thttp://a/y\n5\thttp://a/Lonely_one\n",
    "ent_ids_2": "2\thttp://b/x\n3\thttp://b/y\n4\thttp://b/z\n",
    "triples_1": "0\t0\t1\n1\t1\t0\n",
    "triples_2": "2\t0\t3\n3\t0\t2\n",
    "ref_ent_ids": "0\t2\n1\t3\n",
}
DBP1M = {
    "fr_triples_1": "http://en/x\thttp://p/r\thttp://en/y\n",
    "fr_triples_2": "http://fr/x\thttp://p/r\thttp://fr/y\n",
    "fr_ent_links": "http://en/x\thttp://fr/x\n",
}


@pytest.fixture
def folder(tmp_path):
    def make(content: dict[str, str | bytes]):
        for name, text in content.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode() if isinstance(text, str) else text)
        return tmp_path

    return make


def linked(pair: Pair, links=None) -> list[tuple[str, str]]:
    sources, targets = pair.source.entities.to_pylist(), pair.target.entities.to_pylist()
    return [(sources[s], targets[t]) for s, t in (pair.links if links is None else links).pairs.tolist()]


def test_openea(folder):
    pair = read(folder(OPENEA))
    assert isinstance(pair, Pair)
    assert pair.source.entities.to_pylist() == ["http://a/Lonely_one", "http://a/x", "http://a/y"]
    assert pair.source.names.to_pylist() == ["Lonely one", "x", "y"]
    assert pair.source.degrees().tolist() == [0, 1, 1]
    assert linked(pair) == [("http://a/Lonely_one", "http://b/y"), ("http://a/x", "http://b/x")]
    assert (pair.target.counts.statements, pair.target.counts.duplicates) == (2, 1)
    assert pair.folds == {}


def test_dbp15k(folder):
    pair = read(folder(DBP15K))
    assert pair.source.entities.to_pylist() == ["http://a/Lonely_one", "http://a/x", "http://a/y"]
    assert pair.source.relations.to_pylist() == ["0", "1"]
    assert pair.source.triples.tolist() == [[1, 0, 2], [2, 1, 1]]
    assert pair.target.size == 3
    assert linked(pair) == [("http://a/x", "http://b/x"), ("http://a/y", "http://b/y")]


def test_dbp15k_with_given_seeds(folder):
    pair = read(folder(DBP15K | {"ref_ent_ids": "0\t2\n", "sup_ent_ids": "1\t3\n5\t4\n"}))
    train, test = pair.folds["1"]
    assert linked(pair, test) == [("http://a/x", "http://b/x")]
    assert linked(pair, train) == [("http://a/Lonely_one", "http://b/z"), ("http://a/y", "http://b/y")]
    assert sorted(linked(pair)) == sorted(linked(pair, train) + linked(pair, test))


def test_dbp1m(folder):
    pair = read(folder(DBP1M))
    assert linked(pair) == [("http://en/x", "http://fr/x")]
    german = {name.replace("fr_", "de_"): text.replace("//fr", "//de") for name, text in DBP1M.items()}
    both = folder(german)
    with pytest.raises(UsageError, match="holds de, fr, but none was chosen; use --pair-language"):
        read(both)
    assert linked(read(both, ReadOptions(pair_language="de"))) == [("http://en/x", "http://de/x")]
    with pytest.raises(UsageError, match="holds de, fr, but 'ja' was chosen"):
        read(both, ReadOptions(pair_language="ja"))


@pytest.mark.parametrize("layout", [OPENEA, DBP15K])
def test_official_folds(folder, layout):
    numbered = layout is DBP15K
    one, two = (
        ("0\t2\n", "1\t3\n")
        if numbered
        else ("http://a/x\thttp://b/x\n", "http://a/Lonely_one\thttp://b/y\n")
    )
    folds = {
        f"721_5fold/{n}/{part}_links": text
        for n in (1, 2)
        for part, text in {"train": one, "valid": one, "test": two}.items()
    }
    pair = read(folder(layout | folds))
    assert list(pair.folds) == ["1", "2"]
    train, test = pair.folds["1"]
    assert sorted(linked(pair, train) + linked(pair, test)) == sorted(linked(pair))
    assert linked(pair, train) == [("http://a/x", "http://b/x")]


def test_attributes(folder):
    label = LABEL_PREDICATES[0]
    date = "http://www.w3.org/2001/XMLSchema#date"
    rows = {
        'plain, with "quotes" inside': ('plain, with "quotes" inside', ""),
        '"quoted"': ("quoted", ""),
        '"two words"@en-GB': ("two words", "@en-gb"),
        f'"1999-12-31"^^<{date}>': ("1999-12-31", date),
        f'"2000-01-01"^^{date}': ("2000-01-01", date),
        '"say "hi""@en': ('say "hi"', "@en"),
        "tabs\there\tand\tthere": ("tabs\there\tand\tthere", ""),
        '"quoted\twith tab"@fr': ("quoted\twith tab", "@fr"),
        '"open': ('"open', ""),
        "x@en": ("x@en", ""),
        "": ("", ""),
    }
    text = "".join(f"http://a/x\thttp://p/{i}\t{value}\n" for i, value in enumerate(rows))
    text += f"http://a/New\t{label}\tLabel of new\n"
    pair = read(folder(OPENEA | {"attr_triples_1": text}))
    found = {(predicate, value, tag) for _, predicate, value, tag in literals(pair.source)}
    assert found == {(f"http://p/{i}", *parts) for i, parts in enumerate(rows.values())} | {
        (label, "Label of new", "")
    }
    assert "http://a/New" in pair.source.entities.to_pylist()
    assert pair.source.counts.files == 2
    assert len(pair.target.attributes) == 0


def test_malformed_lines_are_counted_once(folder):
    content = OPENEA | {
        "ent_links": OPENEA["ent_links"] + "only one column\n",
        "rel_triples_2": OPENEA["rel_triples_2"] + "a\tb\n",
        "attr_triples_1": "a\n",
    }
    rejects = Rejects(max_errors=3)
    pair = read(folder(content), rejects=rejects)
    assert sorted((r.path.name, r.line) for r in rejects.lines) == [
        ("attr_triples_1", 1), ("ent_links", 3), ("rel_triples_2", 3),
    ]  # fmt: skip
    assert (pair.source.counts.rejected, pair.target.counts.rejected) == (1, 1)
    with pytest.raises(InputError, match=r"That makes 3 malformed line\(s\); 2 allowed"):
        read(folder(content), ReadOptions(max_errors=2))


@pytest.mark.parametrize(
    ("layout", "change", "message"),
    [
        (OPENEA, {"rel_triples_2": None}, "rel_triples_2: no such file"),
        (OPENEA, {"ent_links": None}, "ent_links: no such file"),
        (OPENEA, {"ent_links": "\n\n"}, "ent_links: holds no rows"),
        (OPENEA, {"ent_links": ""}, "ent_links: the file is empty"),
        (OPENEA, {"rel_triples_1": "a b c\n"}, r"rel_triples_1:1: 1 column\(s\) where 3 are needed"),
        (OPENEA, {"rel_triples_1": b"a\tb\tc\n\xff\tb\tc\n"}, "rel_triples_1:2: not UTF-8"),
        (OPENEA, {f"721_5fold/1/{part}_links": "a\tb\n" for part in ("train", "test")}, "links:1: links 'a'"),
        (DBP15K, {"triples_2": "2\t0\t3\n\n2\t0\t99\n"}, "triples_2:3: uses an entity number that"),
        (DBP15K, {"ref_ent_ids": "0\t2\n1\t77\n"}, "ref_ent_ids:2: links '77', which is not an entity"),
        (DBP15K, {"ent_ids_2": None}, "ent_ids_2: no such file"),
        (DBP15K, {"ent_ids_1": "0 http://a/x\n"}, r"ent_ids_1:1: 1 column\(s\) where 2 are needed"),
        (DBP1M, {"fr_ent_links": None}, "fr_ent_links: no such file"),
    ],
)  # fmt: skip
def test_broken_folders(folder, layout, change, message):
    path = folder({name: text for name, text in (layout | change).items() if text is not None})
    with pytest.raises(InputError, match=message):
        read(path)


def test_a_pair_reversed_is_the_same_pair(folder):
    pair = read(folder(OPENEA))
    back = pair.reversed()
    assert sorted((t, s) for s, t in linked(pair)) == sorted(linked(back))
    np.testing.assert_array_equal(back.reversed().links.pairs, pair.links.pairs)


def test_the_files_of_a_pair_are_those_that_are_read(folder):
    path = folder(OPENEA | {"721_5fold/1/train_links": "", "run/manifest.json": "{}", "run/stages/x": ""})
    assert [str(file.relative_to(path)) for file in files_of(path)] == [
        "721_5fold/1/train_links", "ent_links", "rel_triples_1", "rel_triples_2",
    ]  # fmt: skip
