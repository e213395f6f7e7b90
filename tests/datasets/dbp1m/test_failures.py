"""What goes wrong in practice: broken dumps, wrong languages, full disks, builds that were interrupted."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from pathlib import Path

import pytest

import largeea
from largeea.datasets import dbp1m
from largeea.datasets.dbp1m import build, distil, write
from largeea.runs import files

OUTPUTS = ("dbp1m", "openea", "masked", "card.json", "README.md")


def outputs(folder: Path) -> dict[str, bytes]:
    """Every file of a benchmark but those for building."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "work" not in path.parts
    }


def unfinished(folder: Path) -> list[Path]:
    return list(folder.rglob(".*"))


@pytest.fixture
def distilled(monkeypatch) -> list[str]:
    """The dumps that were really read, in order."""
    read: list[str] = []
    original = distil._distil_anew

    def watched(dump, *rest):
        read.append(dump.name)
        return original(dump, *rest)

    monkeypatch.setattr(distil, "_distil_anew", watched)
    return read


@pytest.mark.filterwarnings("ignore:4 malformed line")
def test_an_interrupted_build_goes_on_where_it_was(make_build, distilled, monkeypatch, tmp_path):
    made = make_build(bad_lines=2)
    whole = build(made.recipe, tmp_path / "undisturbed")
    distilled.clear()
    original, calls = distil.rdf.read_rdf, []

    def stopped_at_the_fourth(path, *rest, **more):
        calls.append(path)
        original(path, *rest, **more)
        if len(calls) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(distil.rdf, "read_rdf", stopped_at_the_fourth)
    with pytest.raises(KeyboardInterrupt):
        build(made.recipe, made.folder)
    assert len(list((made.folder / "work").iterdir())) == 3
    assert unfinished(made.folder) == []
    monkeypatch.undo()

    read = []
    anew = distil._distil_anew
    monkeypatch.setattr(distil, "_distil_anew", lambda dump, *rest: read.append(dump) or anew(dump, *rest))
    resumed = build(made.recipe, made.folder)
    assert len(read) == len(made.recipe.source_dumps + made.recipe.target_dumps) - 3
    assert resumed == whole
    assert outputs(made.folder) == outputs(tmp_path / "undisturbed")


def test_a_finished_build_reads_no_dump_again_and_still_tells_the_bad_lines(make_build, distilled):
    made = make_build(bad_lines=3)
    redirects = next(dump for dump in made.recipe.source_dumps if dump.name == "redirects_en.nt")
    redirects.write_text(
        redirects.read_text() + f'<http://dbpedia.org/resource/X> <{distil.LABEL}> "X"@e_n .\n'
    )
    told = r"6 malformed line.* and 1 literal\(s\) were kept without"
    with pytest.warns(largeea.LargeEAWarning, match=told):
        first = build(made.recipe, made.folder)
    before, rejects = outputs(made.folder), (made.folder / "rejects.tsv").read_bytes()
    assert b"kept without its language tag" in rejects
    distilled.clear()
    with pytest.warns(largeea.LargeEAWarning, match=told):
        assert build(made.recipe, made.folder) == first
    assert distilled == []
    assert outputs(made.folder) == before
    assert (made.folder / "rejects.tsv").read_bytes() == rejects


def test_a_dump_that_changed_is_read_again(make_build, distilled):
    made = make_build()
    build(made.recipe, made.folder)
    distilled.clear()
    redirects = next(dump for dump in made.recipe.source_dumps if "redirects" in dump.name)
    redirects.write_bytes(redirects.read_bytes() + b"# one more line\n")
    build(made.recipe, made.folder)
    assert distilled == [redirects.name]


def test_a_damaged_work_file_is_made_anew(make_build, distilled):
    made = make_build()
    first = build(made.recipe, made.folder)
    victim = sorted((made.folder / "work").iterdir())[0]
    victim.write_bytes(victim.read_bytes()[:-100])
    distilled.clear()
    assert build(made.recipe, made.folder) == first
    assert len(distilled) == 1


