"""The structure channel through the command line, with input and settings that do not suit it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from largeea.cli import run
from largeea.config import StructureConfig
from largeea.structure import batch_training
from largeea.structure.batch import Batch
from largeea.structure.models import Embeddings
from largeea.structure.models.training_memory import COSTS, Cost

SIZE = 40
USAGE, RESOURCES, INTERNAL = 2, 4, 5
QUICK = "--set structure.epochs=5 --device cpu --threads 1"
Command = Callable[[str], tuple[str, str]]
Fails = Callable[..., None]


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rings of entities without names, `a.nt` and `b.nt`; every fourth pair is in `seeds.tsv`."""
    monkeypatch.chdir(tmp_path)
    for side in "ab":
        lines = (
            f"<urn:{side}:{at}> <urn:{side}:next> <urn:{side}:{(at + 1) % SIZE}> .\n" for at in range(SIZE)
        )
        Path(f"{side}.nt").write_text("".join(lines))
    Path("seeds.tsv").write_text("".join(f"urn:a:{at}\turn:b:{at}\n" for at in range(0, SIZE, 4)))


@pytest.fixture
def works(capsys: pytest.CaptureFixture[str]) -> Command:
    def check(arguments: str) -> tuple[str, str]:
        code = run(arguments.split())
        shown = capsys.readouterr()
        assert code == 0, shown.err
        return shown.out, shown.err

    return check


@pytest.fixture
def fails(capsys: pytest.CaptureFixture[str]) -> Fails:
    def check(code: int, arguments: str, *messages: str) -> None:
        capsys.readouterr()
        assert run(arguments.split()) == code
        shown = capsys.readouterr()
        assert shown.out == ""
        assert "Traceback" not in shown.err
        said = " ".join(shown.err.split("error: ", 1)[1].split())
        for message in messages:
            assert message in said

    return check


class Small:
    """Knows the answer, if the batch is not too large for it."""

    def __init__(self, most: int, error: Exception | None = None) -> None:
        self.most, self.error = most, error or MemoryError()

    def fit(self, batch: Batch, settings: StructureConfig, seed: int) -> Embeddings:
        if len(batch.source) > self.most:
            raise self.error
        return Embeddings(*(np.eye(SIZE, dtype=np.float32)[ids] for ids in (batch.source, batch.target)))


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def use(*arguments: Any) -> None:
        monkeypatch.setattr(batch_training, "load_model", lambda name: Small(*arguments))

    return use


@pytest.mark.parametrize("preset", ["largeea-r", "largeea-g"])
def test_neither_seeds_nor_names(fails: Fails, preset: str) -> None:
    told = ("learns from seeds, and there are none", "give some, let data augmentation")
    fails(USAGE, f"align a.nt b.nt -o run --preset {preset}", *told)
    fails(USAGE, f"align a.nt b.nt -o other --preset {preset} --without names", *told)


def test_an_unknown_model_lists_the_known(fails: Fails) -> None:
    known = "unknown structure model 'magic'; there are: gcn-align, propagation, rrea"
    fails(USAGE, "align a.nt b.nt --seeds seeds.tsv -o run --set structure.model=magic", known)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "structure.loss=hinge",
            "structure.loss = 'hinge': Input should be 'auto', 'triplet' or 'logsumexp'",
        ),
        ("structure.margin=-1", "structure.margin = -1: "),
        ("structure.refresh_every=0", "structure.refresh_every = 0: "),
        ("structure.threads=2", "use the execution setting 'threads' instead, --threads on the command line"),
        ("structure.device=cpu", "use the execution setting 'device' instead, --device on the command line"),
        ("partition.memory_mb=9", "use the execution setting 'memory' instead, --memory on the command line"),
        ("structure.learning_rate=inf", "learning_rate = inf: "),
        ("partition.k=41", "k = 41 batches from 40 entities: give at most 40"),
        ("partition.method=magic", "unknown partition method 'magic'"),
    ],
)
def test_wrong_settings(fails: Fails, model: Callable[..., None], setting: str, message: str) -> None:
    model(SIZE)
    fails(USAGE, f"align a.nt b.nt --seeds seeds.tsv -o run --preset largeea-g --set {setting}", message)


