"""The run folder: what it holds, what it does with interruptions and damage, and what it refuses."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np
import pytest

from largeea import __version__
from largeea.config import Config, load
from largeea.errors import InputError, ResourceError, UsageError
from largeea.execution.jobs import run_jobs
from largeea.graph import Arrays, Links
from largeea.progress import listening
from largeea.runs import store
from largeea.runs.folder import CONFIG, MANIFEST, Run, load_stage, read_manifest

computed: list[str] = []
"""The stages that were really computed, in order."""
fail_at: list[str] = []


def _compute(name: str, answer: int) -> Links:
    if name in fail_at:
        raise KeyboardInterrupt
    computed.append(name)
    return Links(np.array([[answer, 0]]))


def read_input() -> Links:
    return _compute("task", 1)


def compute_names(task: Links, top_k: int) -> Links:
    return _compute("names", top_k)


def compute_fused(names: Links, csls: int) -> Links:
    return _compute("fused", csls)


def compute_beside(task: Links, seed: int) -> Links:
    return _compute("beside", 4)


def method(folder: Path | None, config: Config = Config(), identity: str = "input") -> list[int]:  # noqa: B008
    """Three stages in a row and one beside them."""
    run = Run(folder)
    run.begin(config)
    task = run.stage.given("task", identity, read_input, read_input)
    names = run.stage("names", compute_names, task, config.names.top_k)
    fused = run.stage("fused", compute_fused, names, config.fusion.csls)
    beside = run.stage("beside", compute_beside, task, config.seed)
    stages = [task, names, fused, beside]
    results = [int(handle.value.source[0]) for handle in stages]
    run.finish(stages)
    return results


EVERY = ["task", "names", "fused", "beside"]
ANSWER = [1, 50, 1, 4]


class Notes:
    def __init__(self) -> None:
        self.said: list[str] = []

    def note(self, message: str) -> None:
        self.said.append(message)

    def step(self, title: str) -> AbstractContextManager[None]:
        return nullcontext()


@pytest.fixture(autouse=True)
def _from_the_start() -> None:
    computed.clear()
    fail_at.clear()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def finished(folder: Path) -> Path:
    assert method(folder) == ANSWER
    computed.clear()
    return folder


def interrupted_at(stage: str, folder: Path, config: Config = Config()) -> None:  # noqa: B008
    fail_at.append(stage)
    with pytest.raises(KeyboardInterrupt):
        method(folder, config)
    fail_at.clear()
    computed.clear()


def test_without_a_folder_everything_is_computed() -> None:
    assert method(None) == ANSWER
    assert computed == EVERY


def test_the_folder_holds_all_there_is_to_know(finished: Path) -> None:
    assert load(file=finished / CONFIG) == Config()
    assert sorted(path.name for path in (finished / "stages").iterdir()) == sorted(
        f"{name}.safetensors" for name in EVERY
    )
    manifest = read_manifest(finished)
    assert manifest["version"] == __version__
    assert Config.model_validate(manifest["config"]) == Config()
    assert list(manifest["stages"]) == manifest["answer"]["stages"] == EVERY
    record, names = manifest["stages"]["fused"], manifest["stages"]["names"]
    assert record["after"] == ["names"]
    assert record["arguments"] == [{"stage": names["key"]}, 1]
    assert record["function"].endswith("compute_fused")
    assert manifest["timings"]["fused"][record["key"]]["seconds"] >= 0
    assert load_stage(finished, "names").pairs.tolist() == [[50, 0]]


def test_the_same_again_is_loaded(finished: Path) -> None:
    assert method(finished) == ANSWER
    assert computed == []


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("names.top_k=20", ["names", "fused"]),
        ("fusion.csls=5", ["fused"]),
        ("decision.threshold=0.9", []),
        ("seed=1", ["beside"]),
    ],
)
def test_a_changed_setting_changes_what_depends_on_it(
    finished: Path, setting: str, expected: list[str]
) -> None:
    config = load(settings=(setting,))
    assert method(finished, config) == [1, config.names.top_k, config.fusion.csls, 4]
    assert computed == expected
    method(finished, config)
    assert computed == expected


def test_another_input_changes_everything(finished: Path) -> None:
    method(finished, identity="other input")
    assert computed == EVERY


@pytest.mark.parametrize("stage", EVERY)
def test_an_interrupted_run_goes_on_where_it_stopped(folder: Path, stage: str) -> None:
    interrupted_at(stage, folder)
    assert method(folder) == ANSWER
    assert computed == EVERY[EVERY.index(stage) :]


def test_after_an_interruption_nobody_is_given_parts_of_two_answers(finished: Path) -> None:
    """`fused` was made of the old names; whoever evaluates the folder now must not be given both."""
    interrupted_at("fused", finished, load(settings=("names.top_k=20",)))
    with pytest.raises(InputError, match="the run is not finished; continue with: the command that began it"):
        load_stage(finished, "names")
    assert load(file=finished / CONFIG) == Config(), "the settings of an answer that is not there yet"


def test_an_interrupted_run_can_go_back(finished: Path) -> None:
    interrupted_at("fused", finished, load(settings=("fusion.csls=5",)))
    assert method(finished) == ANSWER
    assert computed == []
    assert load_stage(finished, "fused").source.tolist() == [1]


def test_a_record_is_struck_out_before_its_file_is_replaced(
    finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in between, the folder is unfinished but not damaged."""
    from largeea.runs import store as room

    seen = []
    save = room.save_artifact

    def watched(value: object, path: Path) -> str:
        manifest = read_manifest(finished)
        seen.append(("names" in manifest["stages"], "answer" in manifest))
        return save(value, path)

    monkeypatch.setattr(room, "save_artifact", watched)
    method(finished, load(settings=("names.top_k=20",)))
    assert seen[0] == (False, False)


