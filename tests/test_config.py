from __future__ import annotations

import json
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

from largeea.config import (
    MOVED,
    PARTS,
    PRESETS,
    RENAMED,
    REPLACED,
    Config,
    DecisionConfig,
    NamesConfig,
    as_config,
    load,
)
from largeea.errors import InputError, LargeEAWarning, UsageError
from largeea.execution import Execution


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
    assert values["decision"]["doubtful"] == 0.1


def test_the_default_is_the_default_preset() -> None:
    assert load() == Config() == load("default")


def test_each_source_wins_over_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        PRESETS, "thin", {"seed": 1, "names": {"top_k": 11, "shortest_gram": 1, "longest_gram": 6}}
    )
    file = tmp_path / "config.toml"
    file.write_text("seed = 2\n[names]\ntop_k = 12\nshortest_gram = 3\n[decision]\nthreshold = 0.25\n")
    assert load("thin") == Config(seed=1, names=NamesConfig(top_k=11, shortest_gram=1, longest_gram=6))
    assert load("thin", file) == Config(
        seed=2,
        names=NamesConfig(top_k=12, shortest_gram=3, longest_gram=6),
        decision=DecisionConfig(threshold=0.25),
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
        ("decision.threshold=1e-1", "decision", DecisionConfig(threshold=0.1)),
        ("decision.threshold=0", "decision", DecisionConfig(threshold=0)),
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
        (("decision.threshold=1.5",), r"decision.threshold = 1.5: .*less than or equal to 1"),
        (("decision.doubtful=-0.1",), r"decision.doubtful = -0.1: .*greater than or equal to 0"),
        (("evidence.literal_weight=-1",), r"evidence.literal_weight = -1: .*greater than or equal to 0"),
        (("decision.threshold=nan",), r"decision.threshold = nan: "),
        (('without=["colour"]',), r"without.0 = 'colour': .*'structure', 'names'"),
        (("seed=-1", "names.top_k=0"), r"seed = -1: .*; names.top_k = 0: "),
        (
            ("names.shortest_gram=5",),
            r"^names: longest_gram = 4 is below shortest_gram = 5; "
            r"raise longest_gram or lower shortest_gram$",
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


def test_it_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Config().names.top_k = 3  # type: ignore[misc]


def test_evidence_that_does_not_count_is_refused() -> None:
    with pytest.raises(
        UsageError, match="neighbour_weight and surroundings_weight are both 0: to switch evidence off"
    ):
        load(settings=("evidence.neighbour_weight=0", "evidence.surroundings_weight=0"))


def exists(setting: str) -> bool:
    section, _, name = setting.partition(".")
    return name in Config.model_fields[section].annotation.model_fields  # type: ignore[union-attr]


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_an_old_name_works_with_a_warning(old: str, new: str, tmp_path: Path) -> None:
    assert exists(new)
    assert not exists(old)
    section, _, name = old.partition(".")
    value = '"fp32"' if new.endswith("dtype") else "1"
    file = tmp_path / "config.toml"
    file.write_text(f"[{section}]\n{name} = {value}\n")
    expected = load(settings=(f"{new}={value}",))
    for attempt in (
        lambda: load(settings=(f"{old}={value}",)),
        lambda: load(file=file),
        lambda: as_config({section: {name: json.loads(value)}}),
    ):
        with pytest.warns(LargeEAWarning, match=rf"^the setting '{old}' is now called '{new}'; "):
            assert attempt() == expected


def test_an_old_name_overrides_a_preset() -> None:
    with pytest.warns(LargeEAWarning, match=r"names\.lexical"):
        assert load("largeea-r", settings=("names.lexical=0.7",)).names.ngram_weight == 0.7


def test_an_old_name_beside_the_new_one_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[names]\nlexical = 0.5\nngram_weight = 0.6\n")
    with pytest.raises(UsageError, match=r"'names\.lexical' is the old name of 'names\.ngram_weight'"):
        load(file=file)


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_settings_that_do_not_change_the_answer_have_moved(old: str, new: str) -> None:
    assert not exists(old)
    assert hasattr(Execution(), new)
    with pytest.raises(
        UsageError,
        match=rf"^the setting '{old}' is no longer part of the configuration; .*"
        rf"execution setting '{new}' instead, --{new} on the command line$",
    ):
        load(settings=(f"{old}=1",))


@pytest.mark.parametrize(("old", "new"), REPLACED.items())
def test_settings_that_are_gone_are_refused_with_what_to_set_instead(old: str, new: str) -> None:
    assert exists(new)
    assert not exists(old)
    with pytest.raises(UsageError, match=rf"^the setting '{old}' no longer exists; see '{new}'$"):
        load(settings=(f"{old}=0.5",))


def test_a_configuration_of_release_0_1_0(tmp_path: Path) -> None:
    """The message names every setting that has to change, not only the first."""
    file = tmp_path / "config.toml"
    file.write_text('[names]\nlexical = 0.5\ndevice = "cpu"\n[decision]\nmin_precision = 0.5\n')
    with pytest.warns(LargeEAWarning, match="ngram_weight"), pytest.raises(UsageError) as error:
        load(file=file)
    for word in ("'decision.threshold'", "--device"):
        assert word in str(error.value)


# As Python users give it


def test_a_configuration_in_every_form() -> None:
    assert as_config(None) == Config()
    assert as_config(Config(seed=3)) == Config(seed=3)
    assert as_config("largeea-r") == load("largeea-r")
    assert as_config({"names": {"top_k": 20}, "seed": 3}) == load(settings=("names.top_k=20", "seed=3"))
    assert as_config({"preset": "largeea-g", "seed": 3}) == load("largeea-g", seed=3)
    assert as_config({}) == Config()


def test_a_dictionary_changes_what_it_names_and_no_more() -> None:
    changed = as_config({"preset": "largeea-r", "names": {"gamma": 0.5}})
    assert changed.names == load("largeea-r").names.model_copy(update={"gamma": 0.5})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"names": {"topk": 3}}, r"unknown setting 'names.topk'; known here: encoder"),
        (
            {"decision": {"precision": 0.5}},
            r"'decision.precision' no longer exists; see 'decision.threshold'",
        ),
        ({"preset": "x"}, r"unknown preset 'x'; known: default"),
        ("x", r"unknown preset 'x'; known: default"),
    ],
)
def test_wrong_settings_of_python_users(given: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        as_config(given)


@pytest.mark.parametrize("given", [3, ["seed=3"], ("a", "b"), Path("config.toml"), NamesConfig()])
def test_wrong_types_are_type_errors(given: Any) -> None:
    with pytest.raises(
        TypeError,
        match=rf"config must be a Config, a dict or the name of a preset, not {type(given).__name__}",
    ):
        as_config(given)


@pytest.mark.parametrize(
    "setting",
    [
        *("fusion.csls=1000000000", "names.top_k=1000000000000", "augmentation.margin=1e300", "seed=1e99"),
        *("evidence.temperature=1e-300", "decision.temperature=1e-300", "evidence.no_match_score=1e300"),
        *("evidence.neighbour_weight=1e-300", "names.gamma=1e-9", "names.ngram_weight=1e-40"),
        *("names.translation_weight=1e300", "partition.q=99999999999999999999"),
        *('names.lexicon="\\u0000"', 'names.encoder="bert:\\u0000"'),
    ],
)
def test_settings_that_make_no_sense_are_refused(setting: str) -> None:
    with pytest.raises(UsageError, match=setting.split("=")[0]):
        load(settings=(setting,))


def test_brackets_nested_deep_are_refused(tmp_path: Path) -> None:
    deep = "[" * 50_000
    with pytest.raises(UsageError, match="nested too deep"):
        load(settings=(f"names.top_k={deep}",))
    file = tmp_path / "deep.toml"
    file.write_text(f"seed = {deep}")
    with pytest.raises(InputError, match="nested too deep"):
        load(file=file)


def test_a_number_of_thousands_of_digits_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"names\.top_k: .*digits"):
        load(settings=(f"names.top_k={'9' * 5000}",))
    file = tmp_path / "digits.toml"
    file.write_text(f"seed = {'9' * 5000}")
    with pytest.raises(InputError, match="digits"):
        load(file=file)