def test_a_flipped_bit_in_a_work_file_is_told(make_build):
    made = make_build()
    build(made.recipe, made.folder)
    victim = max((made.folder / "work").iterdir(), key=lambda file: file.stat().st_size)
    data = bytearray(victim.read_bytes())
    data[len(data) // 3] ^= 1
    victim.write_bytes(data)
    with pytest.raises(largeea.InputError, match=rf"{victim.name}: is damaged .*; delete it and run"):
        build(made.recipe, made.folder)


def test_leftovers_of_a_killed_build_are_removed(make_build):
    made = make_build()
    (made.folder / "work").mkdir(parents=True)
    leftover = made.folder / "work" / ".abc.parquet.4242.tmp"
    leftover.write_bytes(b"half")
    half_written = made.folder / ".openea.unfinished"
    half_written.mkdir()
    (half_written / "rel_triples_1").write_text("half")
    build(made.recipe, made.folder)
    assert unfinished(made.folder) == []


class FullDisk:
    """A file on a disk that has no room for more than a few bytes."""

    def __init__(self, file, room: int) -> None:
        self._file, self._room = file, room

    def write(self, data) -> int:
        self._room -= len(data)
        if self._room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._file.write(data)

    def __getattr__(self, name):
        return getattr(self._file, name)


@pytest.mark.parametrize("name", ["mappingbased_objects_en", "sameas_en"])
def test_a_full_disk_while_distilling(make_build, monkeypatch, name, tmp_path):
    """Also in Turtle, where the reader takes errors of the operating system for those of its input."""
    made = make_build()

    @contextmanager
    def nearly_full(path):
        with files.atomic_write(path) as file:
            yield FullDisk(file, 100)

    chosen = [dump for dump in made.recipe.source_dumps if name in dump.name]
    recipe = dbp1m.Recipe((*chosen, *made.recipe.source_dumps), made.recipe.target_dumps, ("en", "fr"))
    monkeypatch.setattr(distil, "atomic_write", nearly_full)
    with pytest.raises(largeea.ResourceError, match=r"[Nn]o space left"):
        build(recipe, made.folder)
    assert list((made.folder / "work").iterdir()) == []
    monkeypatch.undo()
    build(made.recipe, made.folder)


def test_a_full_disk_while_writing_keeps_the_benchmark_that_is_there(make_build, monkeypatch):
    made = make_build()
    build(made.recipe, made.folder)
    before = outputs(made.folder)

    def full(pair, folder):
        folder.mkdir(parents=True)
        (folder / "rel_triples_1").write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(write, "write_pair", full)
    with pytest.raises(largeea.ResourceError, match=r"No space left on device.*run the same command again"):
        build(made.recipe, made.folder)
    assert outputs(made.folder) == before
    assert unfinished(made.folder) == []


def test_a_dump_that_is_cut_short(make_build):
    made = make_build()
    dump = next(dump for dump in made.recipe.source_dumps if dump.suffix == ".bz2")
    dump.write_bytes(dump.read_bytes()[:-40])
    with pytest.raises(largeea.InputError, match=r"mappingbased_objects_en\.ttl\.bz2: .*cut short"):
        build(made.recipe, made.folder)
    assert unfinished(made.folder) == []


def test_turtle_with_a_mistake_tells_the_line(make_build):
    made = make_build(max_errors=0)
    dump = next(dump for dump in made.recipe.source_dumps if "sameas" in dump.name)
    dump.write_text("@prefix a: <http://x/> .\na:b a:c ] .\n" + dump.read_text())
    with pytest.raises(largeea.InputError, match=r"sameas_en\.ttl:2: "):
        build(made.recipe, made.folder)


def test_a_file_that_is_no_dump(make_build, tmp_path):
    made = make_build()
    table = tmp_path / "table.csv"
    table.write_text("a,b,c\n1,2,3\n")
    with pytest.raises(largeea.InputError, match=r"table\.csv: is csv; a dump is RDF"):
        build(dbp1m.Recipe((table,), made.recipe.target_dumps, ("en", "fr")), made.folder)


@pytest.mark.parametrize(
    ("languages", "message"),
    [
        (("es", "fr"), r"source dumps hold no triple between two resources of 'es'.*describe: en \("),
        (("en", "de"), r"target dumps hold no triple between two resources of 'de'.*describe: fr \("),
    ],
)
def test_a_language_that_does_not_occur(make_build, languages, message):
    made = make_build()
    recipe = dbp1m.Recipe(made.recipe.source_dumps, made.recipe.target_dumps, languages)
    with pytest.raises(largeea.InputError, match=message):
        build(recipe, made.folder)


def test_languages_that_are_not_linked(make_build):
    made = make_build()
    german = made.recipe.source_dumps[0].with_name("german.nt")
    one, two = "<http://de.dbpedia.org/resource/A>", "<http://de.dbpedia.org/resource/B>"
    german.write_text(f"{one} <http://dbpedia.org/ontology/team> {two} .\n")
    french = [
        dump for dump in made.recipe.target_dumps if "sameas" not in dump.name and "inter" not in dump.name
    ]
    with pytest.raises(
        largeea.InputError, match=r"no dump links 'de' with 'fr'. Languages that are linked: none"
    ):
        build(dbp1m.Recipe((german,), tuple(french), ("de", "fr")), made.folder)
    with pytest.raises(
        largeea.InputError, match=r"no dump links 'de' with 'en'.*fr-de \(\d+\), fr-en \(\d+\)"
    ):
        build(
            dbp1m.Recipe(
                (german, *made.recipe.target_dumps), _objects(made.recipe.source_dumps), ("de", "en")
            ),
            made.folder,
        )


def _objects(dumps):
    return tuple(dump for dump in dumps if "mappingbased" in dump.name)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"languages": ("en", "en")}, "'en' twice"),
        ({"languages": ("english!", "fr")}, "'english!' is not a language code"),
        ({"layouts": ("dbp15k",)}, "unknown layout 'dbp15k'; known: dbp1m, openea"),
        ({"source_dumps": ()}, "each side needs at least one dump"),
    ],
)
def test_recipes_that_make_no_sense(make_build, change, message):
    made = make_build()
    with pytest.raises(largeea.UsageError, match=message):
        dbp1m.Recipe(**{**vars(made.recipe), **change})


def test_memory_that_does_not_suffice_is_told_and_the_work_is_kept(make_build, distilled):
    made = make_build()
    tight = dbp1m.Recipe(**{**vars(made.recipe), "memory_mb": 1})
    with pytest.raises(
        largeea.ResourceError, match=r"reading triples takes .* MB by now, and --memory allows 1;"
    ):
        build(tight, made.folder)
    distilled.clear()
    build(made.recipe, made.folder)
    assert distilled == []
