from __future__ import annotations

import json
import mmap
from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save

from largeea.errors import InputError
from largeea.graph import Attributes, KnowledgeGraph, Links, ReadCounts, Strings, strings
from largeea.graph.edges import Edges
from largeea.runs.artifacts import FORMAT_VERSION, HEADER, KINDS, content_hash, load_artifact, save_artifact
from largeea.similarity import Similarity

often = settings(
    deadline=None,
    max_examples=40,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5) | st.sampled_from(["", "é漢🎉", "\x00"])
weights = st.floats(-1, 1, width=32)


LINKS = Links(np.array([[1, 2], [3, 4]]), np.array([0.5, 1]))
GRAPH = KnowledgeGraph(strings(["é", "b"]), strings([None, "B"]), strings(["r"]), np.array([[0, 0, 1]]))
PARTS = {"source": GRAPH, "seeds": LINKS, "numbers": {"size": 3, "shape": (2, 2), "none": None}}
MATRIX = Similarity.from_entries([0, 1], [1, 0], [0.5, 0.25], (2, 2))


@st.composite
def columns(draw: st.DrawFn, size: int, nulls: bool = False) -> Strings:
    """Text with or without nulls, at times the middle of a longer column."""
    value = st.none() | texts if nulls else texts
    column = strings(draw(st.lists(value, min_size=size, max_size=size)))
    return (
        pa.concat_arrays([strings(["before"]), column, strings(["after"])])[1:-1]
        if draw(st.booleans())
        else column
    )


def ids(rows: int, *sizes: int) -> st.SearchStrategy[Any]:
    row = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    listed = st.lists(row, min_size=rows, max_size=rows) if all(sizes) else st.just([])
    return listed.map(lambda found: np.array(found, np.int32).reshape(-1, len(sizes)))


@st.composite
def graphs(draw: st.DrawFn) -> KnowledgeGraph:
    size, relations, words = (draw(st.integers(0, 3)) for _ in range(3))
    rows = draw(st.integers(0, 3))
    attributes = Attributes(
        draw(ids(rows, size, words, words, words)), *(draw(columns(words)) for _ in range(3))
    )
    return KnowledgeGraph(
        draw(columns(size)),
        draw(columns(size, nulls=True)),
        draw(columns(relations)),
        draw(ids(rows, size, relations, size)),
        attributes,
        ReadCounts(*draw(st.tuples(*[st.integers(0, 9)] * 6))),
    )


@st.composite
def links(draw: st.DrawFn, sources: int = 9, targets: int = 9) -> Links:
    pairs = draw(ids(draw(st.integers(0, 4)), sources, targets))
    weight = hnp.arrays(np.float32, len(pairs), elements=weights)
    return Links(pairs, draw(st.none() | weight))


@st.composite
def similarities(draw: st.DrawFn) -> Similarity:
    shape = draw(st.tuples(st.integers(0, 4), st.integers(0, 4)))
    rows, targets = draw(hnp.arrays(bool, shape)).nonzero()
    scores = draw(hnp.arrays(np.float32, len(rows), elements=weights))
    return Similarity.from_entries(rows, targets, scores, shape, floor=draw(st.sampled_from([-1, -1.25])))


@st.composite
def edges(draw: st.DrawFn) -> Edges:
    nodes, relations = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    return Edges.of(draw(ids(draw(st.integers(0, 4)), nodes, relations, nodes)), nodes, relations)


kinds = st.one_of(links(), similarities(), graphs(), edges())
arrays = st.sampled_from(["?", "i1", "i4", "i8", "u1", "u2", "u8", "f2", "f4", "f8"]).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(max_dims=3, min_side=0, max_side=3))
)
numbers = st.integers(-(10**12), 10**12) | st.floats(allow_nan=False).map(lambda number: number + 0.0)
plain = st.booleans() | numbers | texts
parts = st.one_of(kinds, arrays, columns(2, nulls=True), st.none(), plain, st.lists(plain).map(tuple))
values = (
    kinds
    | arrays
    | st.recursive(
        st.dictionaries(texts, parts, max_size=3), lambda inner: st.dictionaries(texts, inner, max_size=2)
    )
)


