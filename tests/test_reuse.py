"""A change repeats exactly the stages that depend on it, and ends as a run from scratch would."""

from __future__ import annotations

import json
import os
import shutil
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin

import numpy as np
import pytest
from annotated_types import Ge, Gt, Le
from pydantic import AfterValidator

from largeea import pipeline
from largeea.api import align_files
from largeea.config import Config, as_config
from largeea.execution import code
from largeea.execution.stages import Handle
from largeea.names.encoders import ENCODERS
from largeea.runs.store import FolderStore

TOWNS = [
    "Berlin",
    "Paris",
    "Tokyo",
    "Lima",
    "Cairo",
    "Oslo",
    "Quito",
    "Hanoi",
    "Dakar",
    "Sofia",
    "Riga",
    "Bern",
]
DEFAULT = {"evidence": {"rounds": 1}}
"""Everything but a trained model: n-grams, strings, augmentation, evidence."""
TRAINED = {
    "names": {"encoder": "toy", "search": "exact"},
    "structure": {"model": "propagation", "dimension": 448},
    "partition": {"k": 2},
    "evidence": {"rounds": 0},
}
"""Everything but evidence: vectors beside n-grams, mini-batches, a model, the paper's fusion."""
METHODS: dict[str, dict[str, Any]] = {"default": DEFAULT, "trained": TRAINED}


class Toy:
    """An encoder: how often a name has each letter."""

    dimension, fingerprint = 26, "toy"

    def __init__(self, argument: str, settings: Any) -> None:
        pass

    def encode(self, names: list[str]) -> np.ndarray:
        counts = np.array([[name.lower().count(chr(97 + place)) for place in range(26)] for name in names])
        lengths = np.linalg.norm(counts, axis=1, keepdims=True)
        return (counts / np.maximum(lengths, 1)).astype(np.float32)


class Made(NamedTuple):
    """A stage that was computed."""

    name: str
    key: str
    own: str
    """Its function, code and settings, without the stages it depends on."""
    inputs: frozenset[str]
    """Keys of the stages it depends on."""


def made(handle: Handle[Any]) -> Made:
    inputs: set[str] = set()

    def bare(argument: Any) -> Any:
        if isinstance(argument, dict) and list(argument) == ["stage"]:
            inputs.add(argument["stage"])
            return "a stage"
        if isinstance(argument, dict):
            return {name: bare(value) for name, value in argument.items()}
        return [bare(value) for value in argument] if isinstance(argument, list) else argument

    own = json.dumps([handle.call.function, handle.call.code, bare(handle.call.arguments)])
    return Made(handle.name, handle.key, own, frozenset(inputs))


@pytest.fixture(scope="module")
def patch() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as context:
        yield context


