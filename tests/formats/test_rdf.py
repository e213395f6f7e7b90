from __future__ import annotations

import gzip
import http.server
import threading
import time

import pytest
from contents import literals, triples

from largeea.errors import InputError
from largeea.formats import ReadOptions, rdf, read_graph
from largeea.formats.rejects import Rejects
from largeea.runs.accounting import account_of

RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
DESCRIBED = (
    f'<rdf:RDF {RDF} xmlns:x="urn:x:"><rdf:Description rdf:about="urn:a">%s</rdf:Description></rdf:RDF>'
)


def refused(path, message, line=None, **options):
    with pytest.raises(InputError, match=message) as caught:
        read_graph(path, ReadOptions(**({"max_errors": 0} | options)))
    assert caught.value.path == path
    assert caught.value.line == line


# Blank nodes


def test_blank_nodes_of_a_line_format_keep_their_labels(file):
    graph = read_graph(file("a.nt", "_:x <urn:p> _:y .\n_:y <urn:q> <urn:a> .\n"))
    assert graph.entities.to_pylist() == ["_:x", "_:y", "urn:a"]
    assert graph.anonymous.tolist() == [True, True, False]
    assert graph.names.to_pylist() == [None, None, "a"]


def test_blank_nodes_of_several_files_are_kept_apart(file):
    first = file("1.nt", "_:x <urn:p> _:y .\n")
    second = file("2.nt", "_:x <urn:p> <urn:a> .\n_:é <urn:p> _:x .\n")
    third = file("3.ttl", "_:x <urn:p> [ <urn:q> <urn:a> ] .")
    graph = read_graph([first, second, third])
    assert sorted(graph.entities.to_pylist()) == [
        "_:0.x",
        "_:0.y",
        "_:1.x",
        "_:1.é",
        "_:2.0",
        "_:2.1",
        "urn:a",
    ]
    assert ("_:1.é", "urn:p", "_:1.x") in triples(graph)
    assert graph.anonymous.sum() == 6


@pytest.mark.parametrize("block_bytes", [1, 10_000, 1 << 23])
def test_anonymous_nodes_get_the_same_labels_every_time(file, monkeypatch, block_bytes):
    """Also where a node is met in several blocks; pyoxigraph hands over some eight kilobytes at a time."""
    monkeypatch.setattr(rdf, "BLOCK_BYTES", block_bytes)
    path = file(
        "a.ttl",
        "[ <urn:p> [ <urn:q> <urn:c> ] ] <urn:r> [ <urn:s> [] ], _:named .\n"
        + "".join(f"_:named <urn:p{i}> <urn:a> .\n" for i in range(900))
        + "_:named <urn:p> [] .",
    )
    graphs = [read_graph(path) for _ in range(2)]
    assert triples(graphs[0]) == triples(graphs[1])
    assert len(triples(graphs[0])) == 906
    anonymous = [label for label in graphs[0].entities.to_pylist() if label.startswith("_:")]
    assert anonymous == [f"_:{number}" for number in range(6)]


def test_many_blank_nodes_cost_no_more_than_others(file):
    count = 60_000
    text = "".join(f"_:b{i} <urn:p> _:b{i + 1} .\n" for i in range(count))
    started = time.perf_counter()
    graph = read_graph([file("a.nt", text), file("b.nt", "<urn:a> <urn:p> <urn:b> .\n")])
    assert graph.size == count + 3
    assert time.perf_counter() - started < 20


# Every syntax


def test_named_graphs_are_read_as_one(file):
    quads = "<urn:a> <urn:p> <urn:b> <urn:g> .\n<urn:a> <urn:p> <urn:b> .\n<urn:b> <urn:p> <urn:c> _:g .\n"
    for path in (
        file("a.nq", quads),
        file("a.trig", "<urn:g> { <urn:a> <urn:p> <urn:b> } <urn:b> <urn:p> <urn:c> ."),
    ):
        assert triples(read_graph(path)) == [("urn:a", "urn:p", "urn:b"), ("urn:b", "urn:p", "urn:c")]
    assert read_graph(file("a.nq", quads)).counts.duplicates == 1


