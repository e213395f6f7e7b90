"""Text in other encodings is read like UTF-8, and no encoding leads around a guard."""

from __future__ import annotations

import codecs
import gzip
import io
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.errors import InputError
from largeea.formats import read_graph
from largeea.formats.encodings import Utf8Stream
from largeea.formats.links import read_links
from largeea.formats.rejects import Rejects
from largeea.formats.streams import open_bytes

often = settings(deadline=None, max_examples=60, database=None, derandomize=True)
MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
GRAPH = (
    f'<rdf:RDF {RDF} xmlns:x="urn:x:">\n<rdf:Description rdf:about="urn:a"><x:p>%s</x:p>'
    '<x:q rdf:resource="urn:b"/></rdf:Description></rdf:RDF>\n'
)
CELL = '<entity1 rdf:resource="urn:%s"/><entity2 rdf:resource="urn:b"/><measure>1.0</measure>'
LINKS = f'<rdf:RDF {RDF} xmlns="http://x/"><Alignment><map>\n<Cell>{CELL}</Cell></map></Alignment></rdf:RDF>'
DECLARED = '<?xml version="1.0" encoding="%s"?>\n'
SYNTAXES = {
    "a.nt": '<urn:a> <urn:x:p> "%s" .\n<urn:a> <urn:x:q> <urn:b> .\n',
    "a.nq": '<urn:a> <urn:x:p> "%s" <urn:g> .\n<urn:a> <urn:x:q> <urn:b> .\n',
    "a.ttl": '@prefix x: <urn:x:> .\n<urn:a> x:p "%s" ; x:q <urn:b> .\n',
    "a.trig": '@prefix x: <urn:x:> .\n<urn:g> { <urn:a> x:p "%s" ; x:q <urn:b> }\n',
    "a.rdf": GRAPH,
    "a.jsonld": '{"@id": "urn:a", "urn:x:p": "%s", "urn:x:q": {"@id": "urn:b"}}\n',
    "no_suffix": '@prefix x: <urn:x:> .\n<urn:a> x:p "%s" ; x:q <urn:b> .\n',
}


def value_in(path) -> str:
    graph = read_graph(path)
    assert graph.size == 2
    (value,) = graph.attributes.values.to_pylist()
    return value


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ("windows-1252", "café “quoted” €"),
        ("Windows-1252", "café"),
        ("ISO-8859-1", "café"),
        ("iso-8859-15", "€uro"),
        ("windows-1251", "Москва"),
        ("KOI8-R", "Москва"),
        ("Shift_JIS", "東京"),
        ("EUC-KR", "서울"),
        ("GB18030", "北京\U0001f5fc"),
        ("Big5", "臺北"),
        ("US-ASCII", "plain"),
        ("macintosh", "naïve"),
        ("UTF-8", "中 é"),
    ],
)
def test_xml_is_read_in_the_encoding_that_it_declares(tmp_path, declared, text):
    for name, compress in (("a.rdf", bytes), ("a.owl.gz", gzip.compress), ("no_suffix", bytes)):
        path = tmp_path / name
        path.write_bytes(compress((DECLARED % declared + GRAPH % text).encode(declared)))
        assert value_in(path) == text
    path = tmp_path / "links.rdf"
    path.write_bytes((DECLARED % declared + LINKS % text.replace(" ", "")).encode(declared))
    assert read_links(path).source.to_pylist() == [f"urn:{text.replace(' ', '')}"]


@pytest.mark.parametrize("name", SYNTAXES)
@pytest.mark.parametrize("encoding", MARKS)
def test_a_byte_order_mark_says_the_encoding(tmp_path, name, encoding):
    path = tmp_path / name
    path.write_bytes(MARKS[encoding] + (SYNTAXES[name] % "中 é").encode(encoding))
    assert value_in(path) == "中 é"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("declaration", ["", DECLARED % "UTF-16", DECLARED % "utf-8"])
@pytest.mark.parametrize("mark", [True, False])
def test_xml_in_utf16(tmp_path, encoding, declaration, mark):
    path = tmp_path / "a.rdf"
    text = declaration + GRAPH % ("中" * 50)
    path.write_bytes((MARKS[encoding] if mark else b"") + text.encode(encoding))
    assert value_in(path) == "中" * 50
    links = tmp_path / "links.rdf"
    links.write_bytes((MARKS[encoding] if mark else b"") + (declaration + LINKS % "é").encode(encoding))
    assert read_links(links).source.to_pylist() == ["urn:é"]


