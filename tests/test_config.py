from __future__ import annotations

import tomllib
import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import pytest
from annotated_types import Ge, Gt, Le, Lt
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from largeea import config as configuration
from largeea.config import PARTS, PRESETS, Config, DecisionConfig, NamesConfig, load
from largeea.errors import InputError, UsageError


def values_of(annotation: Any, bounds: list[Any]) -> st.SearchStrategy[Any]:
    """Anything a field of this type may hold, so that a new field is tested without being named here."""
    low = max((b.ge if isinstance(b, Ge) else b.gt for b in bounds if isinstance(b, Ge | Gt)), default=0)
    high = min(
        (b.le if isinstance(b, Le) else b.lt for b in bounds if isinstance(b, Le | Lt)), default=low + 10
    )
    if annotation is bool:
        return st.booleans()
    if annotation is int:
        return st.integers(int(low), int(high))
    if annotation is float:
        return st.floats(low, high, exclude_min=any(isinstance(b, Gt) for b in bounds))
    if annotation in (str, Path):
        return st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(annotation)
    if get_origin(annotation) is Literal:
        return st.sampled_from(get_args(annotation))
    if get_origin(annotation) is tuple:
        return st.lists(values_of(get_args(annotation)[0], [])).map(tuple)
    if get_origin(annotation) in (Union, types.UnionType):
        options = [option for option in get_args(annotation) if option is not type(None)]
        return st.none() | st.one_of(*(values_of(option, bounds) for option in options))
    if annotation is type(None):
        return st.none()
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return models(annotation)
    raise TypeError(f"teach this test about fields of type {annotation}")


def models(model: type[BaseModel]) -> st.SearchStrategy[Any]:
    def field(info: FieldInfo) -> st.SearchStrategy[Any]:
        return values_of(info.annotation, info.metadata)

    def build(values: dict[str, Any]) -> BaseModel:
        try:
            return model(**values)
        except ValidationError:
            reject()

    return st.fixed_dictionaries({name: field(info) for name, info in model.model_fields.items()}).map(build)


@settings(deadline=None, max_examples=80, database=None, derandomize=True)
@given(st.deferred(lambda: models(Config)))
def test_toml_round_trip_of_every_field(tmp_path_factory: pytest.TempPathFactory, config: Config) -> None:
    file = tmp_path_factory.mktemp("config") / "config.toml"
    file.write_text(config.to_toml(), "utf-8")
    assert load(file=file) == config


def test_toml_reads_as_a_person_would_write_it() -> None:
    text = Config(seed=7, without=("strings", "sens")).to_toml()
    values = tomllib.loads(text)
    assert text.startswith('seed = 7\nwithout = ["strings", "sens"]\n')
    assert values["names"]["top_k"] == 50
    assert values["decision"]["accept"] == 0.5


def test_the_default_is_the_default_preset() -> None:
    assert load() == Config() == load("default")


def test_each_source_wins_over_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        PRESETS, "thin", {"seed": 1, "names": {"top_k": 11, "shortest_gram": 1, "longest_gram": 6}}
    )
    file = tmp_path / "config.toml"
    file.write_text("seed = 2\n[names]\ntop_k = 12\nshortest_gram = 3\n[decision]\naccept = 0.25\n")
    assert load("thin") == Config(seed=1, names=NamesConfig(top_k=11, shortest_gram=1, longest_gram=6))
    assert load("thin", file) == Config(
        seed=2,
        names=NamesConfig(top_k=12, shortest_gram=3, longest_gram=6),
        decision=DecisionConfig(accept=0.25),
    )
    changed = load("thin", file, ("seed=3", "names.top_k=13"))
    assert (changed.seed, changed.names.top_k, changed.names.shortest_gram) == (3, 13, 3)
    changed = load("thin", file, ("seed=3", "names.top_k=13", "names.top_k=14"), seed=4)
    assert (changed.seed, changed.names.top_k) == (4, 14)
    assert load("thin", seed=None).seed == 1
    assert PRESETS["thin"]["names"]["top_k"] == 11


@pytest.mark.parametrize(
    ("setting", "attribute", "value"),
    [
        ("seed=7", "seed", 7),
        (" seed = 7", "seed", 7),
        ('without=["names", "sens"]', "without", ("names", "sens")),
        ("decision.accept=1e-1", "decision", DecisionConfig(accept=0.1)),
        ("decision.accept=0", "decision", DecisionConfig(accept=0)),
    ],
)
def test_settings(setting: str, attribute: str, value: Any) -> None:
    assert getattr(load(settings=(setting,)), attribute) == value


@pytest.mark.parametrize("setting", ["seed", "", "=3", "names.top_k 3", "  = 3"])
def test_a_setting_needs_a_key_and_a_value(setting: str) -> None:
    with pytest.raises(UsageError, match=r"key=value, for example names.top_k=20") as error:
        load(settings=(setting,))
    assert repr(setting) in str(error.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (("names.topk=3",), r"unknown setting 'names.topk'; known here: encoder, metric"),
        (("colour=red",), r"unknown setting 'colour'; known here: seed, without, names"),
        (("names.top_k=many",), r"names.top_k = 'many': Input should be a valid integer"),
        (("names.top_k=0",), r"names.top_k = 0: .*greater than or equal to 1"),
        (("names.top_k=",), r"names.top_k = '': "),
        (("names=3",), r"names = 3: "),
        (("seed.deep=3",), r"seed = \{'deep': 3\}: .*integer"),
        (("decision.accept=1.5",), r"decision.accept = 1.5: .*less than or equal to 1"),
        (("decision.accept=nan",), r"decision.accept = nan: "),
        (('without=["colour"]',), r"without.0 = 'colour': .*'structure', 'names'"),
        (("seed=-1", "names.top_k=0"), r"seed = -1: .*; names.top_k = 0: "),
        (
            ("names.shortest_gram=5",),
            r"^names: longest_gram = 4 is below shortest_gram = 5; raise the one or lower the other$",
        ),
    ],
)
def test_wrong_settings_are_told_with_what_is_allowed(settings: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load(settings=settings)


def test_unknown_preset_lists_the_known() -> None:
    with pytest.raises(UsageError, match=r"unknown preset 'x'; known: default"):
        load("x")


def test_every_preset_is_valid() -> None:
    for preset in PRESETS:
        assert isinstance(load(preset), Config)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"seed = ", "is not a TOML file"),
        (b"\xff\xfe", "is not a TOML file"),
        (None, "cannot be read: No such"),
    ],
)
def test_unreadable_files(tmp_path: Path, content: bytes | None, message: str) -> None:
    file = tmp_path / "config.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        load(file=file)
    assert str(file) in str(error.value)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load(file=tmp_path)


def test_uses() -> None:
    config = load("largeea-r", without=("names",))
    assert [part for part in PARTS if not config.uses(part)] == ["names", "evidence"]
    assert not Config().uses("structure")
    assert Config().uses("evidence")
    assert not load(without=("structure",)).uses("evidence")
    assert get_args(configuration.Part) == PARTS


def test_it_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Config().names.top_k = 3  # type: ignore[misc]


def test_evidence_that_does_not_count_is_refused() -> None:
    with pytest.raises(UsageError, match="neighbours and surroundings both weigh 0"):
        load(settings=("evidence.neighbours=0", "evidence.surroundings=0"))
