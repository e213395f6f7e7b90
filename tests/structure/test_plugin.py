"""A structure model of another package, installed as a user would install it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import largeea

PACKAGE = Path(__file__).resolve().parents[2] / "docs" / "plugin-model"
SIZE = 400


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that pip has put the package into, without a network and without touching this Python."""
    pytest.importorskip("setuptools", reason="the example is built with setuptools")
    pytest.importorskip("pip")
    folder = tmp_path_factory.mktemp("plugin")
    copy = folder / "package"
    copy.mkdir()
    for file in ("pyproject.toml", "seed_propagation.py"):
        (copy / file).write_bytes((PACKAGE / file).read_bytes())
    how = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check")
    command = [sys.executable, "-m", "pip", "install", *how, "--target", str(folder / "site"), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random graph, its copy under other ids, and the links between both; no names."""
    random = np.random.default_rng(0)
    triples = np.column_stack([random.integers(0, high, 4 * SIZE) for high in (SIZE, 6, SIZE)])
    copy = random.permutation(SIZE)
    folder = tmp_path_factory.mktemp("pair")
    for name, number in (("1", np.arange(SIZE)), ("2", copy)):
        rows = zip(number[triples[:, 0]], triples[:, 1], number[triples[:, 2]], strict=True)
        lines = (
            f"urn:{name}:{head}\turn:{name}:r{relation}\turn:{name}:{tail}\n" for head, relation, tail in rows
        )
        (folder / f"rel_triples_{name}").write_text("".join(lines))
    (folder / "ent_links").write_text("".join(f"urn:1:{at}\turn:2:{to}\n" for at, to in enumerate(copy)))
    return folder


def command_line(site: Path | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    ours = Path(largeea.__file__).resolve().parents[1]
    path = os.pathsep.join(str(folder) for folder in (ours, site) if folder)
    program = [sys.executable, "-c", "from largeea.cli import main; main()", *arguments]
    return subprocess.run(
        program, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )


ALONE = ("--without", "names", "--without", "evidence")
BENCH = ("bench", "--train", "0.3", *ALONE, "--set", "structure.model=seed-propagation")


def test_an_installed_model_is_found_by_its_name(installed: Path, pair: Path) -> None:
    done = command_line(installed, *BENCH, "--set", "partition.k=2", str(pair), "--json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["protocols"]["open"]["hits@1"] > 0.5
    assert figures["memory_mb"]["structure"]["host"] > 0


def test_without_the_package_the_name_is_unknown(pair: Path) -> None:
    done = command_line(None, *BENCH, str(pair))
    assert done.returncode == 2
    assert (
        "unknown structure model 'seed-propagation'; there are: gcn-align, propagation, rrea" in done.stderr
    )