@pytest.mark.parametrize("encoding", MARKS)
def test_tables_and_links_in_text(tmp_path, encoding):
    for name, text in {"a.csv": 'ä,p,"b\nc"\n', "a.tsv": "ä\tp\tb\n"}.items():
        (tmp_path / name).write_bytes(MARKS[encoding] + text.encode(encoding))
        assert read_graph(tmp_path / name).entities.to_pylist()[-1] == "ä"
    for name, text in {
        "l.tsv": "source\ttarget\nurn:ä\turn:b\n",
        "l.nt": "<urn:ä> <http://www.w3.org/2002/07/owl#sameAs> <urn:b> .\n",
        "l.sssom.tsv": "#curie_map:\n#  u: urn:\nsubject_id\tpredicate_id\tobject_id\nu:ä\towl:sameAs\tu:b\n",
    }.items():
        (tmp_path / name).write_bytes(MARKS[encoding] + text.encode(encoding))
        assert read_links(tmp_path / name).source.to_pylist() == ["urn:ä"]


def test_a_declaration_that_cannot_be_true_is_passed_over(tmp_path):
    """A readable declaration of UTF-16 is not in UTF-16; a byte-order mark is stronger than a declaration."""
    (tmp_path / "a.rdf").write_text(DECLARED % "UTF-16" + GRAPH % "é")
    assert value_in(tmp_path / "a.rdf") == "é"
    (tmp_path / "b.rdf").write_bytes(codecs.BOM_UTF8 + (DECLARED % "windows-1252" + GRAPH % "é").encode())
    assert value_in(tmp_path / "b.rdf") == "é"


def test_only_the_declaration_is_changed(tmp_path):
    declaration = "<?xml\tversion = '1.0'\n encoding = 'latin1' standalone='yes'?>"
    inside = "<!-- <?xml version='1.0' encoding='latin1'?> -->\r\n<a/>"
    (tmp_path / "a.xml").write_bytes((declaration + inside).encode("latin-1"))
    with open_bytes(tmp_path / "a.xml") as stream:
        assert stream.read().decode() == declaration.replace("'latin1'", '"UTF-8"') + inside
    turtle = "# <?xml version='1.0' encoding='latin1'?>\n"
    (tmp_path / "a.ttl").write_bytes(turtle.encode())
    with open_bytes(tmp_path / "a.ttl") as stream:
        assert stream.read().decode() == turtle


@often
@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"), min_size=1, max_size=60),
    st.sampled_from(sorted(MARKS)),
    st.lists(st.integers(1, 9), min_size=1),
)
def test_text_may_be_read_in_any_pieces(text, encoding, sizes):
    raw = io.BytesIO(MARKS[encoding] + (text * 300).encode(encoding))
    stream = Utf8Stream(raw, "x")
    found, size = b"", 0
    while part := stream.read(sizes[size % len(sizes)] * 40):
        found, size = found + part, size + 1
    assert found.decode() == text * 300


# What cannot be read


@pytest.mark.parametrize(
    "name", ["klingon", "rot13", "rot_13", "zip", "zlib_codec", "idna", "punycode", "utf-7", "UTF7", "hex",
             "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "base64", "uu", "", "a" * 3000]
)  # fmt: skip
def test_an_unknown_encoding_is_named(tmp_path, name):
    for reader, content in ((read_graph, GRAPH), (read_links, LINKS)):
        path = tmp_path / "a.rdf"
        path.write_text(DECLARED % name + content % "x")
        with pytest.raises(
            InputError, match=r"a\.rdf:1: declares the encoding '.*', which is not known"
        ) as caught:
            reader(path)
        assert "convert the file to UTF-8" in str(caught.value)
        assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("declared", "wrong", "byte"),
    [("windows-1252", b"\x81", "81"), ("US-ASCII", b"\xe9", "e9"), ("Shift_JIS", b"\xff", "ff")],
)
def test_bytes_that_are_not_in_the_encoding_have_a_place(tmp_path, declared, wrong, byte):
    for reader, content in ((read_graph, GRAPH), (read_links, LINKS)):
        for before in ("x", "x\n" * 400_000):
            path = tmp_path / "a.rdf"
            text = (DECLARED % declared + content % f"{before}|").encode().replace(b"|", wrong)
            path.write_bytes(text)
            line = 3 + before.count("\n")
            message = rf"a\.rdf:{line}: byte 0x{byte} is not valid in {declared}"
            with pytest.raises(InputError, match=message):
                reader(path)


