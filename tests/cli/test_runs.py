"""Runs that survive: `resume`, `status`, `verify`, and what befalls a process from outside."""

from __future__ import annotations

import json
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import largeea
from largeea.cli import run, signals
from largeea.datasets.demo import demo_pair
from largeea.datasets.openea_layout import write_pair
from largeea.runs.lock import hold, release
from largeea.runs.manifest import FORMAT, write_manifest

WORDS = ("Berlin", "Paris", "Tokyo", "Lima", "Cairo", "Oslo", "Quito", "Hanoi")
PROGRAM = [sys.executable, "-c", "from largeea.cli import main; main()"]
RESOURCES, INPUT, USAGE = 4, 3, 2


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(largeea.__file__).parents[1]), **more}


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    """In the working directory: `a.nt` and `b.nt`."""
    monkeypatch.chdir(tmp_path)
    for side in "ab":
        lines = [f"<urn:{side}:{word}> <urn:next> <urn:{side}:Berlin> .\n" for word in WORDS]
        Path(f"{side}.nt").write_text("".join(lines) + lines[0])


@pytest.fixture
def cli(capsys):
    """Run the command and expect its exit code; what it says on standard output, and on standard error."""

    def call(line: str, code: int = 0) -> tuple[str, str]:
        capsys.readouterr()
        assert run(line.split()) == code, capsys.readouterr().err
        shown = capsys.readouterr()
        return shown.out, shown.err

    return call


@pytest.fixture
def interrupt(cli, failing):
    """A run that stops before its last stage."""

    def stop(before: str = "alignment") -> None:
        with failing(before, MemoryError()):
            _, err = cli("align a.nt b.nt -o run --write tsv --set names.top_k=7", RESOURCES)
        assert err.endswith("What was finished is kept; continue with: largeea resume run\n")

    return stop


# resume


@pytest.mark.parametrize(
    "stage", ["target", "strings", "anchors-1", "surroundings", "likelihood", "alignment"]
)
def test_resume_goes_on_where_it_stopped(cli, computed, interrupt, stage):
    cli("align a.nt b.nt -o whole --write tsv --set names.top_k=7")
    every = list(computed)
    assert every.count(stage) >= 1
    computed.clear()
    interrupt(stage)
    assert not Path("run/alignment.tsv").exists()
    done = list(computed)
    assert done == every[: every.index(stage)]
    computed.clear()
    out, _ = cli("resume run")
    assert [*done, *computed] == every, "nothing is left out, nothing is done twice"
    assert "Written to run/alignment.tsv, run/doubtful.tsv, run/unmatched.tsv" in out
    for name in ("alignment.tsv", "unmatched.tsv", "config.toml"):
        assert Path("run", name).read_bytes() == Path("whole", name).read_bytes()


def test_resume_from_anywhere(cli, computed, interrupt, tmp_path, monkeypatch):
    interrupt()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    computed.clear()
    answer = json.loads(cli("resume ../run --json")[0])
    assert computed == ["alignment", "seeds"]
    assert answer["accepted"] == 8
    assert answer["files"] == ["alignment.tsv", "doubtful.tsv", "unmatched.tsv", "report.html"]


def test_resume_notices_changed_input(cli, computed):
    cli("align a.nt b.nt -o run")
    computed.clear()
    with Path("a.nt").open("a") as file:
        file.write("<urn:a:Riga> <urn:next> <urn:a:Oslo> .\n")
    _, err = cli("resume run")
    assert computed[:2] == ["source", "target"], "what is matched depends on both graphs"
    assert "alignment" in computed
    assert "a.nt has changed since it was read; what depends on it is made again" in err
    assert "urn:a:Riga" in Path("run/unmatched.tsv").read_text()
    Path("a.nt").unlink()
    assert "a.nt: no such file or folder" in cli("resume run", INPUT)[1]


def test_rejected_lines_survive_an_interruption(cli, failing):
    with Path("a.nt").open("a") as file:
        file.write("rubbish\n")
    with failing("fused", MemoryError()):
        cli("align a.nt b.nt -o run --max-errors 1", RESOURCES)
    assert "run/rejects.tsv" in cli("resume run")[0]
    listed = Path("run/rejects.tsv").read_text()
    assert "rubbish" in listed
    Path("run/rejects.tsv").write_text(listed.lower())
    assert "run/rejects.tsv: damaged (stage source)" in cli("verify run", INPUT)[0]
    cli("resume run")
    assert Path("run/rejects.tsv").read_text() == listed
    cli("verify run")