def test_a_part_switched_off_is_no_part_of_the_answer(finished: Path) -> None:
    run = Run(finished)
    run.begin(Config(seed=1))
    run.finish([run.stage.given("task", "input", read_input, read_input)])
    with pytest.raises(InputError, match="the run has no stage 'names'; it has: task"):
        load_stage(finished, "names")
    method(finished)
    assert computed == [], "what is switched off for a while is still there"


def test_killed_between_a_result_and_the_manifest(finished: Path) -> None:
    """The file is new, the manifest is old: the old key must not vouch for the new content."""
    manifest = (finished / MANIFEST).read_bytes()
    method(finished, load(settings=("names.top_k=20",)))
    (finished / MANIFEST).write_bytes(manifest)
    computed.clear()
    assert method(finished) == ANSWER
    assert "names" in computed


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b"x"), lambda path: path.unlink()])
def test_a_damaged_result_is_made_again_and_told(finished: Path, damage: Callable[[Path], None]) -> None:
    damage(finished / "stages" / "names.safetensors")
    with pytest.raises(InputError, match=r"names\.safetensors: is not"):
        load_stage(finished, "names")
    notes = Notes()
    with listening(notes):  # type: ignore[arg-type]
        assert method(finished) == ANSWER
    assert computed == ["names"]
    assert "names.safetensors" in notes.said[0]
    assert [note.endswith("; it is made again") for note in notes.said] == [True]


def test_to_mend_a_run_every_file_is_looked_at(finished: Path) -> None:
    (finished / "stages" / "beside.safetensors").write_bytes(b"x")
    with Run(finished) as run:
        run.forget_damaged()
    assert "beside" not in read_manifest(finished)["stages"]
    assert method(finished) == ANSWER
    assert computed == ["beside"]


def test_what_a_killed_process_left_is_removed(finished: Path) -> None:
    left = finished / "stages" / ".names.safetensors.4711.0815.tmp"
    left.write_bytes(b"half a fi")
    Run(finished)
    assert not left.exists()


def test_files_that_no_record_speaks_of_are_removed(finished: Path) -> None:
    (finished / "stages" / "old.safetensors").write_bytes(b"x")
    method(finished)
    assert not (finished / "stages" / "old.safetensors").exists()


def test_seconds_of_stages_done_or_loaded(finished: Path) -> None:
    run = Run(finished)
    run.stage.given("task", "input", read_input, read_input)
    assert list(run.seconds) == ["task"]


def test_seconds_of_one_stage_in_several_rounds_are_added_up(folder: Path) -> None:
    with Run(folder) as run:
        run.begin(Config())
        task = run.stage.given("task", "input", read_input, read_input)
        rounds = [run.stage("names", compute_names, task, number) for number in range(3)]
        _ = [handle.value for handle in rounds]
        run.finish([task, rounds[-1]])
    timings = read_manifest(folder)["timings"]["names"]
    assert len(timings) == 3
    assert run.seconds["names"] == pytest.approx(sum(one["seconds"] for one in timings.values()), abs=0.002)
    assert load_stage(folder, "names").source.tolist() == [2]


def test_facts_are_kept(finished: Path) -> None:
    run = Run(finished)
    run.describe(summary={"accepted": 3})
    assert read_manifest(finished)["summary"] == {"accepted": 3}
    assert list(read_manifest(finished)["stages"]) == EVERY


# Jobs


def batch(number: int) -> Arrays:
    return {"rows": _compute(f"batch {number}", number).source}


def learn(batches: int) -> Links:
    parts = dict(run_jobs(batch, [(number,) for number in range(1, batches + 1)], at_once=1))
    rows = np.concatenate([parts[number]["rows"] for number in sorted(parts)])
    return Links(np.column_stack([rows, rows]))


def train(folder: Path, batches: int) -> list[int]:
    with Run(folder) as run:
        run.begin(Config())
        structure = run.stage("structure", learn, batches)
        found: list[int] = structure.value.source.tolist()
        run.finish([structure])
    return found


