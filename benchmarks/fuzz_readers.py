"""Fuzz the readers: each must return a result or a clear error for damaged input, fast and in little memory.

    python benchmarks/fuzz_readers.py [--reader all] [--count 10000] [--seed 0] [--keep FOLDER]

Small valid files are damaged at random (the same seed gives the same damage) and read in a separate process,
which may take `--seconds` of CPU time per input and use `--memory-mb` more than when idle. Anything but a
result or a `LargeEAError` is a bug: another exception, a crash, a hang, too much memory, a result that is
inconsistent or whose counts do not add up. The files that show a bug are kept in `--keep`.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import json
import lzma
import os
import random
import resource
import selectors
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from largeea.errors import LargeEAError
from largeea.formats import ReadOptions, read
from largeea.formats.links import LinkTable, read_links
from largeea.graph import KnowledgeGraph, Pair
from largeea.runs.accounting import account_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MOST_BYTES = 1 << 20
SOUND_FILES = Path(__file__).parents[1] / "tests" / "formats" / "sound_files"


@dataclass(frozen=True)
class Reader:
    """A reader to fuzz: valid files by name, tokens to insert into them, and the function that reads them."""

    files: dict[str, bytes]
    tokens: list[bytes]
    read: Callable[[Path], object]


@dataclass(frozen=True)
class Outcome:
    """The outcome of an input: `result`, `refused` or `bug`, with details."""

    kind: str
    detail: str
    seconds: float


# Readers

_LINES = rb"""< > " \ \u \UFFFFFFFF _: @ ^^< <<( )>> #""".split()
_TURTLE = _LINES + rb"""[ ] ( ) { } ''' @prefix @base PREFIX a: {| << >> ; ,""".split()
_XML = rb"""< /> > & &#0; &#xD800; <!ENTITY <![CDATA[ <!-- xmlns:x= rdf:about= ]> <?xml""".split()
_JSON = rb"""{ } [ ] " : , \ud800 "@context": "@id": "@list": null 1e999 \u0040""".split()
_TABLE = [b",", b"\t", b'"', b"\n", b"\r", b'""', b"=1+1", b"\x1b[31m", b"subject"]
_LINKS = [*_TABLE, b"nan", b"-1", b"accepted", b"#", b"curie_map:", b"owl:sameAs", b"x:"]
_BINARY = [b"PAR1", b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"\x15\x00", b"\x19\x0c"]
_ANYWHERE = [
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xc2\x9b",
    b"\xed\xa0\x80",
    b"\r\n",
    b"\x0b",
    b"\xe2\x80\xa8",
]


def _parquet(**columns: list[object]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, row_group_size=2)
    return file.getvalue()


def _file(name: str) -> bytes:
    return (SOUND_FILES / name).read_bytes()


def _graph(name: str, content: bytes, tokens: list[bytes]) -> Reader:
    return Reader({name: content}, tokens, lambda folder: read(folder / name, ReadOptions(max_errors=3)))


def _pair(folder: str) -> Reader:
    paths = (path for path in (SOUND_FILES / folder).rglob("*") if path.is_file())
    files = {str(path.relative_to(SOUND_FILES / folder)): path.read_bytes() for path in paths}
    return Reader(files, _TABLE, read)


def _links(name: str, content: bytes, tokens: list[bytes]) -> Reader:
    return Reader({name: content}, tokens, lambda folder: read_links(folder / name))