def test_literals_keep_their_tag(file):
    path = file(
        "a.ttl",
        '<urn:a> <urn:p> "x", "x"@EN, "x"@en--ltr, 7, true, "x"^^<http://www.w3.org/2001/XMLSchema#string>, '
        '"""two\nlines "quoted" \\u00e9 \\t""" .',
    )
    xsd = "http://www.w3.org/2001/XMLSchema#"
    assert literals(read_graph(path)) == [
        ("urn:a", "urn:p", "7", f"{xsd}integer"),
        ("urn:a", "urn:p", "true", f"{xsd}boolean"),
        ("urn:a", "urn:p", 'two\nlines "quoted" é \t', ""),
        ("urn:a", "urn:p", "x", ""),
        ("urn:a", "urn:p", "x", "@en"),
    ]


def test_relative_iris_stand_on_the_files_name(file):
    graph = read_graph(file("my data.ttl", "<#a> <p> <b/c> ."))
    assert triples(graph) == [("file:///my_data.ttl#a", "file:///p", "file:///b/c")]


def test_syntax_errors_have_a_place(file):
    refused(file("a.ttl", "<urn:a> <urn:p> <urn:b> .\n<urn:a> <urn:p>\n"), "a.ttl:3: ", line=3)
    refused(file("a.trig", "<urn:g> {\n<urn:a> <urn:p> }"), "a.trig:2: ", line=2)
    refused(file("a.jsonld", '{"urn:p":\n1,}'), "a.jsonld:2: ", line=2)
    refused(
        file("a.rdf", DESCRIBED % "\n<x:p>\n</x:q>"), "a.rdf:3: not well-formed XML: mismatched tag", line=3
    )
    refused(file("a.nt", "<urn:a> <urn:p> <urn:b> .\n<urn:a> <urn:p>\n"), "a.nt:2: ", line=2)
    refused(file("b.ttl", "<urn:a> <urn:p> \xe9 ."), "b.ttl", line=1)


@pytest.mark.parametrize("name", ["a.ttl.gz", "a.rdf.gz", "a.jsonld.gz", "a.nt.gz"])
def test_a_truncated_archive_is_named_in_every_syntax(file, name):
    content = {
        "a.ttl.gz": "<urn:a> <urn:p> " + ", ".join(f"<urn:{i}>" for i in range(9000)) + " .",
        "a.rdf.gz": DESCRIBED % "".join(f"<x:p>{i}</x:p>" for i in range(9000)),
        "a.jsonld.gz": '{"@id": "urn:a", "urn:p": [' + ", ".join(f'"{i}"' for i in range(9000)) + "]}",
        "a.nt.gz": "".join(f"<urn:a> <urn:p> <urn:{i}> .\n" for i in range(9000)),
    }[name]
    refused(file(name, gzip.compress(content.encode())[:-50]), "the compressed file is cut short")


def test_a_value_beyond_all_measure_is_an_input_error(file):
    for name, content in {
        "a.ttl": '<urn:a> <urn:p> """' + "x" * (17 << 20),
        "a.jsonld": '{"@id": "urn:a", "urn:p": "' + "x" * (17 << 20),
    }.items():
        refused(file(name, content), "a single value takes more than 16 MB; is its end missing")


def test_long_lines_are_read_where_pyoxigraph_is_not_asked(file):
    plain = f'<urn:a> <urn:p> "{"x" * (17 << 20)}" .\n'
    assert len(read_graph(file("a.nt", plain)).attributes.values[0].as_py()) == 17 << 20
    doubtful = file("b.nt", "<urn:a> <urn:p> <urn:b> .\n" + plain.replace("urn:a", r"urn:\u0061"))
    refused(doubtful, "b.nt:2: a single value takes more than 16 MB", line=2)
    assert read_graph(doubtful, rejects=Rejects(1)).counts.rejected == 1


# Malformed lines


def test_malformed_lines_are_left_out_up_to_a_number(file):
    path = file(
        "a.nt",
        "rubbish\n<urn:a> <urn:p> <urn:b> .\n<urn:a> <urn:p>\n<urn:é> <urn:p> <urn:c> .\n".encode()
        + b'<urn:a> <urn:p> "caf\xe9" .\n',
    )
    rejects = Rejects(max_errors=3)
    graph = read_graph(path, rejects=rejects)
    assert triples(graph) == [("urn:a", "urn:p", "urn:b"), ("urn:é", "urn:p", "urn:c")]
    assert sorted(reject.line for reject in rejects.lines) == [1, 3, 5]
    assert graph.counts.rejected == 3
    refused(path, r"That makes 3 malformed line\(s\); 2 allowed.*--max-errors", line=3, max_errors=2)