@pytest.mark.parametrize("name", ["rrea", "gcn-align", "propagation"])
@pytest.mark.parametrize("loss", ["logsumexp", "triplet"])
def test_awkward_graphs(works: Command, name: str, loss: str) -> None:
    """A relation of one triple, entities without neighbours, a loop, and a seed in no triple."""
    if name != "propagation":
        pytest.importorskip("torch", reason="needs largeea[structure]")
    for side in "ab":
        with Path(f"{side}.nt").open("a") as file:
            file.write(f"<urn:{side}:0> <urn:{side}:once> <urn:{side}:7> .\n")
            file.write(f"<urn:{side}:8> <urn:{side}:self> <urn:{side}:8> .\n")
            for lonely in (90, 91):
                file.write(f'<urn:{side}:{lonely}> <urn:{side}:size> "{lonely}" .\n')
    with Path("seeds.tsv").open("a") as file:
        file.write("urn:a:90\turn:b:90\n")
    how = f"--set structure.model={name} --set structure.loss={loss} --set partition.k=2 {QUICK}"
    out, _ = works(f"align a.nt b.nt --seeds seeds.tsv -o run --without names {how} --json")
    answer = json.loads(out)
    in_pairs = answer["accepted"] + answer["doubtful"]
    assert in_pairs >= 11
    assert in_pairs + answer["unmatched_source"] >= SIZE + 2


def test_batches_too_large_for_the_memory_allowed(
    works: Command, fails: Fails, model: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that takes half a gigabyte for an entity: 40 GB for both graphs in one batch."""
    model(SIZE)
    monkeypatch.setitem(COSTS, "gcn-align", Cost(5 * 10**8, 0, 0))
    align = "align a.nt b.nt --seeds seeds.tsv --preset largeea-g --device cpu --memory 20GB"
    told = "the stage 'structure' needs about 4", "and 20.0 GB are allowed; allow more (--memory)"
    fails(RESOURCES, f"{align} --set partition.k=1 -o run", *told)
    works(f"{align} --set partition.k=4 -o four")
    _, err = works(f"{align} -o as-many-as-needed")
    assert "warning: there are 3 mini-batches instead of 1 to stay within the memory limit" in err


def test_too_little_memory_is_told_before_anything_is_computed(fails: Fails) -> None:
    align = "align a.nt b.nt --seeds seeds.tsv --preset largeea-g --device cpu --memory 1MB"
    fails(RESOURCES, f"{align} -o run", "of memory, and 0.0 GB are allowed; allow more (--memory)")
    assert set(json.loads(Path("run/manifest.json").read_text())["stages"]) == {"source", "target"}


def test_a_batch_that_does_not_fit_is_split(works: Command, model: Callable[..., None]) -> None:
    model(SIZE // 2 + 4)
    align = "align a.nt b.nt --seeds seeds.tsv --preset largeea-g --set partition.k=1"
    out, err = works(f"{align} -o run --json")
    assert "batch 1 of 1 does not fit into memory: it is split in two" in err
    assert json.loads(out)["accepted"] > SIZE // 2


def test_what_cannot_be_split_says_what_to_do(fails: Fails, model: Callable[..., None]) -> None:
    model(1)
    align = "align a.nt b.nt --seeds seeds.tsv --preset largeea-g --set partition.k=2 --threads 1 -o run"
    fails(RESOURCES, align, "batch 1 of 2, half 1", "cannot be split further: choose more batches (k)")


def test_a_failing_batch_is_named_with_its_cause(fails: Fails, model: Callable[..., None]) -> None:
    model(1, RuntimeError("shapes differ"))
    align = "align a.nt b.nt --seeds seeds.tsv --preset largeea-g --set partition.k=2 --threads 1 -o run"
    fails(INTERNAL, align, "RuntimeError: shapes differ", "in batch 1 of 2")
