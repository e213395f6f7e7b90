"""Every file of a finished run damaged, swapped or replaced, and manifests edited by hand.

Commands that read the run give the answer that they gave before, or a clear error; `resume` mends the run.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.attack.process import fall, run
from benchmarks.attack.victims import VICTIMS, prepare
from benchmarks.attack.workshop import Attempt, Workshop, difference, required, spread

from largeea.runs.manifest import MANIFEST, write_manifest

READERS = {
    "explain": ["explain", "run", "Paris", "--json"],
    "evaluate": ["evaluate", "run", "--links", "links.tsv", "--json"],
    "merge": ["merge", "run", "-o", "merged.nt", "--json"],
    "export": ["export", "run", "--what", "candidates", "-o", "candidates.parquet", "--json"],
    "report": ["report", "run", "-q"],
    "status": ["status", "run"],
    "verify": ["verify", "run", "-q"],
}
COMPARED = ("explain", "evaluate", "merge", "export")
"""Commands that print nothing but their answer."""
RESUME = ["resume", "run", "-q"]
HUGE_HEADER = ((1 << 63) - 1).to_bytes(8, "little") + b"{" * 1000
WRONG_VALUES: tuple[Any, ...] = (None, -1, 1e300, "", "../../etc/passwd", [], [1], {}, {"x": {}})


def attempts(workshop: Workshop, most: int | None) -> Iterator[Attempt]:
    prepare(workshop)
    required([*VICTIMS["update"].arguments])  # another run, to swap files with
    workshop.save("two runs")
    expected = {name: required(READERS[name]).out for name in COMPARED}
    workshop.restore("two runs")
    content = workshop.content()
    files = sorted(path for path in Path("run").rglob("*") if path.is_file())
    for what, damage in DAMAGES.items():
        for i, number in enumerate(spread(len(files), most)):
            workshop.restore("two runs")
            file = files[number - 1]
            damage(file)
            name = list(READERS)[i % len(READERS)]
            outcome = run(READERS[name])
            wrong = fall(outcome)
            if not wrong and outcome.code == 0 and name in COMPARED and outcome.out != expected[name]:
                wrong = "another answer than before"
            yield f"{what}, then read", wrong and f"{file}, {name}: {wrong}"
            for path in ("merged.nt", "merged.conflicts.tsv", "candidates.parquet"):
                Path(path).unlink(missing_ok=True)
            outcome = run(RESUME)
            wrong = fall(outcome)
            if outcome.code == 0:
                wrong = wrong or mended(workshop.content(), content)
            yield f"{what}, then resume", wrong and f"{file}: {wrong}"
    yield from manifests(workshop, most)


def mended(found: dict[str, bytes], expected: dict[str, bytes]) -> str | None:
    """Compare the files of the run; stages that no answer needs any more may be gone."""
    found, expected = (
        {name: data for name, data in files.items() if name.startswith("run/")} for files in (found, expected)
    )
    gone = {name for name in expected if name.startswith("run/stages/") and name not in found}
    return difference(found, {name: data for name, data in expected.items() if name not in gone})


def flip(where: Callable[[int], int]) -> Callable[[Path], None]:
    def damage(file: Path) -> None:
        content = bytearray(file.read_bytes() or b"\0")
        content[where(len(content))] ^= 0x11
        file.write_bytes(content)

    return damage


def _truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _swap_with_another_run(file: Path) -> None:
    other = Path("run2", *file.parts[1:])
    if other.is_file():
        shutil.copyfile(other, file)


def _swap_with_another_file(file: Path) -> None:
    others = sorted(path for path in file.parent.iterdir() if path.is_file() and path != file)
    shutil.copyfile(random.Random(file.name).choice(others), file)


def _replace(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def damage(file: Path) -> None:
        file.unlink()
        make(file)

    return damage


DAMAGES: dict[str, Callable[[Path], None]] = {
    "first byte flipped": flip(lambda size: 0),
    "byte in the middle flipped": flip(lambda size: size // 2),
    "last byte flipped": flip(lambda size: -1),
    "truncated": _truncate,
    "emptied": lambda file: file.write_bytes(b""),
    "removed": Path.unlink,
    "replaced by a folder": _replace(Path.mkdir),
    "replaced by a dangling link": _replace(lambda file: file.symlink_to("nowhere")),
    "replaced by a link to itself": _replace(lambda file: file.symlink_to(file.name)),
    "replaced by a huge header": lambda file: file.write_bytes(HUGE_HEADER),
    "swapped with another run's": _swap_with_another_run,
    "swapped with another file": _swap_with_another_file,
}


def manifests(workshop: Workshop, most: int | None) -> Iterator[Attempt]:
    """Give entries of the manifest other values, with a checksum that is right."""
    workshop.restore("finished")
    manifest = json.loads(Path("run", MANIFEST).read_text())
    del manifest["checksum"]
    places = list(_places(manifest, ()))
    cases = [(place, value) for place in places for value in WRONG_VALUES]
    random.Random(0).shuffle(cases)
    for i, (place, value) in enumerate(cases[: None if most is None else 4 * most]):
        workshop.restore("finished")
        edited = json.loads(json.dumps(manifest))
        inner = edited
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = value
        write_manifest(Path("run"), edited)
        name, arguments = [*READERS.items(), ("resume", RESUME)][i % (len(READERS) + 1)]
        wrong = fall(run(arguments))
        yield "manifest edited", wrong and f"{'.'.join(place)} = {value!r}, {name}: {wrong}"


def _places(value: Any, place: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if place:
        yield place
    if isinstance(value, dict) and len(place) < 4:
        for key, part in value.items():
            yield from _places(part, (*place, key))
