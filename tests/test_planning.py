"""The plan: larger graphs need more, limits are obeyed before the start, and what gets worse is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import largeea
from largeea.config import Config, load
from largeea.errors import ResourceError
from largeea.execution import Execution, executing
from largeea.execution.planner import Need, Plan, first_that_fits
from largeea.graph import Attributes, KnowledgeGraph, strings
from largeea.planning import Sizes, make_plan
from largeea.runs.folder import read_manifest

MILLION = Sizes((1_880_000, 1_370_000), (7_000_000, 3_000_000), (0, 0), (40_000_000, 30_000_000), (0, 0))
SMALL = Sizes((15_000, 15_000), (50_000, 50_000), (0, 0), (300_000, 300_000), (0, 0))


@pytest.fixture(autouse=True)
def _fresh_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nothing had run in this process before."""
    monkeypatch.setattr("largeea.planning.one_machine.resident_bytes", lambda: 200_000_000)


def graph(side: str, size: int = 40) -> KnowledgeGraph:
    names = [f"name {number:03d}" for number in range(size)]
    entities = strings(f"http://{side}/{number:03d}" for number in range(size))
    triples = np.array([[number, 0, (number + 1) % size] for number in range(size)])
    return KnowledgeGraph(entities, strings(names), strings([f"http://{side}/next"]), triples)


def years(size: int = 40) -> Attributes:
    """A year for each entity."""
    rows = [[number, 0, number, 0] for number in range(size)]
    values = strings(str(1900 + number) for number in range(size))
    return Attributes(np.array(rows), strings(["urn:year"]), values, strings([""]))


def test_larger_graphs_need_more() -> None:
    small, large = (make_plan(sizes, Config(), Execution(memory="100GB"))[0] for sizes in (SMALL, MILLION))
    assert [need.stage for need in small.needs] == [need.stage for need in large.needs]
    by_name = {need.stage: need for need in small.needs}
    for need in large.needs[2:]:
        assert need.host > by_name[need.stage].host, need.stage
        assert need.disk >= by_name[need.stage].disk, need.stage
    assert 3e9 < large.peak.host < 3e10
    assert small.peak.host < 1e9


@pytest.mark.parametrize("literals", [False, True])
def test_stages_are_those_of_the_method(tmp_path: Path, literals: bool) -> None:
    """Every planned stage is carried out, and every stage that takes long is planned."""
    sides = [replace(graph(side), attributes=years() if literals else Attributes.none()) for side in "ab"]
    largeea.align(*sides, folder=tmp_path / "run")
    manifest = read_manifest(tmp_path / "run")
    planned = {need["stage"] for need in manifest["plan"]["needs"]}
    if_translations_tell = {"learnt-candidates", "trial-translations", "trial-learnt"}
    assert planned - if_translations_tell <= set(manifest["timings"])
    assert ({"attribute-values", "by-values", "literals", "trial-literals"} <= planned) == literals
    bookkeeping = {"given-seeds", "seeds", "known-pairs", "judged", "apart", "names-worth", "knock-outs"}
    bookkeeping |= {"trial-known", "trial-anchors", "given-pairs"}
    bookkeeping |= {name for name in manifest["timings"] if name.startswith(("anchors-", "worth-"))}
    bookkeeping |= {name for name in manifest["timings"] if name.endswith(("-without-seeds", "-not-known"))}
    assert set(manifest["timings"]) - planned <= bookkeeping


def test_what_cannot_fit_is_refused_before_the_start(tmp_path: Path) -> None:
    plan, _ = make_plan(MILLION, Config(), Execution(memory="1GB"))
    with pytest.raises(ResourceError, match=r"needs about .* GB of memory, and 1.0 GB are allowed"):
        plan.check()
    with pytest.raises(ResourceError, match="allow more"):
        largeea.align(graph("a"), graph("b"), execution={"memory": "10MB"}, folder=tmp_path / "run")
    assert set(read_manifest(tmp_path / "run")["stages"]) <= {"source", "target"}


def test_narrower_labels_are_told_and_kept_in_the_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, config = make_plan(MILLION, Config(), Execution(memory="100GB"))
    assert plan.adjustments == ()
    assert config == Config()
    plan, config = make_plan(MILLION, Config(), Execution(memory="6500MB"))
    assert config.evidence.label_width == 32
    assert "labels have width 32 instead of 64" in plan.adjustments[0]

    def adjusted(sizes: Sizes, config: Config) -> tuple[Plan, Config]:
        changed = config.model_copy(
            update={"evidence": config.evidence.model_copy(update={"label_width": 16})}
        )
        return Plan((Need("all", 1),), 10, None, ("labels are narrow",)), changed

    monkeypatch.setattr("largeea.pipeline.make_plan", adjusted)
    with pytest.warns(largeea.LargeEAWarning, match="labels are narrow"):
        largeea.align(graph("a"), graph("b"), folder=tmp_path / "run")
    manifest = read_manifest(tmp_path / "run")
    assert manifest["plan"]["adjustments"] == ["labels are narrow"]
    assert manifest["config"]["evidence"]["label_width"] == 64, "what the user asked for"
    assert 16 in manifest["stages"]["surroundings"]["arguments"]


