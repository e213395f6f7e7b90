from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np
import pytest

from largeea import __version__
from largeea.config import Config, load
from largeea.errors import InputError, UsageError
from largeea.graph import Links
from largeea.progress import listening
from largeea.runs import Run
from largeea.runs.folder import CONFIG, MANIFEST, load_stage, read_manifest


class Method:
    """Three stages in a row and one beside them; counts which of them are really computed."""

    def __init__(self, fail_at: str | None = None) -> None:
        self.computed: list[str] = []
        self.fail_at = fail_at

    def __call__(self, folder: Path | None, config: Config = Config(), identity: str = "input") -> list[int]:  # noqa: B008
        run = Run(folder)
        run.keep_config(config.to_toml())
        results = [
            run.stage("task", self._stage("task", 1), identity),
            run.stage("names", self._stage("names", config.names.top_k), config.names, "task"),
            run.stage("fused", self._stage("fused", config.fusion.csls), config.fusion, "names"),
            run.stage("beside", self._stage("beside", 4), config.seed, "task"),
        ]
        return [int(links.source[0]) for links in results]

    def _stage(self, name: str, answer: int) -> Callable[[], Links]:
        def compute() -> Links:
            if name == self.fail_at:
                raise KeyboardInterrupt
            self.computed.append(name)
            return Links(np.array([[answer, 0]]))

        return compute


EVERY = ["task", "names", "fused", "beside"]


class Notes:
    def __init__(self) -> None:
        self.said: list[str] = []

    def note(self, message: str) -> None:
        self.said.append(message)

    def step(self, title: str) -> AbstractContextManager[None]:
        return nullcontext()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def finished(folder: Path) -> Path:
    assert Method()(folder) == [1, 50, 1, 4]
    return folder


def test_without_a_folder_everything_is_computed() -> None:
    method = Method()
    assert method(None) == [1, 50, 1, 4]
    assert method.computed == EVERY


def test_the_folder_holds_all_there_is_to_know(finished: Path) -> None:
    assert load(file=finished / CONFIG) == Config()
    assert sorted(path.name for path in (finished / "stages").iterdir()) == sorted(
        f"{name}.safetensors" for name in EVERY
    )
    manifest = read_manifest(finished)
    assert manifest["version"] == __version__
    assert list(manifest["stages"]) == sorted(EVERY)
    assert manifest["stages"]["fused"]["after"] == ["names"]
    assert load_stage(finished, "names").pairs.tolist() == [[50, 0]]


def test_the_same_again_is_loaded(finished: Path) -> None:
    method = Method()
    assert method(finished) == [1, 50, 1, 4]
    assert method.computed == []


@pytest.mark.parametrize(
    ("setting", "computed"),
    [
        ("names.top_k=20", ["names", "fused"]),
        ("fusion.csls=5", ["fused"]),
        ("decision.accept=0.9", []),
        ("seed=1", ["beside"]),
    ],
)
def test_a_changed_setting_changes_what_depends_on_it(
    finished: Path, setting: str, computed: list[str]
) -> None:
    method, config = Method(), load(settings=(setting,))
    assert method(finished, config) == [1, config.names.top_k, config.fusion.csls, 4]
    assert method.computed == computed
    method.computed.clear()
    method(finished, config)
    assert method.computed == []


def test_a_fingerprint_tells_all_that_lies_before(tmp_path: Path) -> None:
    def fingerprints(name: str, *settings: str) -> dict[str, str]:
        Method()(tmp_path / name, load(settings=settings))
        stages = read_manifest(tmp_path / name)["stages"]
        return {stage: record["fingerprint"] for stage, record in stages.items()}

    plain, again, changed = fingerprints("a"), fingerprints("b"), fingerprints("c", "names.top_k=20")
    assert plain == again
    assert {stage for stage in EVERY if plain[stage] != changed[stage]} == {"names", "fused"}


def test_another_input_changes_everything(finished: Path) -> None:
    method = Method()
    method(finished, identity="other input")
    assert method.computed == EVERY


