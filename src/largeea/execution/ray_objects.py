"""Values for Ray's object store. Arrays that lie in files are descriptions there, if all nodes see the files.

A node sees a folder if it reads there what the driver has just written. Ray turns values into bytes; it is
told how to do that with arrays, so they may be anywhere in a value.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import ray
from ray import exceptions
from ray.util import deregister_serializer, register_serializer
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from largeea.execution.file_arrays import Array, FileArray, FileViews, restored
from largeea.execution.ray_cluster import Nodes
from largeea.progress import note

SECONDS_TO_LOOK = 30.0
GONE = "gone"
_one_at_a_time = threading.Lock()
"""Stages may be computed in several threads, and Ray packs arrays in one way at a time."""


@dataclass
class ObjectStore:
    """Ray's object store as the driver uses it: which folders all nodes see, and how much was put there."""

    nodes: Nodes
    seen: dict[tuple[str, str], bool] = field(default_factory=dict)
    """By folder and id of the node."""
    given_up: set[str] = field(default_factory=set)
    """Folders that some node does not see, and files that have changed: arrays in them are sent."""
    bytes_sent: int = 0
    bytes_mapped: int = 0
    """Of arrays that nodes map, which were not sent."""
    _looking: threading.Lock = field(default_factory=threading.Lock)

    def look(self, folder: str) -> None:
        """Ask the nodes that were not asked before; give a folder up, with a note, if one does not see it.

        One thread at a time asks, because what it asks for lies in one file.
        """
        with self._looking:
            new = [node for node in self.nodes.alive() if (folder, node["NodeID"]) not in self.seen]
            for node, sees in zip(new, _who_sees(folder, new) if new else [], strict=True):
                self.seen[folder, node["NodeID"]] = sees
                if not sees and folder not in self.given_up:
                    self.given_up.add(folder)
                    where = node["NodeManagerAddress"]
                    note(f"{where} does not see {folder}: arrays travel over the network (share the folder)")


class Placed:
    """A value that the driver has put into the object store."""

    def __init__(self, value: Any, store: ObjectStore) -> None:
        self._value, self._store = value, store
        self._used: set[str] = set()
        self._object: Any = None

    def reference(self) -> Any:
        """What stands for the value in a task. It is put again if a folder or file was given up meanwhile."""
        while self._object is None or self._used & self._store.given_up:
            packing = _Packing(self._store.given_up)
            with _one_at_a_time, packing.at_work():
                self._object = ray.put(self._value)
            self._store.bytes_sent += packing.bytes_sent
            self._store.bytes_mapped += packing.bytes_mapped
            self._used = packing.folders | packing.files
            for folder in packing.folders:
                self._store.look(folder)
        if not self._used:
            self._value = None  # the object store has it
        return self._object


@dataclass
class _Packing:
    """How the arrays of one value are turned into bytes."""

    given_up: set[str]
    folders: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    bytes_sent: int = 0
    bytes_mapped: int = 0
    _views: FileViews = field(default_factory=FileViews)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Let Ray pack arrays this way."""
        for kind in (np.ndarray, np.memmap):
            register_serializer(kind, serializer=self.pack, deserializer=unpacked)
        register_serializer(pa.Buffer, serializer=_bytes_of, deserializer=pa.py_buffer)
        try:
            yield
        finally:
            for kind in (np.ndarray, np.memmap, pa.Buffer):
                deregister_serializer(kind)

    def pack(self, array: Array) -> Any:
        """A description of the file behind the array, or how numpy itself packs it."""
        described = self._views.describe(array)
        places = set() if described is None else {described.path, str(Path(described.path).parent)}
        if described is not None and not places & self.given_up:
            self.files.add(described.path)
            self.folders |= places - self.files
            self.bytes_mapped += array.nbytes
            return described
        self.bytes_sent += array.nbytes
        return np.asarray(array).__reduce_ex__(5)


def unpacked(packed: Any) -> Array:
    """The array that `_Packing.pack` packed."""
    if isinstance(packed, FileArray):
        return restored(packed)
    function, arguments, *state = packed
    array: Array = function(*arguments)
    if state:
        array.__setstate__(state[0])
    return array


def read_token(path: str) -> str:
    """What a file holds; nothing if it is not there."""
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def _bytes_of(buffer: pa.Buffer) -> Array:
    return np.frombuffer(buffer, np.uint8)


def _who_sees(folder: str, nodes: list[dict[str, Any]]) -> list[bool]:
    """Whether each node reads what is written into a folder now."""
    token, place = secrets.token_hex(16), Path(folder, f".token.{os.getpid()}.tmp")
    try:
        place.write_text(token)
    except OSError:
        return [False] * len(nodes)
    try:
        task = ray.remote(read_token)
        asked = []
        for node in nodes:
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            options = {"num_cpus": 0, "max_retries": 0, "scheduling_strategy": there}
            asked.append(task.options(**options).remote(str(place)))
        return [_answer(answer) in (token, GONE) for answer in asked]
    finally:
        with suppress(OSError):
            place.unlink()


def _answer(asked: Any) -> str:
    """What a node has read; `GONE` if it has died: nothing will be mapped there."""
    try:
        answer: str = ray.get(asked, timeout=SECONDS_TO_LOOK)
    except exceptions.GetTimeoutError:
        return ""
    except exceptions.RayError:
        return GONE
    return answer