def test_more_mini_batches_where_memory_is_short() -> None:
    config = load("largeea-r")
    plan, adjusted = make_plan(MILLION, config, Execution(memory="2GB", device="cpu"))
    assert adjusted.partition.k > 22
    assert f"there are {adjusted.partition.k} mini-batches instead of" in plan.adjustments[0]
    _, as_asked = make_plan(MILLION, load("largeea-r", settings=("partition.k=23",)), Execution(memory="2GB"))
    assert as_asked.partition.k == 23, "what the user sets stays"


def test_gpu_memory_is_checked_too() -> None:
    plan = Plan((Need("structure", 10, gpu=2 * 10**9),), 10**9, 10**9)
    with pytest.raises(ResourceError, match=r"needs about 2.0 GB of GPU memory, and 1.0 GB are allowed"):
        plan.check()


def on_gpu(monkeypatch: pytest.MonkeyPatch, free: float) -> None:
    """As if there were a GPU with so many free bytes."""
    for place in (
        "planning.gpu",
        "planning.one_machine",
        "names.semantic",
        "search.dense",
        "structure.partition.size",
    ):
        monkeypatch.setattr(f"largeea.{place}.cuda_is_chosen", lambda: True)
    for place in ("planning.gpu", "structure.partition.size"):
        monkeypatch.setattr(f"largeea.{place}.torch_device", lambda: None)
        monkeypatch.setattr(f"largeea.{place}.free_gpu_bytes", lambda device: int(free))


def test_what_stages_take_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="needs largeea[structure]")
    on_gpu(monkeypatch, 24e9)
    plan, _ = make_plan(MILLION, Config(), Execution(memory="16GB", gpu_memory="24GB"))
    gpu = {need.stage: need.gpu for need in plan.needs}
    for stage in ("semantic", "fused", "candidates", "surroundings", "trial-surroundings", "matched"):
        assert 1e9 < gpu[stage] < 24e9, stage
    assert gpu["strings"] == gpu["edges"] == 0
    assert plan.adjustments == ()
    plan.check()
    on_gpu(monkeypatch, 2e9)
    plan, _ = make_plan(MILLION, Config(), Execution(memory="16GB", gpu_memory="2GB"))
    assert not any(need.gpu for need in plan.needs)
    assert "the CPU carries out the stage 'semantic'" in plan.adjustments[0]


def test_what_fits_on_a_gpu_is_what_the_sketches_take_to_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    sketches = pytest.importorskip("largeea.evidence.cuda", reason="needs largeea[structure]")
    on_gpu(monkeypatch, 24e9)
    planned = {
        need.stage: need.gpu for need in make_plan(MILLION, Config(), Execution(memory="16GB"))[0].needs
    }
    sides = (
        SimpleNamespace(nodes=nodes, relation=range(2 * triples))
        for nodes, triples in zip(MILLION.entities, MILLION.triples, strict=True)
    )
    graphs = SimpleNamespace(shape=MILLION.entities, **dict(zip(("source", "target"), sides, strict=True)))
    monkeypatch.setattr(sketches, "torch_device", lambda: None)
    for free, fits in ((planned["surroundings"] + 1, True), (0.99 * planned["surroundings"], False)):
        monkeypatch.setattr(sketches, "free_gpu_bytes", lambda device, free=free: free)
        assert sketches.fits(graphs, Config().evidence.label_width) == fits


def test_largeea_r_fits_a_million_entities(monkeypatch: pytest.MonkeyPatch) -> None:
    """MiniLM on a GPU of 24 GB and a host with 16 GB."""
    pytest.importorskip("torch", reason="needs largeea[structure]")
    on_gpu(monkeypatch, 24e9)
    monkeypatch.setattr("largeea.names.sizes.encoder_dimension", lambda spec: 384)
    with executing(Execution(memory="16GB", gpu_memory="24GB", threads=16)):
        plan, adjusted = make_plan(MILLION, load("largeea-r"))
    plan.check()
    assert adjusted.partition.k == 0
    gpu = {need.stage: need.gpu for need in plan.needs}
    for stage in ("vectors", "semantic", "structure"):
        assert 1e9 < gpu[stage] < 24e9, stage


@pytest.mark.parametrize(
    "sizes",
    [
        Sizes(
            (1_877_793, 1_365_118), (7_031_168, 2_997_456), (1_900_000, 1_400_000),
            (40_000_000, 30_000_000), (160_000_000, 120_000_000), (40_000_000, 30_000_000),
        ),
        Sizes(
            (2_317_764, 2_609_339), (4_635_437, 5_218_589), (2_317_719, 2_609_295),
            (60_699_322, 67_560_257), (380_804_554, 427_156_225), (60_571_799, 67_413_646),
        ),
    ],
    ids=["a twin of DBP1M", "the taxonomy of NCBI"],
)  # fmt: skip
def test_two_million_entities_fit_into_what_they_were_measured_to_take(sizes: Sizes) -> None:
    """Aligned within 12 GB, they took 9.8 and 11.6 GB, and some 8 minutes on two cores."""
    plan, config = make_plan(sizes, Config(), Execution(memory="12GB", threads=2, device="cpu"))
    plan.check()
    assert config == Config(), "nothing had to be lowered"
    assert plan.peak.host > 9e9
    assert 300 < plan.seconds < 1200


def test_the_first_choice_that_fits() -> None:
    assert first_that_fits([64, 32, 16], lambda width: width * 2, 70) == 32
    assert first_that_fits([64, 32, 16], lambda width: width * 2, 1) == 16