def test_statements_about_statements_are_rejected(file):
    rejects = Rejects(max_errors=9)
    line = "<urn:a> <urn:p> <<( <urn:s> <urn:p> <urn:o> )>> .\n"
    deep = "<urn:a> <urn:p> " + "<<( <urn:s> <urn:p> " * 100_000 + "<urn:o>" + ")>>" * 100_000 + " .\n"
    fine = '<urn:a> <urn:p> "<<( <<( \\n <<( )>>"@en--ltr .\n'
    graph = read_graph(file("a.nt", line + fine + deep), rejects=rejects)
    assert [(reject.line, reject.reason) for reject in rejects.lines] == [
        (1, "a statement about a statement (triple term) is not supported"),
        (3, "nests more than 256 deep, which is refused for safety"),
    ]
    assert len(graph.attributes) == 1

    rejects = Rejects(max_errors=9)
    graph = read_graph(file("a.ttl", line + "<urn:a> <urn:p> <urn:b> ."), rejects=rejects)
    assert triples(graph) == [("urn:a", "urn:p", "urn:b")]
    assert [reject.line for reject in rejects.lines] == [None]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.ttl", '<urn:a> <urn:p> <http://a b>, <http://{x}|y>, <urn:b> ; <urn:q> "x", "y"^^<not an IRI> .'),
        (
            "a.rdf",
            DESCRIBED % '<x:p rdf:resource="http://a b"/><x:p rdf:resource="http://{x}|y"/>'
            '<x:p rdf:resource="urn:b"/><x:q>x</x:q><x:q rdf:datatype="not an IRI">y</x:q>',
        ),
        (
            "a.jsonld",
            '{"@id": "urn:a", "urn:p": [{"@id": "http://a b"}, {"@id": "http://{x}|y"}, {"@id": "urn:b"}],'
            '"urn:q": ["x", {"@value": "y", "@type": "http://not an/IRI"}]}',
        ),
    ],
)
def test_a_malformed_iri_costs_its_statement_only(file, name, text):
    path = file(name, text)
    rejects = Rejects(9)
    graph = read_graph(path, rejects=rejects)
    account_of(graph)
    assert [tail for _, _, tail in triples(graph)] == ["urn:b"]
    assert [value for _, _, value, _ in literals(graph)] == ["x", "y"]
    assert sorted(reject.text.split(" ", 2)[2] for reject in rejects.lines) == [
        "<http://a b> .",
        "<http://{x}|y> .",
    ]
    assert all("Invalid IRI code point" in reject.reason for reject in rejects.lines)
    assert [kept.part for kept in rejects.repaired] == ["datatype"]
    refused(path, "Invalid IRI code point ' '", max_errors=0)


def test_a_malformed_language_tag_costs_the_tag_only(file):
    text = DESCRIBED % (
        '<x:p xml:lang="en_US">a</x:p><x:p xml:lang="">b</x:p><x:p xml:lang="&#10;">c</x:p><x:p>d</x:p>'
        '<x:p xml:lang="much-too-long-a-tag-in-one-piece">e</x:p><x:p xml:lang="en . #">f</x:p>'
    )
    rejects = Rejects()
    graph = read_graph(file("a.rdf", text), rejects=rejects)
    account_of(graph)
    assert [(value, tag) for _, _, value, tag in literals(graph)] == [
        *((value, "") for value in "abcd"),
        ("e", "@much-too-long-a-tag-in-one-piece"),
    ]
    assert len(rejects.repaired) == 2
    assert [reject.text for reject in rejects.lines] == ['<urn:a> <urn:x:p> "f"@en . # .']


