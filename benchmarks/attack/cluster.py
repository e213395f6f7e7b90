"""A Ray cluster on this machine whose workers are killed or stopped and whose nodes get lost during a run.

The run ends with the bytes of one without a cluster. Ray starts threads, so that all of it runs in a process
of its own, which prints a line for each attempt.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import largeea
from largeea.datasets.demo import demo_pair
from largeea.progress import listening

ROOT = Path(__file__).parents[2]
SECONDS = 3600
STOPPED_SECONDS = 5.0
SETTINGS: dict[str, Any] = {"evidence": {"rounds": 2}}


def attempts(workshop: Any, most: int | None) -> Iterator[tuple[str, str | None]]:
    if find_spec("ray") is None:
        return
    workshop.clear()
    command = [sys.executable, "-m", __name__, str(workshop.work), str(most or len(ACTIONS))]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "src")))}
    ended = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    for line in ended.stdout.splitlines():
        if line.startswith("cluster: "):
            what, _, wrong = line.partition("\t")
            yield what, wrong or None
    if ended.returncode:
        yield "cluster", ended.stderr.strip()[-300:]


def main(folder: Path, most: int) -> None:
    """Print for each action on the cluster what is wrong with the run that it meets."""
    sys.path.insert(0, str(ROOT / "tests" / "execution"))
    from ray_nodes import Cluster, plugin_folder

    pair = demo_pair()
    largeea.align(pair.source, pair.target, config=SETTINGS, folder=folder / "local")
    with plugin_folder() as plugin:
        cluster = Cluster(3, plugin)
        try:
            for what, act in list(ACTIONS.items())[:most]:
                run, trouble = folder / what, Trouble(cluster, act)
                with listening(trouble):
                    largeea.align(
                        pair.source, pair.target, config=SETTINGS, folder=run, execution=cluster.execution
                    )
                wrong = different(run, folder / "local") or ("" if trouble.made else "it was not attacked")
                print(f"cluster: {what}", wrong, sep="\t", flush=True)
        finally:
            cluster.close()


class Trouble:
    """Acts once on the cluster, while the jobs of a stage are under way."""

    def __init__(self, cluster: Any, act: Callable[[Any, int], None]) -> None:
        self.cluster, self.act, self.made = cluster, act, False

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        yield

    def advance(self, done: int, total: int) -> None:
        if not self.made and 1 <= done < total and (working := self.cluster.working()):
            self.made = True
            self.act(self.cluster, working[0])

    def note(self, message: str) -> None:
        pass

    warn = note


def _stop_for_a_while(cluster: Any, worker: int) -> None:
    os.kill(worker, signal.SIGSTOP)
    threading.Timer(STOPPED_SECONDS, os.kill, (worker, signal.SIGCONT)).start()


ACTIONS: dict[str, Callable[[Any, int], None]] = {
    "a worker killed": lambda cluster, worker: os.kill(worker, signal.SIGKILL),
    "a node lost": lambda cluster, worker: cluster.kill_node(),
    "a worker that stands still": _stop_for_a_while,
}


def different(one: Path, other: Path) -> str:
    """Which files of stages differ; empty if none does."""
    ours, theirs = (
        {path.name: path.read_bytes() for path in (folder / "stages").iterdir()} for folder in (one, other)
    )
    wrong = sorted(name for name in ours | theirs if ours.get(name) != theirs.get(name))
    return f"other stages than without a cluster: {', '.join(wrong)}" if wrong else ""


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
