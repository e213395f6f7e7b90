"""Whatever is wrong with the input: one clear message, the right exit code, nothing half-written."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
import resource
import shutil
import sys
from pathlib import Path

import pytest

from largeea.cli import run

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd.compress}
OLD_FOLDER = Path(__file__).parents[1] / "runs" / "old_folders" / "run-0.1.0"
CITIES = ("Berlin", "Paris", "Tokyo", "Lima", "Cairo")
USAGE, INPUT, RESOURCES, INTERNAL, INTERRUPTED = 2, 3, 4, 5, 130


def graph_of(side: str) -> str:
    return "".join(
        f"<http://{side}/{city}> <http://{side}/next> <http://{side}/{city}_2> .\n" for city in CITIES
    )


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    """Two good graphs, `a.nt` and `b.nt`, in the working directory."""
    monkeypatch.chdir(tmp_path)
    for side in "ab":
        Path(f"{side}.nt").write_text(graph_of(side))


@pytest.fixture
def fails(capsys, tmp_path):
    """Run the command; the exit code and every part of the message must be as expected."""

    def check(code: int, arguments: str, *messages: str) -> str:
        capsys.readouterr()
        assert run(arguments.split()) == code
        shown = capsys.readouterr()
        assert shown.out == ""
        lines = shown.err.splitlines()
        errors = [line for line in lines if line.startswith("error: ")]
        assert len(errors) == 1, shown.err
        assert "Traceback" not in shown.err
        for message in messages:
            assert message in shown.err
        assert not [path for path in tmp_path.rglob("*") if path.name.endswith(".tmp")]
        return shown.err[shown.err.index("error: ") :]

    return check


def succeeds(arguments: str) -> None:
    assert run(arguments.split()) == 0


# Graph files


def test_missing_file(fails):
    message = fails(
        INPUT, "align missing.nt b.nt -o run", "missing.nt: no such file or folder; check the path"
    )
    assert len(message.splitlines()) == 1
    fails(
        INPUT,
        "align a.nt none*.nt -o run",
        "none*.nt: no such file or folder; check the path, or the pattern",
    )
    fails(INPUT, "align missing -o run", "missing: no such file")
    fails(INPUT, "inspect missing.nt", "missing.nt: no such file")
    fails(INPUT, "bench missing", "missing: no such file")
    assert not Path("run").exists()


@pytest.mark.parametrize("name", ["c.nt", "c.ttl", "c.csv", "c.parquet", "c.rdf", "c.jsonld", "c.nt.gz", "c"])
def test_empty_file(fails, name):
    Path(name).touch()
    fails(INPUT, f"align {name} b.nt -o run", f"{name}: the file is empty")
    fails(INPUT, f"inspect {name}", f"{name}: the file is empty")


@pytest.mark.parametrize(
    ("name", "content"), [("c.nt", "# nothing\n"), ("c.ttl", "@prefix a: <urn:a> ."), ("c.jsonld", "[]")]
)
def test_no_triples(fails, name, content):
    Path(name).write_text(content)
    fails(INPUT, f"align a.nt {name} -o run", f"{name}: holds no triples")


def test_malformed_line(fails):
    Path("a.nt").write_text(graph_of("a") + "<http://a/x> <http://a/y>\n")
    fails(
        INPUT,
        "align a.nt b.nt -o run --max-errors 0",
        "a.nt:6: ",
        "<http://a/x> <http://a/y>",
        "1 malformed line(s); 0 allowed",
        "--max-errors N",
    )
    succeeds("align a.nt b.nt -o run --max-errors 1")
    succeeds("align a.nt b.nt -o tolerant")


def test_malformed_lines_count_over_all_files_and_are_listed(fails, capsys):
    Path("a.nt").write_text("rubbish\n" + graph_of("a"))
    Path("b.nt").write_text(graph_of("b") + "<http://b/x> .\n\t<urn:\x1b[31m>\n")
    fails(INPUT, "align a.nt b.nt -o run --max-errors 2", "b.nt:7: ", "3 malformed line(s); 2 allowed")
    succeeds("align a.nt b.nt -o run --max-errors 3")
    assert "rejects.tsv" in capsys.readouterr().out
    rows = [line.split("\t") for line in Path("run/rejects.tsv").read_text().splitlines()]
    assert rows[0] == ["file", "line", "reason", "text"]
    assert [(row[0], row[1], row[3]) for row in rows[1:]] == [
        ("a.nt", "1", "rubbish"),
        ("b.nt", "6", "<http://b/x> ."),
        ("b.nt", "7", r"<urn:\x1b[31m>"),
    ]
    assert all(row[2] for row in rows[1:])

    succeeds("align a.nt b.nt -o run --max-errors 3")  # nothing is read anew, and the list stays
    assert len(Path("run/rejects.tsv").read_text().splitlines()) == 4
    Path("a.nt").write_text(graph_of("a"))
    Path("b.nt").write_text(graph_of("b"))
    succeeds("align a.nt b.nt -o run --max-errors 3")
    assert not Path("run/rejects.tsv").exists()


def test_malformed_lines_of_tables_are_listed(fails):
    Path("a.csv").write_text("Berlin,in,Germany\nParis,in\nTokyo,in,Japan\n")
    strict = "align a.csv b.nt -o run --max-errors 0"
    fails(INPUT, strict, "a.csv:2: 2 column(s) where 3 are needed", "Paris,in")
    succeeds("align a.csv b.nt -o run --max-errors 1")
    assert "a.csv\t2\t2 column(s) where 3 are needed\tParis,in" in Path("run/rejects.tsv").read_text()


def test_wrong_columns(fails):
    Path("c.csv").write_text("id;parent\n1;2\n")
    unclear = "c.csv: it is not clear what the columns are", "give --columns subject=id,attributes=parent"
    fails(INPUT, "align c.csv b.nt -o run", *unclear)
    Path("c.csv").write_text("id,parent\n1,2\n")
    wrong = "align c.csv b.nt -o run --columns subject=id,object=up"
    fails(INPUT, wrong, "c.csv: has no column 'up'; it has id, parent")
    fails(
        USAGE,
        "align c.csv b.nt -o run --columns id,parent",
        "--columns has 'id'; write for example subject=id",
    )
    fails(USAGE, "align c.csv b.nt -o run --columns object=id", "must say which column is the subject")


def test_bad_encoding(fails):
    Path("a.nt").write_bytes(graph_of("a").encode() + b'<http://a/x> <http://a/y> "caf\xe9" .\n')
    fails(INPUT, "align a.nt b.nt -o run --max-errors 0", "a.nt:6: not UTF-8: byte 0xe9")
    succeeds("align a.nt b.nt -o run")
    Path("c.nt").write_bytes(graph_of("a").encode("utf-16"))
    succeeds("align c.nt b.nt -o second")
    Path("c.nt").write_bytes(graph_of("a").encode("utf-16")[:-1])
    fails(INPUT, "align c.nt b.nt -o other", "c.nt:5: byte 0x0a is not valid in UTF-16", "complete?")
    Path("c.ttl").write_bytes(b"<urn:a> <urn:b> '\xe9' .")
    fails(INPUT, "align c.ttl b.nt -o third", "c.ttl:1: ")


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("plain", [".nt", ".ttl", ".csv"])
def test_truncated_archive(fails, suffix, plain):
    text = "".join(f"<urn:{os.urandom(8).hex()}>,<urn:p>,<urn:{i}> .\n" for i in range(3000))
    text = text if plain == ".csv" else text.replace(",", " ")
    Path(f"c{plain}{suffix}").write_bytes(COMPRESS[suffix](text.encode())[:-300])
    fails(
        INPUT,
        f"align c{plain}{suffix} b.nt -o run",
        f"c{plain}{suffix}: the compressed file is cut short; fetch it again",
    )


@pytest.mark.parametrize("name", ["c.nt.bz2", "c.ttl.gz", "c.tsv.xz", "c.nt.zst"])
def test_decompression_bomb(fails, name):
    part = COMPRESS[Path(name).suffix]((b"#\t#\t#" + b"0" * 8000 + b"\n") * 1500)
    Path(name).write_bytes(part * 20)
    assert Path(name).stat().st_size < 1 << 20
    fails(INPUT, f"align {name} b.nt -o run", f"{name}: decompresses to more than 300 times its size")


def test_unknown_format(fails):
    Path("c.docx").write_bytes(b"something")
    known = "known: csv, json-ld, n-quads, n-triples, parquet, rdf-xml, trig, tsv, turtle, xlsx"
    fails(INPUT, "align c.docx b.nt -o run", f"c.docx: unknown format; {known}. Say which with --format")
    Path("c.docx").write_bytes(b"PK\3\4 something")
    fails(INPUT, "align c.docx b.nt -o run", "c.docx: is a ZIP archive; unpack it")
    fails(USAGE, "align a.nt b.nt -o other --format word", f"unknown format 'word'; {known}")
    fails(
        USAGE,
        "align a.nt b.nt -o run --write word",
        "unknown format of links 'word'; known are alignment-api",
    )


def test_a_folder_without_graphs(fails):
    Path("empty").mkdir()
    fails(
        INPUT,
        "align empty b.nt -o run",
        "empty: holds no graph file (.nt, ",
        "is not a benchmark folder (OpenEA: rel_triples_1",
    )


def test_a_line_of_100_mb(fails):
    with Path("c.nt").open("wb") as file:
        for _ in range(100):
            file.write(b"x" * (1 << 20))
    fails(INPUT, "align c.nt b.nt -o run", "c.nt:1: a line is longer than 64 MB; is this text?")


def test_one_graph_where_a_pair_is_needed(fails):
    fails(
        USAGE, "align a.nt -o run", "a.nt is one graph; give the other one too, or a folder that holds a pair"
    )
    fails(USAGE, "bench a.nt", "a.nt is a single graph; give a folder with two graphs")


def pair_folder() -> Path:
    folder = Path("pair")
    folder.mkdir()
    for number, side in ((1, "a"), (2, "b")):
        lines = graph_of(side).replace("> <", "\t").replace("<", "").replace("> .", "")
        (folder / f"rel_triples_{number}").write_text(lines)
    (folder / "ent_links").write_text("".join(f"http://a/{city}\thttp://b/{city}\n" for city in CITIES))
    return folder


def test_a_pair_where_one_graph_is_needed(fails):
    pair_folder()
    fails(USAGE, "align pair b.nt -o run", "pair is a benchmark folder with two graphs; give it alone")


def test_a_pair_folder_that_lacks_a_file(fails):
    (pair_folder() / "rel_triples_2").unlink()
    fails(INPUT, "align pair -o run", "rel_triples_2: no such file")
    fails(INPUT, "bench pair", "rel_triples_2: no such file")


def test_malformed_lines_of_a_pair_folder(fails):
    with (pair_folder() / "ent_links").open("a") as file:
        file.write("only one\n")
    fails(
        INPUT,
        "align pair -o run",
        "ent_links:6: 1 column(s) where 2 are needed",
        "1 malformed line(s); 0 allowed",
    )
    succeeds("align pair -o run --max-errors 1")
    assert len(Path("run/rejects.tsv").read_text().splitlines()) == 2


# Hostile files


def test_hostile_rdf_xml(fails):
    start = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="urn:x:">'
    inner = '<rdf:Description rdf:about="urn:a"><x:p>%s</x:p></rdf:Description></rdf:RDF>'
    bomb = '<!ENTITY e0 "lol">' + "".join(f'<!ENTITY e{i + 1} "{f"&e{i};" * 10}">' for i in range(9))
    unsafe = {
        (bomb, "&e9;"): "c.rdf:1: declares the nested or very long entity 'e1', which is refused for safety",
        (f'<!ENTITY e "{"x" * 9999}">', "&e;" * 9999): "c.rdf:1: declares the nested or very long entity 'e'",
        (f'<!ENTITY e "{"x" * 999}">', "&e;" * 99999): "c.rdf:1: not well-formed XML: limit on input ampl",
        ('<!ENTITY e SYSTEM "file:///etc/hostname">', "&e;"): "the external or parameter entity 'e'",
        ('<!ENTITY % e "">', "x"): "c.rdf:1: declares the external or parameter entity 'e'",
    }
    hostile = {f"<!DOCTYPE r [{dtd}]>{start}{inner % text}": said for (dtd, text), said in unsafe.items()}
    hostile |= {
        f'{start}<!DOCTYPE r [<!ENTITY e "&e;">]>{inner % "x"}': "c.rdf:1: not well-formed XML",
        start + "<rdf:Description><x:p>" * 9999: "c.rdf:1: nests elements more than 500 deep",
        "<a>\0</a>": "c.rdf: holds a zero byte",
    }
    for content, message in hostile.items():
        Path("c.rdf").write_text(content)
        fails(INPUT, "align c.rdf b.nt -o run", message)


def test_hostile_json_ld(fails):
    Path("c.jsonld").write_text('{"@context": "http://127.0.0.1:9/context", "name": "x"}')
    fails(
        INPUT, "align c.jsonld b.nt -o run", "c.jsonld: uses a remote JSON-LD context, which is never fetched"
    )
    Path("c.jsonld").write_text('{"urn:p":' * 50_000 + "1" + "}" * 50_000)
    fails(INPUT, "align c.jsonld b.nt -o run", "c.jsonld: parsing it takes more than ", "deep nesting")


def test_hostile_turtle(fails):
    Path("c.ttl").write_text("<urn:a> <urn:p> " + "<<( <urn:s> <urn:p> " * 99_999)
    fails(INPUT, "align c.ttl b.nt -o run", "c.ttl: nests more than 256 deep")


# Seeds and links


def test_seeds_naming_unknown_entities(fails):
    """One that can be used is enough (`test_corrections.py`); if there is none, it is an error."""
    Path("seeds.tsv").write_text("http://a/Thule\thttp://b/Berlin\nhttp://a/Atlantis\thttp://b/Paris\n")
    for option in ("--seeds", "--links", "--not-links"):
        fails(
            INPUT,
            f"align a.nt b.nt -o run {option} seeds.tsv",
            "seeds.tsv:1: 2 of 2 links name entities that are not there",
            "source http://a/Atlantis",
        )


def test_seeds_with_swapped_columns(fails):
    Path("seeds.tsv").write_text("".join(f"http://b/{city}\thttp://a/{city}\n" for city in CITIES))
    fails(
        INPUT,
        "align a.nt b.nt -o run --seeds seeds.tsv",
        "With its columns swapped, 5 of 5 links would be found",
        "swap the columns",
    )


def test_seeds_that_cannot_be_read(fails):
    fails(INPUT, "align a.nt b.nt -o run --seeds none.tsv", "none.tsv: no such file")
    Path("seeds.tsv").touch()
    fails(INPUT, "align a.nt b.nt -o run --seeds seeds.tsv", "seeds.tsv: the file is empty")
    Path("seeds.tsv").write_text("http://a/Berlin\n")
    fails(INPUT, "align a.nt b.nt -o run --seeds seeds.tsv", "seeds.tsv:1: ")


def test_evaluating_what_is_no_run(fails):
    Path("links.tsv").write_text("http://a/Berlin\thttp://b/Berlin\n")
    Path("folder").mkdir()
    fails(INPUT, "evaluate folder --links links.tsv", "folder: is not a run folder: it has no manifest.json")
    fails(INPUT, "evaluate none --links links.tsv", "none: is not a run folder")
    Path("folder/manifest.json").write_text("not json")
    fails(INPUT, "evaluate folder --links links.tsv", "manifest.json: is damaged")


def test_evaluating_an_unfinished_run(fails, failing):
    Path("links.tsv").write_text("http://a/Berlin\thttp://b/Berlin\n")
    with failing("fused", ZeroDivisionError()):
        fails(INTERNAL, "align a.nt b.nt -o run")
    fails(
        INPUT, "evaluate run --links links.tsv", "the run is not finished; continue with: largeea resume run"
    )
    succeeds("align a.nt b.nt -o run")
    succeeds("evaluate run --links links.tsv")
    fails(INPUT, "evaluate run --links none.tsv", "none.tsv: no such file")


# The output


def test_an_output_folder_that_is_not_ours(fails):
    Path("run").mkdir()
    Path("run/thesis.doc").write_text("precious")
    fails(
        USAGE,
        "align a.nt b.nt -o run",
        "the folder run is not empty and holds no run; give a new one with -o",
    )
    assert os.listdir("run") == ["thesis.doc"]  # noqa: PTH208
    fails(USAGE, "demo -o run", "the folder run is not empty")


def test_a_folder_with_a_run_on_other_graphs(fails):
    succeeds("align a.nt b.nt -o run")
    Path("c.nt").write_text(graph_of("c"))
    kept = {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()}
    fails(USAGE, "align a.nt c.nt -o run", "the folder run holds a run on other graphs (")
    assert kept == {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()}
    succeeds("align a.nt c.nt -o run --overwrite")
    succeeds("align a.nt c.nt -o fresh")
    assert Path("run/alignment.sssom.tsv").read_bytes() == Path("fresh/alignment.sssom.tsv").read_bytes()


def test_a_folder_of_an_earlier_release(fails):
    shutil.copytree(OLD_FOLDER, "run")
    for command in ("align a.nt b.nt -o run", "resume run", "status run", "verify run", "explain run Paris"):
        fails(INPUT, command, "was written by largeea 0.1.0 (format 1; this version reads 2)")
    fails(INPUT, "evaluate run --links a.nt", "another folder with -o")


def test_an_output_that_is_a_file(fails):
    fails(USAGE, "align a.nt b.nt -o b.nt", "b.nt is a file; give a folder for the run with -o")
    assert Path("b.nt").read_text() == graph_of("b")
    fails(RESOURCES, "align a.nt b.nt -o b.nt/run", "cannot write b.nt/run: ", "Not a directory")


def test_an_output_folder_may_be_empty_or_deep(tmp_path):
    Path("run").mkdir()
    succeeds("align a.nt b.nt -o run")
    succeeds("align a.nt b.nt -o deep/er/run")


@pytest.mark.parametrize("written_before", [0, 1, 4, 9, 12])
def test_a_full_disk(fails, monkeypatch, written_before):
    """Whenever the disk gets full: the message says so, and the same command goes on where it stopped."""
    written = 0
    sync = os.fsync

    def full(descriptor: int) -> None:
        nonlocal written
        written += 1
        if written > written_before:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        fails(
            RESOURCES,
            "align a.nt b.nt -o run",
            "no space left to write run",
            "free some space or choose another folder",
        )
    succeeds("align a.nt b.nt -o run")
    succeeds("align a.nt b.nt -o fresh")
    assert Path("run/alignment.sssom.tsv").read_bytes() == Path("fresh/alignment.sssom.tsv").read_bytes()


def test_a_file_that_may_not_grow(fails):
    """The system itself refuses the write in the middle of a file."""
    succeeds("align a.nt b.nt -o warm")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1500, hard))
    try:
        fails(RESOURCES, "align a.nt b.nt -o run", "cannot write run/", ": File too large; see to the disk")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    succeeds("align a.nt b.nt -o run")


def test_after_a_failure_the_same_folder_can_be_used(fails):
    Path("b.nt").write_text("rubbish\n")
    fails(INPUT, "align a.nt b.nt -o run")
    assert not list(Path().rglob("alignment*"))
    Path("b.nt").write_text(graph_of("b"))
    succeeds("align a.nt b.nt -o run")


# Options


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        ("align a.nt b.nt -o run --preset best", ["unknown preset 'best'; known: default"]),
        (
            "align a.nt b.nt -o run --set names.colour=1",
            ["unknown setting 'names.colour'; known here: "],
        ),
        ("align a.nt b.nt -o run --set colour=1", ["unknown setting 'colour'; known here: seed"]),
        ("align a.nt b.nt -o run --set names.top_k=many", ["names.top_k = 'many'"]),
        ("align a.nt b.nt -o run --set names.top_k=0", ["names.top_k = 0", "greater than or equal to 1"]),
        ("align a.nt b.nt -o run --set names.top_k", ["--set needs key=value, for example names.top_k=20"]),
        (
            "align a.nt b.nt -o run --set decision.even=0.5",
            ["no longer exists; see 'evidence.no_match_score'"],
        ),
        ("align a.nt b.nt -o run --set structure.threads=2", ["--threads on the command line"]),
        ("align a.nt b.nt -o run --memory lots", ["memory = 'lots': give a size such as 12GB"]),
        ("align a.nt b.nt -o run --device tpu", ["device = 'tpu': give auto, cpu, cuda or cuda:N"]),
        ("align a.nt b.nt -o run --threads 0", ["--threads", "Try 'largeea align --help'"]),
        ("align a.nt b.nt -o run --without luck", ["--without luck: unknown part; known: structure, names"]),
        (
            "align a.nt b.nt -o run --max-errors -1",
            ["--max-errors", "0", "Try 'largeea align --help'"],
        ),
        ("align a.nt b.nt -o run --seed x", ["--seed", "integer", "Try 'largeea align --help'"]),
        ("align a.nt b.nt", ["--output", "Try 'largeea align --help'"]),
        ("align -o run", ["argument", "Try 'largeea align --help'"]),
        ("align a.nt b.nt c.nt -o run", ["c.nt", "Try 'largeea align --help'"]),
        ("align a.nt b.nt -o run --wirte tsv", ["--wirte", "--write"]),
        ("aling a.nt b.nt", ["aling", "Try 'largeea --help'"]),
        ("bench a.nt --train 2", ["--train", "0.99", "Try 'largeea bench --help'"]),
        ("demo --languages en", ["--languages"]),
        ("demo --languages en xx -o run", ["no language 'xx'"]),
    ],
)
def test_options_that_make_no_sense(fails, arguments, messages):
    fails(USAGE, arguments, *messages)
    assert not Path("run").exists()


def test_nothing_left_to_align_by(fails):
    fails(
        USAGE,
        "align a.nt b.nt -o run --without names",
        "without names and without seeds there is nothing to align by",
    )


def test_a_config_file_that_cannot_be_used(fails):
    fails(INPUT, "align a.nt b.nt -o run --config none.toml", "none.toml: cannot be read: No such file")
    Path("c.toml").write_text("names = [broken")
    fails(INPUT, "align a.nt b.nt -o run --config c.toml", "c.toml: is not a TOML file")
    Path("c.toml").write_text("[names]\ncolour = 1\n")
    fails(USAGE, "align a.nt b.nt -o run --config c.toml", "unknown setting 'names.colour'")


def test_a_fold_that_is_not_there(fails):
    pair_folder()
    fails(USAGE, "bench pair --fold 7", "pair has no official fold '7'; it has: none")


# When it is not the input


def test_an_interruption(fails, failing):
    with failing("fused", KeyboardInterrupt()):
        fails(
            INTERRUPTED,
            "align a.nt b.nt -o run",
            "interrupted; finished work is kept: run the same command again",
        )
    with failing("source", KeyboardInterrupt()):  # what was read need not be read again
        succeeds("align a.nt b.nt -o run")


def test_an_internal_error(fails, failing, capsys):
    with failing("fused", RuntimeError("nobody thought of this")):
        fails(
            INTERNAL,
            "align a.nt b.nt -o run",
            "internal error: RuntimeError: nobody thought of this",
            "--debug shows where",
        )
        assert run(["align", "a.nt", "b.nt", "-o", "run", "--debug"]) == INTERNAL
    shown = capsys.readouterr().err
    assert "Traceback" in shown
    assert "in broken" in shown


def test_debug_shows_the_way_to_any_error(capsys):
    assert run(["--debug", "align", "a.nt", "none.nt", "-o", "run"]) == INPUT
    shown = capsys.readouterr().err
    assert "Traceback" in shown
    assert "error: none.nt: no such file" in shown


def test_too_little_memory(fails, failing):
    with failing("fused", MemoryError()):
        fails(RESOURCES, "align a.nt b.nt -o run", "out of memory")


def test_a_thread_that_could_not_start_was_called_a_bug(fails, failing):
    with failing("fused", RuntimeError("can't start new thread")):
        fails(RESOURCES, "align a.nt b.nt -o run", "no thread can be started")


def test_trouble_with_the_system_is_no_bug(fails, failing):
    with failing("fused", PermissionError(errno.EACCES, "Permission denied", "/somewhere")):
        fails(RESOURCES, "align a.nt b.nt -o run", "Permission denied (/somewhere)")


@pytest.mark.parametrize("option", ["--label", "--predicate", "--license", "--block-by", "--source-types"])
def test_an_option_in_other_bytes_than_utf_8_was_an_internal_error(fails, option):
    fails(USAGE, f"align a.nt b.nt -o run -q {option} urn:\udcff", r"the argument 'urn:\udcff' is not UTF-8")