_GRAPH_TABLE = _parquet(subject=["a", "b", "ü"], relation=["p", "p", "q"], object=["b", "c", "a"])
_LINK_TABLE = _parquet(source=["urn:a", "urn:b"], target=["urn:x", "urn:y"], confidence=[0.5, None])
READERS: dict[str, Reader] = {
    "n-triples": _graph("a.nt", _file("graph.nt"), _LINES),
    "n-quads": _graph("a.nq", _file("graph.nq"), _LINES),
    "turtle": _graph("a.ttl", _file("graph.ttl"), _TURTLE),
    "trig": _graph("a.trig", _file("graph.trig"), _TURTLE),
    "rdf-xml": _graph("a.rdf", _file("graph.rdf"), _XML),
    "json-ld": _graph("a.jsonld", _file("graph.jsonld"), _JSON),
    "csv": _graph("a.csv", _file("graph.csv"), _TABLE),
    "tsv": _graph("a.tsv", _file("graph.tsv"), _TABLE),
    "records": _graph("a.csv", _file("records.csv"), [*_TABLE, b";", b"|"]),
    "xlsx": _graph("a.xlsx", _file("records.xlsx"), [*_BINARY, b"PK\x01\x02", b"PK\x05\x06"]),
    "parquet": _graph("a.parquet", _GRAPH_TABLE, _BINARY),
    "unknown-suffix": _graph("a.data", _file("graph.nt"), _TURTLE + _XML + _TABLE),
    "openea": _pair("openea"),
    "dbp15k": _pair("dbp15k"),
    "dbp1m": _pair("dbp1m"),
    "links-tsv": _links("l.tsv", _file("links.tsv"), _LINKS),
    "links-sssom": _links("l.sssom.tsv", _file("links.sssom.tsv"), _LINKS),
    "links-alignment-api": _links("l.rdf", _file("links.rdf"), _XML),
    "links-same-as": _links("l.nt", _file("links.nt"), _LINES),
    "links-parquet": _links("l.parquet", _LINK_TABLE, _BINARY),
    "gz": _graph("a.nt.gz", gzip.compress(_file("graph.nt"), mtime=0), _BINARY),
    "bz2": _graph("a.ttl.bz2", bz2.compress(_file("graph.ttl")), _BINARY),
    "xz": _graph("a.csv.xz", lzma.compress(_file("graph.csv")), _BINARY),
    "zst": _links("l.sssom.tsv.zst", zstd.compress(_file("links.sssom.tsv")), _BINARY),
    "parquet.gz": _graph("a.parquet.gz", gzip.compress(_GRAPH_TABLE, mtime=0), _BINARY),
}
"""All readers by name: every format and every compression."""


# Damage


def damaged(reader: str, seed: int, index: int) -> dict[str, bytes]:
    """The files of a reader, one of them damaged; the same arguments give the same damage everywhere."""
    rng = random.Random(f"{seed} {reader} {index}")
    files = dict(READERS[reader].files)
    name = rng.choice(sorted(files))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        files[name] = rng.choice(_DAMAGES)(rng, files[name], READERS[reader].tokens)[:MOST_BYTES]
    return files


def _piece(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 2, 4, 16, 64, 256, len(data))))


def _flip(rng: random.Random, data: bytes, _: list[bytes]) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 4, 32)) if data else 0):
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _overwrite(rng: random.Random, data: bytes, _: list[bytes]) -> bytes:
    start, end = _piece(rng, data)
    return data[:start] + rng.choice((b"\x00", b"\xff", b" ", rng.randbytes(1))) * (end - start) + data[end:]


def _truncate(rng: random.Random, data: bytes, _: list[bytes]) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _remove(rng: random.Random, data: bytes, _: list[bytes]) -> bytes:
    start, end = _piece(rng, data)
    return data[:start] + data[end:]


def _repeat(rng: random.Random, data: bytes, _: list[bytes]) -> bytes:
    start, end = _piece(rng, data)
    return data[:start] + data[start:end][:4096] * rng.choice((2, 3, 10, 100, 3000)) + data[end:]


def _splice(rng: random.Random, data: bytes, _: list[bytes]) -> bytes:
    other = rng.choice(list(READERS[rng.choice(sorted(READERS))].files.values()))
    start, end = _piece(rng, other)
    at = rng.randrange(len(data) + 1)
    return data[:at] + other[start:end] + data[at:]


def _swap(rng: random.Random, data: bytes, _: list[bytes]) -> bytes:
    a, b, c = sorted(rng.randrange(len(data) + 1) for _ in range(3))
    return data[:a] + data[b:c] + data[a:b] + data[c:]


def _insert(rng: random.Random, data: bytes, tokens: list[bytes]) -> bytes:
    at, token = rng.randrange(len(data) + 1), rng.choice(tokens + _ANYWHERE)
    return data[:at] + token * rng.choice((1, 1, 1, 2, 70, 5000)) + data[at:]


_DAMAGES = (_flip, _overwrite, _truncate, _remove, _repeat, _splice, _swap, _insert, _insert)


# Verdict