@pytest.fixture(scope="module", autouse=True)
def _toy(patch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("toy_encoder")
    module.Toy = Toy  # type: ignore[attr-defined]
    patch.setitem(sys.modules, "toy_encoder", module)
    patch.setitem(ENCODERS.built_in, "toy", "toy_encoder:Toy")
    patch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(scope="module")
def computed(patch: pytest.MonkeyPatch) -> list[Made]:
    """Every stage that was computed since the list was cleared."""
    seen: list[Made] = []
    save = FolderStore.save

    def recording(store: FolderStore, handle: Handle[Any], *rest: Any) -> None:
        seen.append(made(handle))
        save(store, handle, *rest)

    patch.setattr(FolderStore, "save", recording)
    return seen


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`a.nt`, `b.nt` and `seeds.tsv`: towns in a ring, with literals and other names."""
    folder = tmp_path_factory.mktemp("inputs")
    for side in "ab":
        town = [f"<http://{side}/{name}>" for name in TOWNS]
        lines = [
            f"{one} <http://{side}/next> {two} .\n"
            for one, two in zip(town, town[1:] + town[:1], strict=True)
        ]
        lines += [f'{one} <http://{side}/founded> "{900 + place % 5}" .\n' for place, one in enumerate(town)]
        lines += [f'{one} <http://www.w3.org/2004/02/skos/core#altLabel> "the {name}" .\n'
                  for one, name in zip(town[::3], TOWNS[::3], strict=True)]  # fmt: skip
        (folder / f"{side}.nt").write_text("".join(lines))
    (folder / "seeds.tsv").write_text("".join(f"http://a/{name}\thttp://b/{name}\n" for name in TOWNS[:3]))
    return folder


class Reuse:
    """Runs of one method in a folder that has its results from before."""

    def __init__(self, settings: dict[str, Any], inputs: Path, folder: Path, computed: list[Made]) -> None:
        self.settings, self.inputs, self.folder, self.computed = settings, inputs, folder, computed
        self.before = self.align(folder, self.settings)

    def align(self, folder: Path, settings: Any, inputs: Path | None = None, **execution: Any) -> list[Made]:
        """Align; the stages that were computed come back."""
        place = inputs or self.inputs
        self.computed.clear()
        align_files(
            place / "a.nt", place / "b.nt", folder, seeds=place / "seeds.tsv", config=as_config(settings),
            formats=["tsv"], overwrite=True, execution=execution,
        )  # fmt: skip
        return list(self.computed)

    def again(
        self, tmp_path: Path, settings: Any = None, inputs: Path | None = None, **execution: Any
    ) -> tuple[list[Made], list[Made]]:
        """The same folder with a change: what was computed there, and what a run from scratch computes.

        Both must end with the same bytes.
        """
        shutil.copytree(self.folder, tmp_path / "run")
        how = self.settings if settings is None else settings
        found = self.align(tmp_path / "run", how, inputs, **execution)
        scratch = self.align(tmp_path / "scratch", how, inputs, **execution)
        for path in sorted((tmp_path / "scratch").rglob("*")):
            if path.is_file() and path.name not in ("manifest.json", "report.html"):  # which hold times
                same = tmp_path / "run" / path.relative_to(tmp_path / "scratch")
                assert same.read_bytes() == path.read_bytes(), path.name
        return found, scratch


@pytest.fixture(scope="module", params=METHODS)
def method(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def reuse(method: str, inputs: Path, computed: list[Made], tmp_path_factory: pytest.TempPathFactory) -> Reuse:
    return Reuse(METHODS[method], inputs, tmp_path_factory.mktemp(method) / "run", computed)


def names(stages: list[Made]) -> set[str]:
    return {stage.name for stage in stages}


def downstream(stages: list[Made], changed: set[str] | list[Made]) -> set[str]:
    """Names of the stages that depend on changed ones, and of these themselves; stages come in order."""
    keys = {stage.key for stage in changed if isinstance(stage, Made)}
    for stage in stages:
        if stage.name in changed or stage.inputs & keys:
            keys.add(stage.key)
    return {stage.name for stage in stages if stage.key in keys}


def directly_changed(before: list[Made], after: list[Made]) -> list[Made]:
    """The stages whose own settings or code are others than before."""
    known = {(stage.name, stage.own) for stage in before}
    return [stage for stage in after if (stage.name, stage.own) not in known]


# Settings

TEXTS = {
    "names.encoder": {"default": "toy", "trained": "ngram"},
    "partition.method": {"default": "vps", "trained": "vps"},
    "structure.model": {"default": "propagation", "trained": "none"},
    "names.alias_predicates": {"default": ("http://a/x",), "trained": ("http://a/x",)},
    "names.lexicon": dict.fromkeys(("default", "trained"), str(Path(__file__).parent / "names/glossary.tsv")),
    "without": {"default": ("strings",), "trained": ("strings",)},
}
"""Other values where the type alone does not tell one."""
SETTINGS = ["seed", "without"] + [
    f"{section}.{name}"
    for section, field in Config.model_fields.items()
    if hasattr(field.annotation, "model_fields")
    for name in field.annotation.model_fields
]
NAMES = {"semantic", "strings", "names"}
GRAMS = {"default": {"ngrams"}, "trained": {"ngrams"}}
SURROUNDINGS = {"surroundings", "trial-surroundings"}
LITERALS = {"literals", "trial-literals"}
NEARBY = {"names-nearby", "trial-names-nearby"}
ROUNDS = {"fused", "matched", "calibration", "by-values", "neighbours", "trial-neighbours"}
ROUNDS |= SURROUNDINGS | LITERALS | NEARBY
JUDGED = {"judged", "names-worth", "worth-1"}
LEARNT = {"fused", "matched", "calibration"}
"""Stages that take learnt weights as settings: they may change with any evidence."""
WEIGHED = {"default": {"worth-1", *LEARNT}}
USED_BY: dict[str, dict[str, set[str]]] = {
    "seed": {
        "default": {"strings", "candidates", *JUDGED, "knock-outs", *SURROUNDINGS, *LITERALS},
        "trained": {"strings", "batches", "structure"},
    },
    "names.top_k": {"default": NAMES, "trained": NAMES | {"by-vectors", "by-ngrams"}},
    "names.gamma": {"default": {"names", *NEARBY}, "trained": {"names"}},
    "names.theta": {"default": {"strings"}, "trained": {"strings"}},
    "names.max_aliases": {"default": {"name-rows"}, "trained": {"name-rows"}},
    "names.alias_predicates": {"default": {"name-rows"}, "trained": {"name-rows"}},
    "names.discount_brackets": {
        "default": {"ngrams", "semantic", *NEARBY},
        "trained": {"ngrams", "by-ngrams"},
    },
    "names.shortest_gram": GRAMS,
    "names.longest_gram": GRAMS,
    "names.metric": {"trained": {"by-vectors"}},
    "names.search": {"trained": {"by-vectors"}},
    "names.dtype": {"trained": {"vectors"}},
    "names.ngram_weight": {"trained": {"semantic"}},
    "names.dictionaries": {},
    "names.translation_weight": {},
    "augmentation.margin": {"default": {"seeds"}, "trained": {"seeds"}},
    **{f"partition.{name}": {"trained": {"batches"}} for name in Config().partition.__class__.model_fields},
    **{f"structure.{name}": {"trained": {"structure"}} for name in Config().structure.__class__.model_fields},
    "evidence.margin": {"default": {"anchors-1"}},
    "evidence.neighbour_weight": WEIGHED,
    "evidence.surroundings_weight": WEIGHED,
    "evidence.literal_weight": WEIGHED,
    "evidence.learnt_weight": {},
    "evidence.temperature": {"default": {"fused"}},
    "evidence.no_match_score": {"default": LEARNT},
    "evidence.sinkhorn_iterations": {"default": LEARNT},
    "evidence.top_k": {"default": ROUNDS},
    "evidence.candidates_per_round": {"default": {"candidates"}},
    "evidence.nearby_names": {"default": NEARBY},
    "evidence.retrieval_sketches": {"default": {"candidates"}},
    "evidence.scoring_sketches": {"default": SURROUNDINGS},
    "evidence.label_width": {"default": {"candidates", *SURROUNDINGS}},
    "fusion.method": {"trained": {"fused"}},
    "fusion.csls": {"trained": {"fused"}},
    "decision.temperature": {"default": {"matched", "calibration"}},
    "decision.threshold": {"default": {"alignment"}, "trained": {"alignment"}},
    "decision.doubtful": {"default": {"alignment"}, "trained": {"alignment"}},
    "decision.assignment": {"default": {"alignment"}, "trained": {"alignment"}},
}
"""The stages that take a setting as an argument; none where a method is not mentioned."""
CHANGES_THE_METHOD = {
    "without", "names.encoder", "names.lexicon", "structure.model", "evidence.rounds",
    "evidence.min_new_anchor_share", "evidence.literals", "decision.cardinality",
}  # fmt: skip
"""Settings that decide which stages there are."""


def test_every_setting_is_listed() -> None:
    assert set(SETTINGS) == set(USED_BY) | CHANGES_THE_METHOD, "say which stages use the new setting"


def another_value(setting: str, method: str, now: Any) -> Any:
    """A valid value of a setting that is not the one it has."""
    if setting in TEXTS:
        return TEXTS[setting][method]
    section, _, name = setting.rpartition(".")
    owner: Any = Config.model_fields[section].annotation if section else Config
    field = owner.model_fields[name]
    if isinstance(now, bool):
        return not now
    if get_origin(field.annotation) is Literal:
        return next(value for value in get_args(field.annotation) if value != now)
    highest = min([bound.le for bound in field.metadata if isinstance(bound, Le)], default=float("inf"))
    assert all(isinstance(bound, Ge | Gt | Le | AfterValidator) for bound in field.metadata), (
        f"teach this test about {setting}"
    )
    if isinstance(now, int):
        return now + 1 if now + 1 <= highest else now - 1
    assert isinstance(now, float), f"teach this test about {setting}"
    return now + 0.05 if now + 0.05 <= highest else now / 2


def changed(settings: dict[str, Any], setting: str, value: Any) -> dict[str, Any]:
    section, _, name = setting.rpartition(".")
    if not section:
        return settings | {name: value}
    return settings | {section: settings.get(section, {}) | {name: value}}


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_repeats_what_uses_it_and_what_depends_on_that(
    reuse: Reuse, method: str, setting: str, tmp_path: Path
) -> None:
    value: Any = as_config(reuse.settings)
    for part in setting.split("."):
        value = getattr(value, part)
    other = changed(reuse.settings, setting, another_value(setting, method, value))
    assert as_config(other) != as_config(reuse.settings)
    found, scratch = reuse.again(tmp_path, other)
    assert names(found) == {stage.name for stage in scratch if stage not in reuse.before}
    if setting not in CHANGES_THE_METHOD:
        direct = directly_changed(reuse.before, scratch)
        used_by = USED_BY[setting].get(method, set())
        learnt = LEARNT if downstream(scratch, used_by) & JUDGED else set()
        assert used_by <= names(direct) <= used_by | learnt
        assert names(found) == downstream(scratch, direct)


# Input


@pytest.mark.parametrize(
    ("file", "line", "stages"),
    [
        (
            "a.nt",
            "<http://a/Rome> <http://a/next> <http://a/Oslo> .\n",
            {"source", "target", "given-pairs", "given-seeds"},
        ),
        (
            "b.nt",
            "<http://b/Rome> <http://b/next> <http://b/Oslo> .\n",
            {"source", "target", "given-pairs", "given-seeds"},
        ),
        ("seeds.tsv", "http://a/Riga\thttp://b/Riga\n", {"given-pairs", "given-seeds"}),
    ],
)
def test_a_changed_file_repeats_what_depends_on_it(
    reuse: Reuse, inputs: Path, tmp_path: Path, file: str, line: str, stages: set[str]
) -> None:
    """What is matched depends on both graphs, so that each of them depends on the files of both."""
    shutil.copytree(inputs, tmp_path / "inputs")
    with (tmp_path / "inputs" / file).open("a") as opened:
        opened.write(line)
    found, scratch = reuse.again(tmp_path, inputs=tmp_path / "inputs")
    assert names(found) == downstream(scratch, stages)
    assert {"source", "target", "given-pairs", "given-seeds"} & names(found) == stages
    assert "alignment" in names(found)


def test_the_same_files_elsewhere_repeat_nothing(reuse: Reuse, inputs: Path, tmp_path: Path) -> None:
    shutil.copytree(inputs, tmp_path / "inputs")
    found, _ = reuse.again(tmp_path, inputs=tmp_path / "inputs")
    assert found == []


# Weights


def test_other_weights_of_an_encoder_repeat_what_depends_on_its_vectors(
    reuse: Reuse, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "encoder_fingerprint", lambda spec, dtype: f"other weights of {spec}")
    found, scratch = reuse.again(tmp_path)
    expected = {"vectors"} if method == "trained" else set()
    assert names(directly_changed(reuse.before, scratch)) == expected
    assert names(found) == downstream(scratch, expected)


# Code


@pytest.fixture
def edit(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Change the source of a module of the package, as far as fingerprints see it."""
    read = code.source_of

    def forget() -> None:
        for function in vars(code).values():
            getattr(function, "cache_clear", lambda: None)()

    def change(module: str) -> None:
        monkeypatch.setattr(
            code, "source_of", lambda name: read(name) + (b"\n# changed\n" if name == module else b"")
        )
        forget()

    yield change
    monkeypatch.undo()
    forget()


def functions_of(stages: list[Made]) -> dict[str, str]:
    """The module of each stage's function."""
    return {stage.name: json.loads(stage.own)[0].rpartition(".")[0] for stage in stages}


SHARED = {
    "largeea.similarity.kernels",
    "largeea.graph.types",
    "largeea.search.sparse_kernels",
    "largeea.randomness",
}
"""Modules that stages build on."""


def test_changed_code_repeats_the_stages_that_build_on_it(
    reuse: Reuse, tmp_path: Path, edit: Callable[[str], None]
) -> None:
    """Each module that has a stage, and some that many stages share."""
    used = functions_of(reuse.before)
    for number, module in enumerate(sorted({*used.values(), *SHARED})):
        built_on_it = {stage for stage, own in used.items() if module in code._closure(own)}
        built_on_it |= {
            of for plugin, of in PLUGINS.items() if of in used and module in code._closure(plugin)
        }
        assert built_on_it
        edit(module)
        (tmp_path / str(number)).mkdir()
        found, scratch = reuse.again(tmp_path / str(number))
        assert names(directly_changed(reuse.before, scratch)) == built_on_it, module
        assert names(found) == downstream(scratch, built_on_it), module


PLUGINS = {
    "largeea.structure.models.propagation": "structure",
    "largeea.evidence.propagation": "structure",
    "largeea.structure.partition.metis_cps": "batches",
    "largeea.structure.partition.metis": "batches",
}
"""Modules that a plug-in is made of, and the stage that uses it."""


@pytest.mark.parametrize("module", PLUGINS)
def test_changed_code_of_a_plug_in_repeats_its_stage(
    inputs: Path, computed: list[Made], tmp_path: Path, edit: Callable[[str], None], module: str
) -> None:
    reuse = Reuse(TRAINED, inputs, tmp_path / "before", computed)
    edit(module)
    found, scratch = reuse.again(tmp_path)
    assert names(found) == downstream(scratch, {PLUGINS[module]})


def test_changed_code_of_another_plug_in_repeats_nothing(
    inputs: Path, computed: list[Made], tmp_path: Path, edit: Callable[[str], None]
) -> None:
    reuse = Reuse(TRAINED, inputs, tmp_path / "before", computed)
    edit("largeea.structure.models.rrea")
    assert reuse.again(tmp_path)[0] == []


def test_code_that_cannot_change_an_answer_repeats_nothing(
    reuse: Reuse, tmp_path: Path, edit: Callable[[str], None]
) -> None:
    for number, module in enumerate(("largeea.progress", "largeea.execution.jobs", "largeea.runs.folder")):
        edit(module)
        (tmp_path / str(number)).mkdir()
        assert reuse.again(tmp_path / str(number))[0] == []


# Execution


@pytest.mark.parametrize(
    "execution",
    [{"threads": 1}, {"threads": 3}, {"memory": "9GB"}, {"device": "cpu"}, {"gpu_memory": "1GB"}],
)
def test_execution_settings_repeat_nothing(reuse: Reuse, tmp_path: Path, execution: dict[str, Any]) -> None:
    found, scratch = reuse.again(tmp_path, **execution)
    assert found == []
    assert scratch == reuse.before, "not a key differs"


# Rounds


@pytest.mark.parametrize(
    "setting",
    ["evidence.margin", "evidence.rounds", "evidence.min_new_anchor_share", "evidence.top_k", "seed"],
)
def test_rounds_replace_each_other_and_still_end_as_from_scratch(
    inputs: Path, computed: list[Made], tmp_path: Path, setting: str
) -> None:
    """Only the last round of a stage is stored; what an earlier one had is made again where it is needed."""
    settings = {"evidence": {"rounds": 3, "min_new_anchor_share": 0.0}}
    reuse = Reuse(settings, inputs, tmp_path / "before", computed)
    assert [stage.name for stage in reuse.before].count("neighbours") == 3
    (tmp_path / "same").mkdir()
    assert reuse.again(tmp_path / "same")[0] == []
    value: Any = as_config(reuse.settings)
    for part in setting.split("."):
        value = getattr(value, part)
    other = changed(reuse.settings, setting, another_value(setting, "default", value))
    found, scratch = reuse.again(tmp_path, other)
    keys = {(stage.name, stage.key) for stage in (*reuse.before, *scratch)}
    several = {name for name, _ in keys if len({key for one, key in keys if one == name}) > 1}
    new = {stage.name for stage in scratch if stage not in reuse.before}
    assert new <= names(found) <= new | several
