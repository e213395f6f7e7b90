"""The towns in the working directory, and the command."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from towns import WORDS, statements

from largeea.cli import run


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    """In the working directory: `a.nt`, `b.ttl`, the benchmark folder `pair`, and `links.tsv`."""
    monkeypatch.chdir(tmp_path)
    Path("pair").mkdir()
    for number, side, name in ((1, "a", "a.nt"), (2, "b", "b.ttl")):
        Path(name).write_text("".join(f"<{s}> <{p}> <{o}> .\n" for s, p, o in statements(side)))
        Path(f"pair/rel_triples_{number}").write_text(
            "".join("\t".join(row) + "\n" for row in statements(side))
        )
    links = [f"http://a/{word}\thttp://b/{word}\n" for word in WORDS]
    Path("links.tsv").write_text("".join(links))
    Path("pair/ent_links").write_text("".join(links))
    for fold in "12":
        Path(f"pair/721_5fold/{fold}").mkdir(parents=True)
        Path(f"pair/721_5fold/{fold}/train_links").write_text("".join(links[:4]))
        Path(f"pair/721_5fold/{fold}/test_links").write_text("".join(links[4:]))


@pytest.fixture
def cli(capsys):
    """Run the command, which must succeed; what it says on standard output, and on standard error."""

    def call(*arguments: str) -> tuple[str, str]:
        capsys.readouterr()
        code = run(list(arguments))
        shown = capsys.readouterr()
        assert code == 0, shown.err
        return shown.out, shown.err

    return call