def test_what_cannot_be_resumed(cli):
    cli("demo -o demo --languages en de --json")
    assert "repeat the command that started it" in cli("resume demo", USAGE)[1]
    assert "is not a run folder" in cli("resume nowhere", INPUT)[1]


def test_what_cannot_be_resumed_is_not_told_to_be(cli, pair, computed, failing):
    command, again = f"bench {pair} --train 0 -o run", "continue with: the command that began it\n"
    with failing("alignment", MemoryError()):
        _, err = cli(command, RESOURCES)
    assert err.endswith(again)
    assert cli("evaluate run --links a.nt", INPUT)[1].endswith(again)
    computed.clear()
    cli(command)
    assert computed == ["alignment", "seeds"]
    Path("run/config.toml").write_text("")
    assert cli("verify run", INPUT)[1].endswith("are made again by: the command that began it\n")
    cli(command)
    cli("verify run")


def test_another_command_takes_the_folder_over(cli, pair):
    cli("align a.nt b.nt -o run")
    cli(f"bench {pair} --train 0 -o run")
    assert "repeat the command that started it" in cli("resume run", USAGE)[1]


def test_a_run_someone_works_on_is_refused(cli):
    cli("align a.nt b.nt -o run")
    command = ["-c", "import sys; from pathlib import Path; from largeea.runs.lock import hold;"]
    command[1] += "hold(Path('run')); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, *command], env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout.readline() == b"held\n"
        for line in ("resume run", "align a.nt b.nt -o run"):
            expected = f"process {other.pid} on {platform.node()} (since "
            assert expected in cli(line, RESOURCES)[1]
        assert json.loads(cli("status run --json")[0])["state"] == "running"
        other.kill()
    cli("resume run")


def test_settings_of_an_interrupted_run_do_not_mix_with_its_last_answer(cli, interrupt):
    cli("align a.nt b.nt -o run --set names.top_k=5")
    before = Path("run/config.toml").read_bytes()
    Path("links.tsv").write_text("urn:a:Berlin\turn:b:Berlin\n")
    interrupt()
    assert Path("run/config.toml").read_bytes() == before
    assert "not finished" in cli("evaluate run --links links.tsv", INPUT)[1]
    cli("resume run")
    assert "top_k = 7" in Path("run/config.toml").read_text()
    cli("evaluate run --links links.tsv")


# status and verify


def test_status(cli, interrupt):
    interrupt()
    out, _ = cli("status run")
    assert "run: interrupted" in out
    assert "Go on with: largeea resume run" in out
    cli("resume run")
    out, _ = cli("status run")
    assert "run: finished" in out
    assert "The run is finished." in out
    facts = json.loads(cli("status run --json")[0])
    assert facts["state"] == "finished"
    assert facts["stages"][0]["name"] == "source"
    assert facts["summary"]["accepted"] == 8
    assert facts["read"]["source"].items() >= {
        "entities": 8, "blank_nodes": 0, "statements": 9, "triples": 8, "literals": 0, "duplicates": 1,
        "rejected": 0,
    }.items()  # fmt: skip
    Path("run/alignment.tsv").write_text("")
    assert "Go on with: largeea resume run" in cli("status run")[0]
    place = hold(Path("run"))
    assert f"Process {os.getpid()} on " in cli("status run")[0]
    release(place)