def test_a_key_of_many_dots_took_all_memory(tmp_path: Path) -> None:
    """A key of 100 KB would take 20 GB."""
    many = ".".join("a" * 1000)
    file = tmp_path / "dots.toml"
    for content in (f"{many} = 1", f"[{many}]", f"seed = {{{many} = 1}}"):
        file.write_text(content)
        with pytest.raises(InputError, match="more than 100 dots"):
            load(file=file)
    with pytest.raises(UsageError, match="more than 100 dots"):
        load(settings=(f"seed={{{many} = 1}}",))


def test_dots_in_quotes_are_no_key(tmp_path: Path) -> None:
    iris = [f"http://www.example.org/ontology/v1.0/name{i}" for i in range(40)]
    file = tmp_path / "iris.toml"
    file.write_text(f"names.alias_predicates = {iris}")
    assert list(load(file=file).names.alias_predicates) == iris


def test_an_endless_file_of_settings_was_read_to_the_end() -> None:
    with pytest.raises(InputError, match="more than 65,536 bytes"):
        load(file=Path("/dev/zero"))


def test_a_message_about_settings_was_as_long_as_the_file(tmp_path: Path) -> None:
    file = tmp_path / "many.toml"
    file.write_text("".join(f"a{i} = 1\n" for i in range(2000)))
    with pytest.raises(UsageError, match="and 1,990 more") as told:
        load(file=file)
    assert len(str(told.value)) < 5000
    for setting in (f"names.top_k='{'x' * 50_000}'", f"{'x' * 50_000}=1"):
        with pytest.raises(UsageError) as told:
            load(settings=(setting,))
        assert len(str(told.value)) < 1000