def test_another_release_computes_again(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("largeea.runs.folder.__version__", "99")
    method = Method()
    method(finished)
    assert method.computed == EVERY


@pytest.mark.parametrize("stage", EVERY)
def test_an_interrupted_run_goes_on_where_it_stopped(folder: Path, stage: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        Method(fail_at=stage)(folder)
    method = Method()
    assert method(folder) == [1, 50, 1, 4]
    assert method.computed == EVERY[EVERY.index(stage) :]


def test_after_an_interruption_no_two_stages_contradict_each_other(finished: Path) -> None:
    """`fused` was made of the old names; whoever evaluates the folder now must not be given both."""
    with pytest.raises(KeyboardInterrupt):
        Method(fail_at="fused")(finished, load(settings=("names.top_k=20",)))
    assert load_stage(finished, "names").source.tolist() == [20]
    assert load_stage(finished, "beside").source.tolist() == [4]
    with pytest.raises(InputError, match="the run has no stage 'fused'; was it interrupted"):
        load_stage(finished, "fused")


def test_killed_between_a_result_and_the_manifest(finished: Path) -> None:
    """The file is new, the manifest is old: the old fingerprint must not vouch for the new content."""
    manifest = (finished / MANIFEST).read_bytes()
    Method()(finished, load(settings=("names.top_k=20",)))
    (finished / MANIFEST).write_bytes(manifest)
    method = Method()
    assert method(finished) == [1, 50, 1, 4]
    assert "names" in method.computed


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b"x"), lambda path: path.unlink()])
def test_a_damaged_result_is_made_again_and_told(finished: Path, damage: Callable[[Path], None]) -> None:
    damage(finished / "stages" / "names.safetensors")
    with pytest.raises(InputError, match=r"names\.safetensors: is not"):
        load_stage(finished, "names")
    method, notes = Method(), Notes()
    with listening(notes):  # type: ignore[arg-type]
        assert method(finished) == [1, 50, 1, 4]
    assert method.computed == ["names"]
    assert [note.endswith("; it is made again") for note in notes.said] == [True]


def test_what_a_killed_process_left_is_removed(finished: Path) -> None:
    left = finished / "stages" / ".names.safetensors.4711.tmp"
    left.write_bytes(b"half a fi")
    Run(finished)
    assert not left.exists()


def test_seconds_of_stages_done_or_loaded(finished: Path) -> None:
    run = Run(finished)
    run.stage("task", lambda: Links.none(), "input")
    assert list(run.seconds) == ["task"]


def test_facts_are_kept(finished: Path) -> None:
    run = Run(finished)
    run.describe(summary={"accepted": 3})
    assert read_manifest(finished)["summary"] == {"accepted": 3}
    assert list(read_manifest(finished)["stages"]) == sorted(EVERY)


# Folders that are no run


def test_a_strange_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").write_text("do not touch")
    with pytest.raises(UsageError, match="is not empty and holds no run; give a new one with -o"):
        Run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.doc"]


def test_an_empty_folder_will_do(tmp_path: Path) -> None:
    assert Method()(tmp_path) == [1, 50, 1, 4]


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file; give a folder"):
        Run(tmp_path / "file")


def test_no_run_folder(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(InputError, match=r"is no run folder: it has no manifest\.json"):
            load_stage(folder, "task")


RECORD = {"fingerprint": "f", "seconds": 1, "sha256": "0", "after": []}


@pytest.mark.parametrize(
    "manifest",
    [
        "",
        "{",
        "[]",
        "null",
        "3",
        "{}",
        '{"format": 1}',
        '{"format": 1, "stages": []}',
        '{"format": 1, "stages": {"task": 3}}',
        '{"format": 1, "stages": {"task": null}}',
        '{"format": 1, "stages": {"task": {}}}',
        *(
            json.dumps({"format": 1, "stages": {"task": {k: v for k, v in RECORD.items() if k != key}}})
            for key in RECORD
        ),
        *(json.dumps({"format": 1, "stages": {"task": RECORD | {key: None}}}) for key in RECORD),
    ],
)
def test_damaged_manifests(finished: Path, manifest: str) -> None:
    (finished / MANIFEST).write_text(manifest)
    for attempt in (lambda: Run(finished), lambda: load_stage(finished, "task")):
        with pytest.raises(InputError, match=r"manifest\.json: is damaged"):
            attempt()


def test_a_manifest_that_is_no_text(finished: Path) -> None:
    (finished / MANIFEST).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is damaged"):
        Run(finished)


def test_a_manifest_of_another_format(finished: Path) -> None:
    (finished / MANIFEST).write_text('{"format": 2, "stages": {}}')
    with pytest.raises(InputError, match=r"was written by another release \(format 2\)"):
        Run(finished)
