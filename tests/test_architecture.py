"""The house keeps its plan: arrows go down only, and the core stands without the extras."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import largeea

ROOT = Path(largeea.__file__).parent

LAYERS: tuple[set[str], ...] = (
    {"errors", "progress", "randomness", "compiled", "later", "sparse"},
    {"graph"},
    {"vectors", "ranking", "similarity", "sinkhorn", "alignment", "config"},
    {"search", "formats", "runs", "engines"},
    {"datasets", "names", "structure", "evidence"},
    {"fusion", "calibration", "assignment", "decide", "evaluate"},
    {"pipeline"},
    {"experiments", "explain", "report", "review"},
    {"cli"},
)
"""Rooms from the ground up. A room may use those below it and those beside it."""

EXTRAS = ("torch", "transformers", "sentence_transformers", "ray", "fastapi", "faiss", "matplotlib")


def modules() -> dict[str, Path]:
    """Every module by its dotted name, such as `largeea.runs.files`."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = ("largeea", *path.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


MODULES = modules()


def room_of(module: str) -> str:
    """The room a module is in: the file or folder right below the package; "" is the front door."""
    return [*module.split("."), ""][1]


def imports_of(path: Path) -> Iterator[str]:
    """Dotted names of what a file imports from the package, lazily or not, but for type checkers.

    A module's name in quotes is an import for later.
    """
    tree = ast.parse(path.read_text("utf-8"))
    unseen = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if id(node) in unseen:
            continue
        if isinstance(node, ast.Constant) and node.value in MODULES and node.value != "largeea":
            yield node.value
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "largeea")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; say where from"
            if node.module and node.module.split(".")[0] == "largeea":
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    yield inner if inner in MODULES else node.module


ARROWS = {
    (module, imported)
    for module, path in MODULES.items()
    for imported in imports_of(path)
    if imported != module
}


def rooms_used_by(room: str) -> set[str]:
    return {room_of(imported) for module, imported in ARROWS if room_of(module) == room} - {room}


def users_of(room: str) -> set[str]:
    return {room_of(module) for module, imported in ARROWS if room_of(imported) == room} - {room}


def test_the_parser_sees_the_arrows() -> None:
    assert ("largeea.similarity", "largeea.graph") in ARROWS
    assert ("largeea.cli.options", "largeea.config") in ARROWS
    assert rooms_used_by("pipeline") >= {"evidence", "names", "structure"}
    assert users_of("evaluate") >= {"cli", "experiments"}


def test_every_room_has_its_floor() -> None:
    rooms = {room_of(module) for module in MODULES} - {""}
    assert rooms <= set().union(*LAYERS), "give the new room a place in LAYERS"


@pytest.mark.parametrize("room", sorted({room_of(module) for module in MODULES} - {""}))
def test_arrows_go_down(room: str) -> None:
    floor = next(floor for floor, rooms in enumerate(LAYERS) if room in rooms)
    allowed = set().union(*LAYERS[: floor + 1])
    above = rooms_used_by(room) - allowed - {""}
    assert not above, f"{room} uses {sorted(above)} from above"


@pytest.mark.parametrize(
    ("room", "allowed"),
    [
        ("errors", set()),
        ("graph", {"errors"}),
        ("similarity", {"graph", "ranking", "sparse", "compiled"}),
        ("alignment", {"graph"}),
        ("search", {"graph", "similarity", "errors", "progress", "sparse", "compiled"}),
    ],
)
def test_the_foundations_stand_on_little(room: str, allowed: set[str]) -> None:
    assert rooms_used_by(room) <= allowed


def test_nothing_uses_the_command_line() -> None:
    assert users_of("cli") == set()


def test_only_those_who_measure_see_test_links() -> None:
    assert users_of("evaluate") <= {"", "cli", "experiments"}


def test_the_front_door_is_for_guests() -> None:
    """Inside the house one goes from room to room; the version stands on the door, before all else."""
    allowed = {"largeea.runs.folder", "largeea.cli"}
    assert {module for module, imported in ARROWS if imported == "largeea"} <= allowed


def test_no_cycles_between_modules() -> None:
    inner = {
        module: {imported for start, imported in ARROWS if start == module and imported != "largeea"}
        for module in MODULES
    }
    # A package and its own modules import each other: its front lists what they offer.
    graph = {
        module: {other for other in used if not module.startswith(f"{other}.")}
        for module, used in inner.items()
    }
    done: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, " -> ".join([*trail, module])
        if module not in done:
            for other in graph.get(module, ()):
                visit(other, (*trail, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def run_python(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_core_works_without_the_extras() -> None:
    program = f"""
import sys
for extra in {EXTRAS}:
    sys.modules[extra] = None
import numpy, largeea, largeea.cli
from largeea.graph import strings
entities, names = strings(["urn:a", "urn:b"]), strings(["Anna", "Bert"])
graph = largeea.KnowledgeGraph(entities, names, strings(), numpy.empty((0, 3)))
print(largeea.align(graph, graph).pairs.tolist())
"""
    assert run_python(program) == "[[0, 0], [1, 1]]\n"


def test_who_only_looks_does_not_wait_for_compilers() -> None:
    """A resume, `status` or `--help` should start at once."""
    program = """
import sys
import largeea.cli, largeea.cli.align, largeea.cli.resume, largeea.cli.status
print([name for name in ("numba", "scipy", "torch", "faiss") if name in sys.modules])
"""
    assert run_python(program) == "[]\n"


def test_importing_pulls_in_no_extra() -> None:
    """Even where they are installed: a start must not wait for torch."""
    program = f"import sys, largeea.cli; print([name for name in {EXTRAS} if name in sys.modules])"
    assert run_python(program) == "[]\n"


def test_every_module_can_be_imported_first() -> None:
    """Whoever starts with an inner room must not fall into a half-made one."""
    program = """
import importlib, sys
for name in ("largeea.runs.folder", "largeea.similarity", "largeea.evaluate", "largeea.formats.links"):
    for loaded in [module for module in sys.modules if module.split(".")[0] == "largeea"]:
        del sys.modules[loaded]
    importlib.import_module(name)
"""
    run_python(program)


def test_public_names_exist() -> None:
    assert sorted(largeea.__all__) == largeea.__all__
    for name in largeea.__all__:
        assert getattr(largeea, name).__doc__
