from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from largeea import __version__
from largeea.config import Config, load
from largeea.errors import InputError, ResourceError, UsageError
from largeea.graph import Links
from largeea.progress import listening
from largeea.runs import Run
from largeea.runs.folder import CONFIG, MANIFEST, load_stage, read_manifest
from largeea.runs.manifest import stage_file


class Method:
    """Three stages in a row and one beside them; counts which of them are really computed."""

    def __init__(self, fail_at: str | None = None) -> None:
        self.computed: list[str] = []
        self.fail_at = fail_at

    def __call__(self, folder: Path | None, config: Config = Config(), identity: str = "input") -> list[int]:  # noqa: B008
        run = Run(folder)
        run.begin(config)
        results = [
            run.stage("task", self._stage("task", 1), identity),
            run.stage("names", self._stage("names", config.names.top_k), config.names, "task"),
            run.stage("fused", self._stage("fused", config.fusion.csls), config.fusion, "names"),
            run.stage("beside", self._stage("beside", 4), config.seed, "task"),
        ]
        run.finish()
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
    assert Config.model_validate(manifest["config"]) == Config()
    assert list(manifest["stages"]) == manifest["answer"]["stages"] == EVERY
    record = manifest["stages"]["fused"]
    assert (record["after"], record["settings"]) == (["names"], [Config().fusion.model_dump()])
    assert (record["seed"], record["code"]) == (0, __version__)
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
    assert list(read_manifest(finished)["stages"]) == ["task", "beside", "names"]
    with pytest.raises(InputError, match="the run is not finished; go on with: the command that began it"):
        load_stage(finished, "names")
    assert load(file=finished / CONFIG) == Config(), "the settings of an answer that is not there yet"


def test_an_interrupted_run_can_go_back(finished: Path) -> None:
    """Settings tried and given up: what they had struck out is made again, the rest was never touched."""
    with pytest.raises(KeyboardInterrupt):
        Method(fail_at="fused")(finished, load(settings=("fusion.csls=5",)))
    method = Method()
    assert method(finished) == [1, 50, 1, 4]
    assert method.computed == ["fused"]
    assert load_stage(finished, "fused").source.tolist() == [1]


def test_a_record_is_struck_out_before_its_file_is_replaced(finished: Path) -> None:
    """Killed in between, the folder is unfinished but not damaged."""

    def compute() -> Links:
        assert "names" not in read_manifest(finished)["stages"]
        assert "fused" not in read_manifest(finished)["stages"]
        return Links.none()

    run = Run(finished)
    run.stage("task", Links.none, "input")
    run.stage("names", compute, "other settings", "task")


def test_a_part_switched_off_is_no_part_of_the_answer(finished: Path) -> None:
    run = Run(finished)
    run.begin(Config(seed=1))
    run.stage("task", Links.none, "input")
    run.finish()
    with pytest.raises(InputError, match="the run has no stage 'names'; it has: task"):
        load_stage(finished, "names")
    method = Method()
    method(finished)
    assert method.computed == [], "what is switched off for a while is still there"


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
    assert "names.safetensors" in notes.said[0]
    assert [note.endswith("; it is made again") for note in notes.said] == [True]


def test_a_stage_made_again_with_another_result_changes_what_depends_on_it(finished: Path) -> None:
    """Not every device gives the same bytes twice; `fused` must not stay behind."""
    (finished / "stages" / "names.safetensors").unlink()
    run, computed = Run(finished), []
    run.stage("task", Links.none, "input")
    run.stage("names", lambda: Links(np.array([[7, 7]])), Config().names, "task")
    run.stage("fused", lambda: computed.append("fused") or Links.none(), Config().fusion, "names")  # type: ignore[func-returns-value]
    assert computed == ["fused"]


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
    assert list(read_manifest(finished)["stages"]) == EVERY


# Stages within stages


def batches(folder: Path, count: int, fail_at: int = 0) -> list[int]:
    """A stage that goes through a stage for each batch; which batches were computed."""
    computed: list[int] = []

    def batch(number: int) -> Links:
        if number == fail_at:
            raise KeyboardInterrupt
        computed.append(number)
        return Links(np.array([[number, 0]]))

    def learn() -> Links:
        parts = [run.stage(f"structure, batch {i}", partial(batch, i), "task") for i in range(1, count + 1)]
        return Links(np.concatenate([part.pairs for part in parts]))

    run = Run(folder)
    run.begin(Config())
    run.stage("task", Links.none, "input")
    whole = run.stage("structure", learn, count, "task")
    assert whole.source.tolist() == list(range(1, count + 1))
    run.finish()
    return computed


