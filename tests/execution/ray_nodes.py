"""Ray clusters of processes on this machine, for tests of the Ray engine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import largeea
from largeea.execution import Execution, tasks

HERE = Path(__file__).parent


class Cluster:
    """A Ray head for the driver, and nodes with a core each; all have object stores of their own."""

    def __init__(self, count: int, plugin: Path) -> None:
        from ray.cluster_utils import Cluster as RayCluster

        sources = Path(largeea.__file__).parents[1]
        path = os.pathsep.join(map(str, [HERE, plugin, sources]))
        os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": path}
        self.store = {"object_store_memory": 100_000_000}
        self.ray = RayCluster(initialize_head=True, head_node_args={"num_cpus": 0, **self.store})
        self.nodes = [self.add() for _ in range(count)]
        self.execution = Execution(engine="ray", address=self.ray.address, device="cpu")

    def add(self) -> Any:
        """One more node."""
        return self.ray.add_node(num_cpus=1, **self.store)

    def kill_node(self) -> None:
        """Kill the raylet of a node and all that belongs to it, without a word."""
        self.ray.remove_node(self.nodes.pop(), allow_graceful=False)

    def working(self) -> list[int]:
        """The processes of this cluster that carry a job out right now."""
        raylets = [node.all_processes["raylet"][0].process.pid for node in self.nodes]
        return [pid for pid, parent in _processes("ray::carry_out") if parent in raylets]

    def close(self) -> None:
        """End the cluster."""
        import ray

        ray.shutdown()
        self.ray.shutdown()


NAMESPACES = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
"""Runs a command that sees mounts of its own, and ends all its processes with it."""


def why_no_namespaces() -> str:
    """Why there can be no node with mounts of its own here; nothing if there can be one."""
    if shutil.which(NAMESPACES[0]) is None:
        return "a node with mounts of its own needs the command unshare"
    mounting = [*NAMESPACES, "mount", "-t", "tmpfs", "none", tempfile.gettempdir()]
    tried = subprocess.run(mounting, capture_output=True, text=True, check=False)
    return f"no mount namespaces here: {tried.stderr.strip()}" if tried.returncode else ""


@contextmanager
def node_without_folder(cluster: Cluster, folder: Path) -> Iterator[None]:
    """A node that has an empty file system where the others see a folder."""
    start = [str(Path(sys.executable).with_name("ray")), "start", "--address", cluster.ray.address, "--block"]
    start += ["--num-cpus", "1", "--object-store-memory", str(cluster.store["object_store_memory"])]
    hiding = ["sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', str(folder)]
    node = subprocess.Popen([*NAMESPACES, *hiding, *start], stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        node.kill()
        node.wait()


def _processes(title: str) -> Iterator[tuple[int, int]]:
    """Process and parent of all whose command begins with a title."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (folder / "cmdline").read_text().startswith(title):
                yield int(folder.name), int((folder / "stat").read_text().rpartition(")")[2].split()[1])


@contextmanager
def plugin_folder() -> Iterator[Path]:
    """A folder that registers `ray_jobs` as a plug-in if it is on the path: other jobs are refused."""
    with tempfile.TemporaryDirectory() as folder:
        facts = Path(folder, "ray_jobs-1.dist-info")
        facts.mkdir()
        (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: ray_jobs\nVersion: 1\n")
        (facts / "entry_points.txt").write_text("[largeea.tests]\njobs = ray_jobs:squares\n")
        tasks._plugin_packages.cache_clear()
        yield Path(folder)
        tasks._plugin_packages.cache_clear()