def outcome(reader: str, folder: Path, files: dict[str, bytes]) -> Outcome:
    """Write the files into the folder, over those of the previous input, and read them."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    started = time.perf_counter()
    try:
        check(READERS[reader].read(folder))
        kind, detail = "result", ""
    except LargeEAError as error:
        kind, detail = "refused", str(error)
    except BaseException as error:  # a panic of a Rust library is not an Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        kind, detail = "bug", f"{type(error).__name__}: {error}"
    return Outcome(kind, detail, time.perf_counter() - started)


def check(result: object) -> None:
    """Check what was read: valid UTF-8, ids that exist, counts that add up."""
    if isinstance(result, Pair):
        check(result.source)
        check(result.target)
        assert (result.links.pairs < (result.source.size, result.target.size)).all()
    elif isinstance(result, KnowledgeGraph):
        account_of(result)
        words = result.attributes
        for column in (result.entities, result.names, result.relations, words.predicates, words.values):
            column.validate(full=True)
        assert result.triples.size == 0 or 0 <= result.triples.min() <= result.triples.max() < 1 << 31
        assert (result.triples[:, [0, 2]] < result.size).all()
        assert (result.triples[:, 1] < len(result.relations)).all()
        assert (words.rows[:, 0] < result.size).all()
    else:
        assert isinstance(result, LinkTable)
        assert len(result.source) == len(result.target)
        result.source.validate(full=True)
        result.target.validate(full=True)


# Processes


def work(reader: str, seed: int, start: int, count: int, memory_mb: int) -> None:
    """Read damaged inputs one by one and write a line of JSON for each; the process may crash."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        ready = outcome(reader, folder, READERS[reader].files)
        print(json.dumps({"ready": ready.kind, "detail": ready.detail}), flush=True)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        allowed = pages * resource.getpagesize() + (memory_mb << 20)
        resource.setrlimit(resource.RLIMIT_AS, (allowed, resource.RLIM_INFINITY))
        for index in range(start, count):
            found = outcome(reader, folder, damaged(reader, seed, index))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            print(json.dumps({"index": index, "peak_mb": peak, **vars(found)}), flush=True)


def lines_of(process: subprocess.Popen[bytes], seconds: float) -> Iterator[dict[str, object]]:
    """Yield the lines of a worker until it ends; kills it if an input takes too long."""
    assert process.stdout is not None
    unread, spent = b"", cpu_seconds(process.pid)
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while cpu_seconds(process.pid) - spent < seconds:
            if not selector.select(timeout=1):
                continue
            block = os.read(process.stdout.fileno(), 1 << 16)
            if not block:
                return
            *lines, unread = (unread + block).split(b"\n")
            yield from (dict(json.loads(line)) for line in lines)
            spent = cpu_seconds(process.pid)
        process.kill()
        yield {"hang": True}


def cpu_seconds(pid: int) -> float:
    """CPU time of a process; wall time is unreliable on a busy machine."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def fuzz(reader: str, options: argparse.Namespace) -> Counter[str]:
    """Fuzz one reader; a worker that crashes is replaced."""
    counts: Counter[str] = Counter()
    begun, following, slowest, peak = time.perf_counter(), 0, 0.0, 0
    environment = os.environ | {"MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    while following < options.count:
        command = [sys.executable, __file__, "--worker", "--reader", reader, "--seed", str(options.seed)]
        command += ["--start", str(following), "--count", str(options.count)]
        command += ["--memory-mb", str(options.memory_mb)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
            hang = False
            for line in lines_of(process, options.seconds):
                if "ready" in line:
                    assert line["ready"] == "result", f"{reader}: the sound file fails: {line['detail']}"
                elif "hang" in line:
                    hang = True
                else:
                    counts[str(line["kind"])] += 1
                    following = int(str(line["index"])) + 1
                    slowest = max(slowest, float(str(line["seconds"])))
                    peak = max(peak, int(str(line["peak_mb"])))
                    if line["kind"] == "bug":
                        report(reader, options, following - 1, str(line["detail"]))
        if following < options.count:
            counts["bug"] += 1
            why = f"no answer after {options.seconds} s" if hang else f"died with code {process.returncode}"
            report(reader, options, following, why)
            following += 1
    seconds = time.perf_counter() - begun
    print(
        f"{reader:<20} {counts['result']:>8} {counts['refused']:>8} {counts['bug']:>6} "
        f"{seconds:>8.0f} {slowest:>8.2f} {peak:>8}",
        flush=True,
    )
    return counts


def report(reader: str, options: argparse.Namespace, index: int, why: str) -> None:
    print(f"BUG {reader} --seed {options.seed} input {index}: {why[:300]}", flush=True)
    if options.keep:
        for name, content in damaged(reader, options.seed, index).items():
            path = options.keep / reader / str(index) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reader", default="all", choices=["all", *READERS])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--memory-mb", type=int, default=1024)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--start", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.reader, options.seed, options.start, options.count, options.memory_mb)
        return
    print("reader                results  refused   bugs  seconds  slowest  peak MB")
    total: Counter[str] = Counter()
    for reader in READERS if options.reader == "all" else [options.reader]:
        total += fuzz(reader, options)
    print(f"{sum(total.values())} inputs, {total['bug']} bugs")
    sys.exit(1 if total["bug"] else 0)


if __name__ == "__main__":
    main()