def test_turtle_goes_on_with_the_next_statement(file):
    text = (
        '@prefix a: <urn:a:> .\na:x a:p "1"@en_US .\n'
        'a:x b:p "2" .\na:x a:p ; a:q "3" .\na:x a:p "\\x" .\n'
        "a:x a:p <urn:y> <urn:z> .\n" + "a:x a:p a:y .\n" * 3 + "a:x a:q garbage ; a:r [] .\na:x a:p a:z .\n"
    )
    for name in ("a.ttl", "a.trig"):
        path = file(name, text)
        rejects = Rejects()
        graph = read_graph(path, rejects=rejects)
        account_of(graph)
        assert [tail for _, _, tail in triples(graph)] == ["urn:a:y", "urn:a:z", "urn:y"]
        lines = text.split("\n")
        assert [(reject.line, reject.text) for reject in rejects.lines] == [
            (number, lines[number - 1]) for number in (2, 3, 4, 5, 6, 10)
        ]
        refused(path, r"The prefix b: has not been declared\n  'a:x b:p", line=3, max_errors=1)


def test_a_long_line_of_garbage_takes_no_time(file):
    path = file("a.ttl", "<urn:a> <urn:p> <urn:b> .\n<urn:a> <urn:p> ," + "\x0b" * (1 << 20))
    for allowed in (None, 1 << 20):
        started = time.perf_counter()
        with pytest.raises(InputError, match=r"a\.ttl:2: '\x0b' is not allowed"):
            read_graph(path, rejects=Rejects(allowed))
        assert time.perf_counter() - started < 10


def test_a_text_that_ends_too_early_is_no_single_reject(file):
    for text in ('<urn:a> <urn:p> <urn:b> .\n<urn:a> <urn:p> "x .\n', "<urn:a> <urn:p> <urn:b> .\n<urn:a>"):
        refused(file("a.ttl", text), "Unexpected end", line=2, max_errors=9)


def test_an_iri_cannot_pass_for_another_statement(file):
    forged = [
        r"http://x\u003E \u003Chttp://y",
        r"http://x\u003E . #",
        r"http://x\u000Ay",
        r"http://x\u000D\u000Ay",
        r"http://x\u003E . ",
    ]
    for iri in forged:
        for text in (f"<urn:a> <urn:p> <{iri}>", f"<{iri}> <urn:p> <urn:o>", f"<urn:a> <{iri}> 'x'"):
            path = file("a.ttl", f"{text} .\n<urn:a> <urn:p> <urn:b> .\n")
            rejects = Rejects()
            graph = read_graph(path, rejects=rejects)
            account_of(graph)
            assert triples(graph) == [("urn:a", "urn:p", "urn:b")]
            assert len(rejects) == 1
    whole_line = r"urn:x\u003E .\u000A\u003Curn:evil\u003E \u003Curn:p\u003E \u003Curn:c"
    refused(file("b.ttl", f"<urn:a> <urn:p> <{whole_line}>, <urn:b> ."), "an IRI .* holds a line break")
    iris = ("urn:x&gt; &lt;urn:y", "a&#10;b", "urn:b")
    body = "".join(f'<x:p rdf:resource="{iri}"/>' for iri in iris)
    graph = read_graph(file("a.rdf", DESCRIBED % body), rejects=Rejects())
    account_of(graph)
    assert triples(graph) == [("urn:a", "urn:x:p", "urn:b")]


def test_a_file_without_any_valid_statement_says_what_is_wrong(file):
    for name in ("a.nt", "a.ttl"):
        path = file(name, "<html>\n<body>\nHello, world\n</body>\n</html> .\n")
        with pytest.raises(InputError, match=r"(?s)a\.\w+:\d: .*No statement of the file is valid"):
            read_graph(path, rejects=Rejects())


# Hostile files: these would crash pyoxigraph, or make it eat all memory


def test_deep_triple_terms_are_refused(file):
    deep = "<urn:a> <urn:p> " + "<<( <urn:s> <urn:p> " * 300_000 + "1" + " )>>" * 300_000 + " ."
    for name in ("a.ttl", "a.trig"):
        refused(file(name, deep), "nests more than")


@pytest.mark.parametrize(
    ("open_part", "close_part"),
    [
        ('{"@id": "urn:a", "urn:p": ', "}"),
        ('{"@context": {"p": "urn:p"}, "p": ', "}"),
        ('{"@context": {"p": {"@id": "urn:p", "@context": ', "}}}"),
        ('{"@graph": ', "}"),
        ('{"@id": "urn:a", "urn:p": {"@list": [', "]}}"),
        ("[", "]"),
    ],
)
def test_deep_json_is_refused(file, open_part, close_part):
    path = file("a.jsonld", open_part * 60_000 + "{}" + close_part * 60_000)
    refusals = r"takes more than [0-9]+ MB|crashes the JSON-LD parser|Max stack size|holds no triples"
    with pytest.raises(InputError, match=refusals) as caught:
        read_graph(path)
    assert caught.value.path == path


