"""Stages as data: a stage is a call of a module-level function, known by a key made of that call.

`stage("names", name_features, semantic, strings, 0.3)` gives a `Handle`: the promise of a result. Its key is
a hash of the function, its code and its arguments; an argument that is a handle counts by its own key. So the
dependencies of a stage are its arguments, and nothing else decides whether a stored result is used again.
A result is computed when somebody asks for it and nobody has stored it.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from contextvars import copy_context
from dataclasses import fields, is_dataclass
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakValueDictionary

from pydantic import BaseModel

from largeea.execution.code import code_fingerprint
from largeea.execution.jobs import JobStore, storing_jobs
from largeea.execution.machine import give_way
from largeea.execution.memory import PeakMemory, peak_memory, release_free_memory
from largeea.execution.settings import current
from largeea.progress import step

T = TypeVar("T")
SHARE_FOR_CACHE = 0.1
"""Of the memory limit, what results that are stored anyway may take up."""


class Missing(Exception):  # noqa: N818
    """The store has no such result."""


class Store(Protocol):
    """Keeps the results of stages by name and key."""

    keeps: bool
    """Whether a saved result can be loaded again."""

    def load(self, name: str, key: str) -> Any:
        """The result stored under this name and key; `Missing` if there is none."""

    def has(self, name: str, key: str) -> bool:
        """Whether there is one, at the cost of a look."""

    def save(self, handle: Handle[Any], value: Any, seconds: float, memory: PeakMemory) -> None:
        """Store a result that was just computed."""

    def jobs(self, handle: Handle[Any]) -> JobStore | None:
        """Where the finished jobs of a stage under way are kept."""


class Handle(Generic[T]):
    """The result of a stage; `handle.value` computes or loads it."""

    def __init__(
        self, stages: Stages, name: str, call: Call, function: Callable[..., T], arguments: tuple[Any, ...]
    ) -> None:
        self.name, self.call, self.key = name, call, call.key
        self._stages, self._function, self._arguments = stages, function, arguments
        self._held: list[T] = []
        self._computing = threading.Lock()

    def __repr__(self) -> str:
        return f"Handle({self.name!r}, {self.key[:8]})"

    @property
    def value(self) -> T:
        """The result itself."""
        with self._computing:
            if self._held:
                return self._held[0]
            value: T = self._stages.value_of(self)
            if not self._stages.store.keeps:  # nobody else has it; what it was made of may go
                self._held, self._arguments = [value], ()
            return value

    @property
    def is_there(self) -> bool:
        """Whether the result need not be computed, at the cost of a look."""
        return bool(self._held) or self._stages.store.has(self.name, self.key)

    @property
    def under_way(self) -> bool:
        """Whether some thread is computing or loading the result."""
        return self._computing.locked()

    def ensure(self) -> None:
        """Make sure that the result is stored."""
        if not self.is_there:
            self._stages.forget(self.key)
            _ = self.value

    def compute(self) -> tuple[T, float, PeakMemory]:
        """The result computed now, in how many seconds, and the peak memory meanwhile."""
        if self._stages.side_by_side:
            self._compute_arguments()
        arguments = [_value_of(argument) for argument in self._arguments]
        started = time.perf_counter()
        with peak_memory() as memory, step(self.name), self._stages.jobs_of(self):
            value = self._function(*arguments)
        seconds = time.perf_counter() - started
        del arguments
        release_free_memory()
        return value, seconds, memory

    def _compute_arguments(self) -> None:
        """Compute the arguments that are missing: here the one that needs most stages, and then the others.

        What that one does not need is computed in the background meanwhile, from the other end of the list.
        """
        needed = {handle: handle._missing() for handle in _handles_in(self._arguments) if not handle.is_there}
        longest_first = sorted(needed, key=lambda handle: -len(needed[handle]))
        self._stages.ahead(
            *(handle for handle in reversed(longest_first) if handle not in needed[longest_first[0]])
        )
        for handle in longest_first:
            if not handle.under_way:  # else it is waited for when the others are there
                handle.ensure()

    def _missing(self) -> set[Handle[Any]]:
        """All stages that have to be computed for the result, its own included."""
        missing: set[Handle[Any]] = set()
        look_at: list[Handle[Any]] = [self]
        while look_at:
            handle = look_at.pop()
            if handle not in missing and not handle.is_there:
                missing.add(handle)
                look_at.extend(_handles_in(handle._arguments))
        return missing


class Call:
    """What a stage was called with, in plain values: for the key and for the manifest."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.function = f"{function.__module__}.{function.__qualname__}"
        self.code = code_fingerprint(function)
        self.inputs: list[str] = []
        """Names of the stages that the arguments come from."""
        self.arguments = [self._plain(argument) for argument in arguments]

    @property
    def key(self) -> str:
        """A hash of everything that decides the result."""
        return hash_of(self.function, self.code, self.arguments)

    def _plain(self, argument: Any) -> Any:
        if isinstance(argument, Handle):
            self.inputs.append(argument.name)
            return {"stage": argument.key}
        if isinstance(argument, BaseModel):
            return argument.model_dump(mode="json")
        if isinstance(argument, dict):
            return {str(name): self._plain(value) for name, value in argument.items()}
        if isinstance(argument, list | tuple):
            return [self._plain(value) for value in argument]
        if argument is None or isinstance(argument, bool | int | float | str):
            return argument
        raise TypeError(
            f"a stage takes handles and plain settings; {self.function} was given a {type(argument).__name__}"
        )