def test_one_flipped_byte_in_any_file_is_noticed_named_and_mended(cli, computed):
    cli("align a.nt b.nt -o run")
    stages = set(computed)
    answer = json.loads(Path("run/manifest.json").read_text())["answer"]["stages"]
    content = {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()}
    for name in ("manifest.json", "report.html"):  # the report is written again at any time
        del content[Path("run", name)]
    assert {path.name for path in content} == {
        *(f"{stage}.safetensors" for stage in stages), "config.toml", "alignment.sssom.tsv",
        "doubtful.tsv", "unmatched.tsv",
    }  # fmt: skip
    shutil.copytree("run", "whole")
    for path in content:
        flipped = bytearray(content[path])
        flipped[len(flipped) // 2] ^= 4
        path.write_bytes(flipped)
        out, err = cli("verify run", INPUT)
        assert f"{path}: damaged" in out
        assert f"{len(content) - 1} of {len(content)} files match their checksums." in out
        assert "largeea resume run" in err
        computed.clear()
        _, err = cli("resume run")
        assert (f"{path}: is damaged or missing" in err) == (path.name != "config.toml")
        check_repair(path, answer, computed)
        for other, old in content.items():
            if other != path or path.exists():
                assert other.read_bytes() == old
        cli("verify run")
        shutil.rmtree("run")
        shutil.copytree("whole", "run")


OF_EARLIER_ROUNDS = ("anchors-", "candidates", "names-nearby", "names-worth", "worth-")


def check_repair(path: Path, answer: list[str], computed: list[str]) -> None:
    """What is made again after a file was damaged."""
    stage = path.stem if path.parent.name == "stages" else None
    of_earlier_rounds = stage is not None and stage.startswith(OF_EARLIER_ROUNDS)
    if stage is None:
        assert computed == []
    elif stage in answer and not of_earlier_rounds:
        assert computed == [stage], "only that stage is made again"
    elif of_earlier_rounds:  # what they were made of has been replaced by later rounds
        assert (stage in computed) == path.exists()
        assert stage in computed or not (stage in answer or stage.startswith("anchors-"))
        assert not {"source", "target", "names", "edges", "alignment"} & set(computed)
    else:  # made again if it is asked for, else forgotten
        assert computed == ([stage] if path.exists() else [])


def test_what_nobody_asks_for_any_more_does_not_stay_damaged(cli):
    cli("align a.nt b.nt -o run --write tsv")
    cli("align a.nt b.nt -o run --write sssom")
    Path("run/alignment.tsv").write_text("")
    assert "alignment.tsv: damaged" in cli("verify run", INPUT)[0]
    assert (
        "alignment.tsv: is damaged or missing; it is made again when it is asked for" in cli("resume run")[1]
    )
    cli("verify run")


def test_verify_for_machines(cli):
    cli("align a.nt b.nt -o run")
    unchecked = "manifest.json", "report.html"
    files = [path for path in Path("run").rglob("*") if path.is_file() and path.name not in unchecked]
    assert json.loads(cli("verify run --json")[0]) == {"run": "run", "files": len(files), "problems": []}
    Path("run/stages/names.safetensors").unlink()
    assert json.loads(cli("verify run --json", INPUT)[0])["problems"] == [
        {"file": "stages/names.safetensors", "stage": "names", "problem": "missing"}
    ]


def test_a_damaged_manifest_is_told(cli):
    cli("align a.nt b.nt -o run")
    Path("run/manifest.json").write_bytes(Path("run/manifest.json").read_bytes().replace(b"0", b"1", 1))
    for line in ("verify run", "status run", "resume run", "align a.nt b.nt -o run"):
        _, err = cli(line, INPUT)
        assert "manifest.json: is damaged: its content does not match its checksum; without it" in err
        assert "move run away and repeat the command that began it, or give it another folder with -o" in err
    Path("run").rename("away")
    cli("align a.nt b.nt -o run")


def test_results_of_the_demo_are_vouched_for(cli):
    command = "demo -o demo --languages en de --json"
    cli(command)
    facts = json.loads(cli("status demo --json")[0])
    names = ["alignment.sssom.tsv", "alignment.tsv", "doubtful.tsv", "unmatched.tsv"]
    assert [file["name"] for file in facts["results"]] == names
    assert facts["summary"]["accepted"] > 0
    whole = {name: Path("demo", name).read_bytes() for name in names}
    for name, content in whole.items():
        Path("demo", name).write_bytes(content.replace(b"\t", b" ", 1))
        assert f"demo/{name}: damaged" in cli("verify demo", INPUT)[0]
        cli(command)
        assert Path("demo", name).read_bytes() == content
        cli("verify demo")


@pytest.mark.parametrize("command", ["resume", "status", "verify"])
def test_help_has_examples(cli, command):
    out, _ = cli(f"{command} --help")
    assert f"largeea {command} run" in out[out.index("Examples") :]


# From outside


@pytest.fixture(scope="module")
def pair(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "pair"
    write_pair(demo_pair(("en", "nl"), seed=0), folder)
    return folder


@pytest.fixture(scope="module")
def whole(pair) -> Path:
    """An uninterrupted run."""
    folder = pair.parent / "whole"
    command = [*PROGRAM, "align", str(pair), "-o", str(folder), "--quiet"]
    subprocess.run(command, env=environment(), check=True, capture_output=True)
    return folder


def start(*arguments: str, **more: str) -> subprocess.Popen[str]:
    """The command in a process of its own, which heeds Ctrl-C even where the tests run in the background."""
    return subprocess.Popen(
        [*PROGRAM, *arguments],
        env=environment(**more),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def wait_until_stored(folder: Path, stage: str, process: subprocess.Popen[str]) -> None:
    while process.poll() is None:
        manifest = folder / "manifest.json"
        if manifest.is_file() and stage in json.loads(manifest.read_text())["stages"]:
            return
        time.sleep(0.002)


def assert_same_answer(one: Path, other: Path) -> None:
    for name in ("alignment.sssom.tsv", "unmatched.tsv", "config.toml"):
        assert (one / name).read_bytes() == (other / name).read_bytes()


def test_killed_again_and_again(pair, whole, cli):
    """A short version of benchmarks/kill_resume.py."""
    chance, kills = random.Random(0), 0
    folder = Path("run")
    for stage in ("target", "strings", "anchors-1"):
        process = start("align", str(pair), "-o", str(folder))
        wait_until_stored(folder, stage, process)
        time.sleep(chance.random() / 10)
        process.kill()
        kills += process.wait() == -signal.SIGKILL
        process.stderr.close()
    assert kills > 0
    cli("resume run")
    assert_same_answer(folder, whole)
    cli("verify run")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_run_soon_and_says_how_to_go_on(pair, whole, cli, number, code):
    process = start("align", str(pair), "-o", "run")
    wait_until_stored(Path("run"), "source", process)
    sent = time.monotonic()
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    assert time.monotonic() - sent < 20
    assert f"error: stopped by {number.name}" in err
    assert "continue with: largeea resume run" in err
    assert "Traceback" not in err
    assert not list(Path("run").rglob(".*"))
    cli("resume run")
    assert_same_answer(Path("run"), whole)


def test_a_signal_to_a_benchmark_does_not_send_to_resume(pair, cli):
    process = start("bench", str(pair), "-o", "run", "--train", "0")
    wait_until_stored(Path("run"), "source", process)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 143, err
    assert "continue with: the command that began it" in err
    assert "resume" not in err
    cli(f"bench {pair} -o run --train 0 --json")


DEAF = """
import hashlib, os, signal, sys, threading
from pathlib import Path
from largeea.cli import signals
from largeea.runs.lock import hold
signals.PATIENCE = 0.2
hold(Path("."))
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGTERM)).start()
with signals.stopping(sys.stderr.write):
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)
"""


@pytest.mark.parametrize("request_kept", [True, False])
def test_compiled_code_that_does_not_listen_is_ended(request_kept):
    write_manifest(Path(), {"format": FORMAT, "stages": {}} | ({"request": {}} if request_kept else {}))
    command = [sys.executable, "-c", DEAF]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 143
    assert done.stderr.startswith("stopped by SIGTERM\n")
    way_on = "largeea resume ." if request_kept else "the command that began it"
    assert done.stderr.endswith(f"continue with: {way_on}")


def test_the_number_of_threads_leaves_no_trace(pair):
    """Names alone; evidence multiplies matrices, whose last digits depend on threads."""
    for threads in "12":
        more = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"), threads)
        process = start("align", str(pair), "-o", threads, "--without", "evidence", **more)
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
    assert_same_answer(Path("1"), Path("2"))
    for path in Path("1/stages").iterdir():
        assert path.read_bytes() == Path("2/stages", path.name).read_bytes()


class Destroyed:
    """Is sent a signal while it is destroyed."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)


def test_a_signal_while_an_object_was_destroyed_was_lost():
    """Python ignores exceptions in destructors: the run went on to its end."""

    def go_on() -> None:
        with signals.stopping(print):
            Destroyed()
            time.sleep(signals.PATIENCE / 2)

    with pytest.raises(signals.Stopped, match="SIGTERM"):
        go_on()