def test_half_a_character_at_the_end_is_named(tmp_path):
    for name in SYNTAXES:
        path = tmp_path / name
        path.write_bytes(codecs.BOM_UTF16_LE + (SYNTAXES[name] % "x").encode("utf-16-le") + b"\n")
        with pytest.raises(InputError, match="is not valid in UTF-16-LE"):
            read_graph(path, rejects=Rejects(0))


def test_xml_that_is_not_utf8_and_does_not_say_so_gets_advice(tmp_path):
    for reader, content in ((read_graph, GRAPH), (read_links, LINKS)):
        for declaration in ("", DECLARED % "utf-8"):
            path = tmp_path / "a.rdf"
            path.write_bytes((declaration + content % "é").encode("latin-1"))
            with pytest.raises(InputError, match=r"the byte 0xe9 is not UTF-8\. .* declare it") as caught:
                reader(path)
            assert caught.value.line == 2 + declaration.count("\n")


# No way around the guards


BOMB = '<!DOCTYPE r [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]>\n'
OUTSIDE = '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n'
ENCODINGS = ["windows-1252", "Shift_JIS", "ISO-2022-JP", "utf-16-le", "utf-16-be"]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(("doctype", "refusal"), [(BOMB, "nested"), (OUTSIDE, "external")])
def test_entities_are_refused_in_every_encoding(tmp_path, encoding, doctype, refusal):
    path = tmp_path / "a.rdf"
    path.write_bytes((DECLARED % encoding + doctype + GRAPH % "&b;").encode(encoding))
    with pytest.raises(InputError, match=f"declares the {refusal}.* refused for safety"):
        read_graph(path)
    path.write_bytes((DECLARED % encoding + doctype + LINKS % "&b;").encode(encoding))
    with pytest.raises(InputError, match="entities are refused"):
        read_links(path)


@pytest.mark.parametrize("start", ["", "<?xml version='1.0' encoding='utf-16'?>", "<?xml version='1.0'?>"])
def test_an_encoding_cannot_change_on_the_way(tmp_path, start):
    """Two parsers that decode differently could see different DOCTYPEs."""
    for first, then in (("utf-8", "utf-16-le"), ("utf-16-le", "utf-8"), ("utf-8", "utf-7")):
        for doctype in (BOMB, OUTSIDE):
            path = tmp_path / "a.rdf"
            path.write_bytes(start.encode(first) + (doctype + GRAPH % "&b;").encode(then))
            with pytest.raises(InputError):
                read_graph(path)


def test_depth_is_limited_in_every_encoding(tmp_path):
    path = tmp_path / "a.ttl"
    path.write_bytes(("\ufeff<urn:a> <urn:p> " + "[ <urn:p> " * 9999).encode("utf-16-le"))
    with pytest.raises(InputError, match="nests more than 256 deep"):
        read_graph(path)
    path = tmp_path / "a.rdf"
    deep = "<rdf:Description><x:p>" * 9999
    path.write_bytes((DECLARED % "windows-1252" + GRAPH % deep).encode("cp1252"))
    with pytest.raises(InputError, match="nests elements more than 500 deep"):
        read_graph(path)


def test_a_long_text_takes_little_memory(tmp_path):
    """Decoded block by block: what is held at once does not grow with the file."""
    path = tmp_path / "a.nt"
    path.write_bytes(
        "\ufeff".encode("utf-16-le") + ("<urn:a> <urn:p> <urn:b> .\n" * 400_000).encode("utf-16-le")
    )
    tracemalloc.start()
    with open_bytes(path) as stream:
        while stream.read(1 << 16):
            pass
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.stat().st_size > 20_000_000
    assert most < 6_000_000