def content(value: Any) -> Any:
    """What a value holds, as plain lists that compare."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, pa.Array):
        return str(value.type), value.to_pylist()
    if hasattr(value, "__dataclass_fields__"):
        parts = {name: content(getattr(value, name)) for name in value.__dataclass_fields__}
        return type(value).__name__, parts
    if isinstance(value, dict):
        return {name: content(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [content(part) for part in value]
    return type(value).__name__, value


@often
@given(values)
def test_round_trip(tmp_path: Path, value: Any) -> None:
    sha256 = save_artifact(value, tmp_path / "value")
    assert content(load_artifact(tmp_path / "value", sha256)) == content(value)


@often
@given(kinds)
def test_an_unchecked_result_has_the_same_fields(tmp_path: Path, value: Any) -> None:
    """Fields have the types that the constructor gives them: tuples, and arrays that cannot be written."""
    sha256 = save_artifact(value, tmp_path / "value")
    checked = load_artifact(tmp_path / "value", sha256)
    unchecked = load_artifact(tmp_path / "value", checked=False)
    assert content(unchecked) == content(value)
    for name in value.__dataclass_fields__:
        one, other = getattr(checked, name), getattr(unchecked, name)
        assert type(one) is type(other)
        assert not isinstance(other, np.ndarray) or not other.flags.writeable


@often
@given(values, values)
def test_hashes_are_equal_if_and_only_if_the_content_is(one: Any, other: Any) -> None:
    assert (content_hash(one) == content_hash(other)) == (content(one) == content(other))


@pytest.mark.parametrize("other", [["a", "b", None, "c"], ["ab", None, None, "c"], ["ab", "", "", "c"]])
def test_the_smallest_changes_change_the_hash(other: list[str | None]) -> None:
    """A letter moves to the next name; an empty name becomes none, or none becomes an empty one."""

    def hashed(names: list[str | None]) -> str:
        graph = KnowledgeGraph(strings("wxyz"), strings(names), strings(), np.empty((0, 3)))
        return content_hash({"source": graph, "target": GRAPH})

    names = ["ab", "", None, "c"]
    assert hashed(names) == hashed(list(names))
    assert hashed(names) != hashed(other)


def test_the_hash_sees_how_a_column_is_read_not_how_it_is_stored() -> None:
    def hashed(names: Strings) -> str:
        graph = KnowledgeGraph(strings("xy"), names, strings(), np.empty((0, 3)))
        return content_hash(graph)

    padded = pa.LargeStringArray.from_buffers(
        2, pa.py_buffer(np.array([3, 4, 5], np.int64)), pa.py_buffer(b"***ab***")
    )
    masked = pa.LargeStringArray.from_buffers(
        2,
        pa.py_buffer(np.array([0, 1, 9], np.int64)),
        pa.py_buffer(b"a--------"),
        pa.py_buffer(b"\x01"),
    )
    assert padded.to_pylist() == ["a", "b"]
    assert masked.to_pylist() == ["a", None]
    assert hashed(padded) == hashed(strings(["a", "b"])) == hashed(pa.array(["a", "b"]))
    assert hashed(masked) == hashed(strings(["a", None]))
    assert hashed(strings(["q", "a", "b"])[1:]) == hashed(padded)


def test_a_weightless_link_is_not_one_with_weight() -> None:
    assert content_hash(Links.none()) != content_hash(Links(np.empty((0, 2)), np.empty(0)))


def test_same_value_same_bytes(tmp_path: Path) -> None:
    """Often, because the order of several metadata entries would change from call to call."""
    assert len({save_artifact(LINKS, tmp_path / "links") for _ in range(20)}) == 1


@pytest.mark.parametrize("value", [LINKS, PARTS, MATRIX])
def test_other_programs_can_read_it(tmp_path: Path, value: Any) -> None:
    save_artifact(value, tmp_path / "value")
    with safe_open(tmp_path / "value", framework="numpy") as file:
        names = list(file.keys())
        assert any(name.endswith(("pairs", "scores", "triples")) for name in names)
        assert all(file.get_tensor(name) is not None for name in names)


def test_arrays_are_views_of_the_file(tmp_path: Path) -> None:
    """A loaded result takes no memory of its own; it stays what it was when its file is replaced."""
    value = {"small": np.arange(3, dtype=np.int8), "large": np.arange(5.0), "matrix": MATRIX}
    save_artifact(value, tmp_path / "value")
    loaded = load_artifact(tmp_path / "value")
    for array in (loaded["small"], loaded["large"], loaded["matrix"].scores, loaded["matrix"].indptr):
        owner = array
        while isinstance(owner, np.ndarray):
            owner = owner.base
        assert isinstance(owner.obj if isinstance(owner, memoryview) else owner, mmap.mmap)
        assert array.flags.aligned
        assert not array.flags.writeable
    save_artifact({"large": np.zeros(5)}, tmp_path / "value")
    assert loaded["large"].tolist() == [0, 1, 2, 3, 4]


def test_every_kind_is_covered() -> None:
    covered = {Attributes, Edges, KnowledgeGraph, Links, ReadCounts, Similarity}
    assert set(KINDS.values()) == covered, "add a strategy for the new kind to `kinds`"


@pytest.mark.parametrize("value", [{1, 2}, {"a": object()}, [np.zeros(3)], (np.zeros(3),), b"bytes"])
def test_what_cannot_be_read_without_running_code_is_not_written(tmp_path: Path, value: Any) -> None:
    with pytest.raises(TypeError, match=r"a result of type \w+ cannot be stored"):
        save_artifact(value, tmp_path / "value")
    assert not list(tmp_path.iterdir())


# Files that are not right


@often
@given(st.sampled_from([LINKS, PARTS, MATRIX]), st.data())
def test_truncated_files(tmp_path: Path, value: Any, data: st.DataObject) -> None:
    path = tmp_path / "value"
    save_artifact(value, path)
    whole = path.read_bytes()
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(InputError, match="is not a readable artifact"):
        load_artifact(path)


@settings(often, max_examples=150)
@given(st.sampled_from([LINKS, PARTS, MATRIX]), st.data())
def test_damaged_files(tmp_path: Path, value: Any, data: st.DataObject) -> None:
    """Any byte may flip: with the hash it is always noticed; without, it is an error or a valid value."""
    path = tmp_path / "value"
    sha256 = save_artifact(value, path)
    damaged = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(damaged) - 1))
    damaged[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(damaged)
    with pytest.raises(InputError, match="is not what was written there"):
        load_artifact(path, sha256)
    try:
        loaded = load_artifact(path)
    except InputError:
        return
    content_hash(loaded)


@often
@given(st.binary(max_size=200))
def test_foreign_bytes(tmp_path: Path, junk: bytes) -> None:
    (tmp_path / "junk").write_bytes(junk)
    with pytest.raises(InputError, match="is not a readable artifact"):
        load_artifact(tmp_path / "junk")


def described(kind: Any, **parts: Any) -> dict[str, Any]:
    return {"kind": kind, "parts": {name: {"kind": part} for name, part in parts.items()}}


def header(value: Any, format_version: int = FORMAT_VERSION) -> dict[str, str]:
    return {HEADER: json.dumps({"format": format_version, "value": value})}


LINKS_HEADER = described("Links", pairs="array")


def test_a_header_written_by_hand_is_read(tmp_path: Path) -> None:
    (tmp_path / "links").write_bytes(save({"/pairs": np.ones((1, 2), np.int32)}, header(LINKS_HEADER)))
    assert load_artifact(tmp_path / "links").pairs.tolist() == [[1, 1]]


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (None, "is not a readable artifact"),
        ({"other": "x"}, "is not a readable artifact"),
        ({HEADER: "{"}, "is not a readable artifact"),
        ({HEADER: "[]"}, "is not a readable artifact"),
        (header(LINKS_HEADER, 99), "has format 99; this release reads 2"),
        ({HEADER: '{"kind": "Links", "format": 1, "settings": {}}'}, "has format 1; this release reads 2"),
        (header(described("Picture", pairs="array")), "is not a readable artifact"),
        (header(described("Similarity", pairs="array")), "is not a readable artifact"),
        (header(described("Links", weight="array")), "is not a readable artifact"),
        (header(described("Links", pairs="strings")), "is not a readable artifact"),
        (header(described(["Links"], pairs="array")), "is not a readable artifact"),
        (header({"kind": "Links"}), "is not a readable artifact"),
        (header("Links"), "is not a readable artifact"),
        (header(None), "is not a readable artifact"),
    ],
)
def test_foreign_safetensors(tmp_path: Path, metadata: dict[str, str] | None, message: str) -> None:
    (tmp_path / "foreign").write_bytes(save({"/pairs": np.zeros((1, 2), np.int32)}, metadata))
    with pytest.raises(InputError, match=message):
        load_artifact(tmp_path / "foreign")


@pytest.mark.parametrize(
    ("value", "name", "array"),
    [
        (LINKS, "/pairs", None),
        (LINKS, "/pairs", np.zeros(3, np.int32)),
        (LINKS, "/weight", np.zeros(1, np.float32)),
        (MATRIX, "/indices", np.array([5, 0], np.int32)),
        (MATRIX, "/indptr", np.array([0, 9, 2])),
        (MATRIX, "/indptr", np.array([0, 2])),
        (MATRIX, "/scores", np.array([np.nan, 0.5], np.float32)),
        (PARTS, "/source/names.offsets", None),
        (PARTS, "/source/names.offsets", np.array([0, 10**6, 10**9])),
        (PARTS, "/source/names.offsets", np.array([-8, 0, 1])),
        (PARTS, "/source/names.offsets", np.array([0, 0, 1], np.uint8)),
        (PARTS, "/source/names.offsets", np.empty(0, np.int64)),
        (PARTS, "/source/names.valid", np.array([True])),
        (PARTS, "/source/entities.bytes", np.array([255, 255, 255], np.uint8)),
        (PARTS, "/source/triples", np.array([[0, 0, 9]], np.int32)),
        (PARTS, "/source/triples", np.array([[0, 0, -1]], np.int32)),
        (PARTS, "/source/attributes/rows", np.array([[0, 0, 0, 0]], np.int32)),
        (PARTS, "/seeds/pairs", np.array([[0, 1]], np.int32)),
    ],
)
def test_well_formed_files_with_wrong_content(tmp_path: Path, value: Any, name: str, array: Any) -> None:
    path = tmp_path / "value"
    save_artifact(value, path)
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
        arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    assert name in arrays
    arrays = {key: kept for key, kept in (arrays | {name: array}).items() if kept is not None}
    path.write_bytes(save(arrays, metadata))
    with pytest.raises(InputError, match="is not a readable artifact"):
        load_artifact(path)


def test_no_file(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        for sha256 in (None, "0" * 64):
            with pytest.raises(InputError, match="is not a readable artifact") as error:
                load_artifact(path, sha256)
            assert str(error.value).startswith(f"{path}: ")