def test_batches_done_are_not_done_again(folder: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        batches(folder, 4, fail_at=3)
    assert batches(folder, 4) == [3, 4]
    assert batches(folder, 4) == []
    assert load_stage(folder, "structure, batch 3").source.tolist() == [3]


def test_batches_no_longer_needed_are_removed(folder: Path) -> None:
    batches(folder, 4)
    assert batches(folder, 2) == []
    names = ["structure", "structure, batch 1", "structure, batch 2", "task"]
    assert sorted(read_manifest(folder)["stages"]) == names
    assert set((folder / "stages").iterdir()) == {stage_file(folder, name) for name in names}


def test_damage_in_a_batch_that_was_not_looked_at(folder: Path) -> None:
    """Its stage is loaded as a whole, so the batch is not needed; once it is, it is made again."""
    batches(folder, 2)
    stage_file(folder, "structure, batch 1").write_bytes(b"x")
    assert batches(folder, 2) == []
    with Run(folder) as run:
        run.begin(Config())
        run.stage("task", Links.none, "input")
        run.stage("structure", Links.none, 2, "task")
        run.finish()
        run.forget_damaged()
    with pytest.raises(
        InputError, match="no stage 'structure, batch 1'; it has: task, structure, structure, b"
    ):
        load_stage(folder, "structure, batch 1")
    assert batches(folder, 3) == [1, 3]


# Results


def write_results(folder: Path, config: Config, *names: str) -> None:
    run = Run(folder)
    run.begin(config)
    run.stage("task", Links.none, config.seed)
    run.finish()
    for name in names:
        (folder / name).write_text(f"{config.seed}")
    run.vouch_for(names)


def test_results_of_one_answer_add_up(folder: Path) -> None:
    write_results(folder, Config(), "a.tsv")
    write_results(folder, Config(), "b.tsv")
    assert list(read_manifest(folder)["results"]) == ["a.tsv", "b.tsv"]


def test_results_of_an_earlier_answer_go_when_the_new_ones_are_there(folder: Path) -> None:
    write_results(folder, Config(), "a.tsv", "b.tsv")
    (folder / "notes.txt").write_text("mine")
    run = Run(folder)
    run.begin(Config(seed=1))
    assert (folder / "a.tsv").exists()
    assert "results" not in read_manifest(folder)
    write_results(folder, Config(seed=1), "b.tsv")
    assert list(read_manifest(folder)["results"]) == ["b.tsv"]
    assert {path.name for path in folder.iterdir() if path.is_file()} >= {"b.tsv", "notes.txt"}
    assert not (folder / "a.tsv").exists()


# Failures


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt, ResourceError])
def test_whoever_is_told_of_a_failure_is_told_how_to_go_on(folder: Path, error: type[BaseException]) -> None:
    def fail(request: dict[str, str] | None) -> None:
        with Run(folder, request) as run:
            run.begin(Config())
            raise error

    for request, way_on in (
        ({"source": "a.nt"}, f"largeea resume {folder}"),
        (None, "the command that began it"),
    ):
        with pytest.raises(error) as failure:
            fail(request)
        assert failure.value.__notes__ == [f"What was finished is kept; go on with: {way_on}"]


def test_a_run_that_never_began_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("new", "empty"):
        with Run(tmp_path / name):
            pass
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


# Folders that are no run


def test_a_strange_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").write_text("do not touch")
    with pytest.raises(UsageError, match="is not empty and holds no run; give a new one with -o"):
        Run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.doc"]


def test_an_empty_folder_will_do(tmp_path: Path) -> None:
    assert Method()(tmp_path) == [1, 50, 1, 4]


def test_a_folder_begun_by_a_process_that_was_killed_at_once_will_do(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text("")
    (tmp_path / ".manifest.json.4711.tmp").write_text("{")
    assert Method()(tmp_path) == [1, 50, 1, 4]


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file; give a folder"):
        Run(tmp_path / "file")


def test_no_run_folder(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(InputError, match=r"is no run folder: it has no manifest\.json"):
            load_stage(folder, "task")