def test_json_as_deep_as_people_write_it_is_read(file):
    depth = 100
    value = '\\"' + "[{" * depth + "\\\\"
    text = '{"@id": "urn:a", "urn:p": ' * depth + f'{{"@id": "urn:b", "urn:q": "{value}"}}' + "}" * depth
    graph = read_graph(file("a.jsonld", text))
    assert graph.entities.to_pylist() == ["urn:a", "urn:b"]
    assert literals(graph) == [("urn:b", "urn:q", '"' + "[{" * depth + "\\", "")]


class Listener(http.server.BaseHTTPRequestHandler):
    asked: list[str] = []  # noqa: RUF012

    def do_GET(self):
        self.asked.append(self.path)
        self.send_error(404)

    def log_message(self, *args):
        pass


@pytest.fixture
def address():
    """A server that nobody should ever ask."""
    Listener.asked.clear()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()
    assert Listener.asked == []


def test_remote_contexts_are_not_fetched(file, address):
    for context in (f'"{address}/c"', f'["{address}/c"]', f'{{"@version": 1.1, "@import": "{address}/c"}}'):
        refused(
            file("a.jsonld", f'{{"@context": {context}, "@id": "urn:a", "p": 1}}'),
            "remote JSON-LD context, which is never fetched",
        )


def test_external_entities_are_not_fetched(file, address, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("top secret")
    for declared in (
        f'<!ENTITY e SYSTEM "{address}/e">',
        f'<!ENTITY e SYSTEM "{secret}">',
        f'<!ENTITY e PUBLIC "x" "{address}/e">',
        f'<!ENTITY % e SYSTEM "{address}/e"> %e;',
        "<!ENTITY % e \"<!ENTITY f 'x'>\"> %e;",
    ):
        path = file("a.rdf", f"<!DOCTYPE r [{declared}]>\n" + DESCRIBED % "<x:p>&e;</x:p>")
        refused(path, "declares the external or parameter entity 'e', which is refused for safety", line=1)
    external_subset = f'<!DOCTYPE r SYSTEM "{address}/dtd">' + DESCRIBED % "<x:p>fine</x:p>"
    assert literals(read_graph(file("b.rdf", external_subset))) == [("urn:a", "urn:x:p", "fine", "")]


def test_an_entity_bomb_is_refused(file):
    bomb = "".join(f'<!ENTITY e{i + 1} "{f"&e{i};" * 10}">' for i in range(12))
    text = f'<!DOCTYPE r [<!ENTITY e0 "lol">{bomb}]>' + DESCRIBED % "<x:p>&e12;</x:p>"
    assert len(text) < 1000
    refused(file("a.rdf", text), "declares the nested or very long entity 'e1'", line=1)
    hidden = b'<!DOCTYPE r [<!ENTITY a "&b;&b;"><!ENTITY b "&a;&a;">]>'
    start, end = ("<a>".encode("utf-16-le"), "</a>".encode("utf-16-le"))
    refused(file("a.rdf", start + hidden + b" " + end), "holds a zero byte, which is not allowed in XML")


def test_deep_elements_are_refused(file):
    deep = "<rdf:Description><x:p>" * 100_000
    refused(file("a.rdf", DESCRIBED % f"<x:p>{deep}"), "nests elements more than 500 deep", line=1)


def test_small_flat_entities_are_what_ontologies_use(file):
    declared = '<!DOCTYPE rdf:RDF [\n<!ENTITY ex "http://example.org/">\n<!ENTITY e "&#233;">\n]>\n'
    body = '<x:C rdf:about="&ex;a"><x:p>caf&e; &amp; &lt;</x:p></x:C>'
    text = f'{declared}<rdf:RDF {RDF} xmlns:x="&ex;">{body}</rdf:RDF>'
    graph = read_graph(file("a.owl", text))
    assert literals(graph) == [("http://example.org/a", "http://example.org/p", "café & <", "")]
    assert graph.entities.to_pylist() == ["http://example.org/C", "http://example.org/a"]