class Stages:
    """Makes handles out of calls, and values out of handles."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.made: dict[str, list[str]] = {}
        """The keys of all handles made so far, by name."""
        self._handles: WeakValueDictionary[tuple[str, str], Handle[Any]] = WeakValueDictionary()
        self.side_by_side = False
        """Whether two arguments of a stage are computed at a time: nodes of a cluster do most of it."""
        self.starts_from_earlier = False
        """Whether some stages start from the results of an earlier run."""
        self._cache: OrderedDict[str, Any] = OrderedDict()
        self._cached_bytes: dict[str, int] = {}
        self._lock = threading.Lock()
        self._asked_for: list[Handle[Any]] = []
        """What is to be computed in the background."""
        self._in_background = False
        """Whether a thread does that."""
        self._context = copy_context()
        """In which it does that."""

    def __call__(self, name: str, function: Callable[..., T], *arguments: Any) -> Handle[T]:
        """The handle of `function(*arguments)`; handles among the arguments are replaced by their values."""
        return self._handle(name, Call(function, arguments), function, arguments)

    def given(self, name: str, identity: str, read: Callable[[], T], reader: Callable[..., Any]) -> Handle[T]:
        """The handle of something from outside, which `read` gets.

        `identity` tells its content from any other; the code of `reader` decides how it is read.
        """
        return self._handle(name, Call(reader, (identity,)), read, ())

    def _handle(
        self, name: str, call: Call, function: Callable[..., T], arguments: tuple[Any, ...]
    ) -> Handle[T]:
        key = call.key
        keys = self.made.setdefault(name, [])
        if key not in keys:
            keys.append(key)
        handle = self._handles.get((name, key))
        if handle is None:
            handle = self._handles[name, key] = Handle(self, name, call, function, arguments)
        return handle

    def ahead(self, *handles: Handle[Any]) -> None:
        """Compute these in the background, one after another, while others are computed here.

        There is one thread in the background, which gives way to what is waited for. What it is asked for
        last comes first. With a cluster it begins when nodes have jobs: until then, they wait for what is
        computed here. An error is raised where the values are asked for.
        """
        with self._lock:
            self._asked_for[:0] = handles
            self._context = copy_context()
        if not self.side_by_side:
            self._begin_ahead()

    def jobs_of(self, handle: Handle[Any]) -> AbstractContextManager[None]:
        """The context in which the jobs of a stage are carried out."""
        return storing_jobs(self.store.jobs(handle), self._begin_ahead)

    def _begin_ahead(self) -> None:
        """Let the background begin, unless it is at work or has nothing to do."""
        with self._lock:
            if self._in_background or not self._asked_for:
                return
            self._in_background = True
            context = self._context.copy()
        threading.Thread(target=context.run, args=(self._work_ahead,), daemon=True).start()

    def _work_ahead(self) -> None:
        """Compute what was asked for ahead, until nothing is left or something fails."""
        give_way()
        while (handle := self._next_ahead()) is not None:
            try:
                handle.ensure()
            except Exception:
                with self._lock:
                    self._asked_for.clear()

    def _next_ahead(self) -> Handle[Any] | None:
        """What the background is to compute next; it ends with None."""
        with self._lock:
            while self._asked_for:
                handle = self._asked_for.pop(0)
                if not handle.under_way:
                    return handle
            self._in_background = False
        return None

    def value_of(self, handle: Handle[T]) -> T:
        """The value of a handle: from the cache, from the store, or computed now."""
        with self._lock:
            if handle.key in self._cache:
                self._cache.move_to_end(handle.key)
                value: T = self._cache[handle.key]
                return value
        try:
            value = self.store.load(handle.name, handle.key)
        except Missing:
            value, seconds, memory = handle.compute()
            self.store.save(handle, value, seconds, memory)
        if self.store.keeps:
            self._remember(handle.key, value)
        return value

    def forget(self, key: str) -> None:
        """Keep a value in memory no longer: it is not stored any more."""
        with self._lock:
            self._cache.pop(key, None)
            self._cached_bytes.pop(key, None)

    def _remember(self, key: str, value: Any) -> None:
        """Keep the latest values in memory, within limits: they can be loaded again.

        With a cluster, none: what is loaded again is mapped from its file, and nodes can map it too.
        """
        room = SHARE_FOR_CACHE * current().memory_bytes if current().is_local else 0
        with self._lock:
            self._cache[key] = value
            self._cached_bytes[key] = bytes_of(value)
            while self._cache and sum(self._cached_bytes.values()) > room:
                oldest, _ = self._cache.popitem(last=False)
                del self._cached_bytes[oldest]


def hash_of(*parts: Any) -> str:
    """SHA-256 of plain values."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _value_of(argument: Any) -> Any:
    if isinstance(argument, Handle):
        return argument.value
    if isinstance(argument, dict):
        return {name: _value_of(value) for name, value in argument.items()}
    if isinstance(argument, list | tuple):
        return type(argument)(_value_of(value) for value in argument)
    return argument


def _handles_in(argument: Any) -> Iterator[Handle[Any]]:
    """All handles in the arguments of a stage, in their order."""
    if isinstance(argument, Handle):
        yield argument
    elif isinstance(argument, dict | list | tuple):
        for part in argument.values() if isinstance(argument, dict) else argument:
            yield from _handles_in(part)


def bytes_of(value: Any) -> int:
    """Memory that the arrays and text columns in a result take up."""
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict):
        return sum(map(bytes_of, value.values()))
    return int(getattr(value, "nbytes", 0))