def test_jobs_done_are_not_done_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "JOBS_AFTER", 0.0)
    fail_at.append("batch 3")
    with pytest.raises(KeyboardInterrupt):
        train(folder, 4)
    fail_at.clear()
    assert computed == ["batch 1", "batch 2"]
    assert len(list((folder / "jobs").rglob("*.safetensors"))) == 2
    assert train(folder, 4) == [1, 2, 3, 4]
    assert computed == ["batch 1", "batch 2", "batch 3", "batch 4"]
    assert not list((folder / "jobs").rglob("*.safetensors")), "the stage is stored; its jobs are not needed"


def test_jobs_of_a_short_stage_are_not_stored(folder: Path) -> None:
    fail_at.append("batch 3")
    with pytest.raises(KeyboardInterrupt):
        train(folder, 4)
    assert not (folder / "jobs").exists()


# Results are written in the background


class Held:
    """Holds every write back until `let_go` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, error: OSError | None = None) -> None:
        self.let_go, self.written, save = threading.Event(), [], store.save_artifact

        def held(value: object, path: Path) -> str:
            assert self.let_go.wait(10)
            if error is not None:
                raise ResourceError(f"cannot write {path}") from error
            self.written.append(path.stem)
            return save(value, path)

        monkeypatch.setattr(store, "save_artifact", held)


def test_the_next_stage_is_computed_while_a_result_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch)
    with Run(folder) as run:
        run.begin(Config())
        task = run.stage.given("task", "input", read_input, read_input)
        _ = task.value
        assert run.store.load("task", task.key).source.tolist() == [1], "it is used before it is written"
        run.describe(summary={"accepted": 3})
        assert "task" not in read_manifest(folder)["stages"], "the manifest lists only what is on disk"
        _ = run.stage("names", compute_names, task, 3).value
        assert held.written == []
        threading.Timer(0.05, held.let_go.set).start()
        run.finish([task])
        assert held.written == ["task", "names"]
    assert set(read_manifest(folder)["stages"]) == {"task", "names"}
    assert method(folder) == ANSWER


@pytest.mark.parametrize("stages", [1, 2])
def test_a_failed_write_is_told_at_the_next_stage_or_at_the_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch, stages: int
) -> None:
    held = Held(monkeypatch, OSError("disk"))
    held.let_go.set()

    def compute() -> None:
        with Run(folder) as run:
            run.begin(Config())
            task = run.stage.given("task", "input", read_input, read_input)
            _ = task.value
            if stages == 2:
                time.sleep(0.1)  # the write has failed by now
                _ = run.stage("names", compute_names, task, 3).value
                raise AssertionError("the failure was not told")

    with pytest.raises(ResourceError, match=r"cannot write .*task") as error:
        compute()
    assert "continue with" in error.value.__notes__[0]
    assert read_manifest(folder)["stages"] == {}
    monkeypatch.undo()
    assert method(folder) == ANSWER


# Other runs


def test_a_run_on_other_graphs_is_refused_unless_told(folder: Path) -> None:
    with Run(folder, subject=["/a.nt", "/b.nt"]) as run:
        run.begin(Config())
        _ = run.stage.given("task", "input", read_input, read_input).value
    with Run(folder, subject=["/a.nt", "/b.nt"]):
        pass
    with pytest.raises(
        UsageError, match=r"holds a run on other graphs \(/a.nt and /b.nt\); give another folder"
    ):
        Run(folder, subject=["/a.nt", "/c.nt"])
    assert read_manifest(folder)["subject"] == ["/a.nt", "/b.nt"]
    with Run(folder, subject=["/a.nt", "/c.nt"], overwrite=True) as run:
        run.begin(Config())
    assert read_manifest(folder)["subject"] == ["/a.nt", "/c.nt"]


@pytest.mark.parametrize(
    "old", sorted((Path(__file__).parent / "old_folders").iterdir()), ids=lambda path: path.name
)
def test_folders_of_earlier_releases_are_refused_with_a_word(old: Path, tmp_path: Path) -> None:
    shutil.copytree(old, tmp_path / "run")
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    for attempt in (lambda: load_stage(tmp_path / "run", "fused"), lambda: Run(tmp_path / "run")):
        with pytest.raises(InputError, match=r"was written by largeea 0\.1\.0 \(format 1; "):
            attempt()
    assert before == {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}


# Results


def write_results(folder: Path, config: Config, *names: str) -> None:
    run = Run(folder)
    run.begin(config)
    run.finish([run.stage("task", compute_beside, config.seed, config.seed)])
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
        assert failure.value.__notes__ == [f"What was finished is kept; continue with: {way_on}"]


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
    assert method(tmp_path) == ANSWER


def test_a_folder_begun_by_a_process_that_was_killed_at_once_will_do(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text("")
    (tmp_path / ".manifest.json.4711.tmp").write_text("{")
    assert method(tmp_path) == ANSWER


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file; give a folder"):
        Run(tmp_path / "file")


def test_no_run_folder(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(InputError, match=r"is not a run folder: it has no manifest\.json"):
            load_stage(folder, "task")
