"""The house keeps its plan: arrows go down only, and the core stands without the extras."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import largeea
from largeea.execution import code

ROOT = Path(largeea.__file__).parent

LAYERS: tuple[set[str], ...] = (
    {"child", "errors", "graph", "hashing", "randomness", "version"},
    {"plugins", "progress"},
    {"config"},
    {"execution"},
    {"similarity"},
    {"matching", "search"},
    {"formats"},
    {"runs"},
    {"datasets", "names"},
    {"evidence"},
    {"constraints", "structure"},
    {"corrections", "evaluation", "finished", "planning", "reviews"},
    {"entity_lookup", "exporting", "results", "schema_mapping"},
    {"material"},
    {"round_evidence"},
    {"rounds"},
    {"pipeline"},
    {"explain", "inputs"},
    {"report"},
    {"updating"},
    {"merging"},
    {"api"},
    {"deduplication"},
    {""},
    {"experiments", "web"},
    {"cli"},
    {"__main__"},
)
"""Rooms from the ground up; "" is the front door. A room uses rooms below it, none beside it or above."""
CHANNELS = {"names", "structure", "evidence"}
MEASURING = {"", "cli", "experiments"}
"""Who may see test links."""

EXTRAS = (
    "torch",
    "transformers",
    "sentence_transformers",
    "ray",
    "starlette",
    "uvicorn",
    "faiss",
    "matplotlib",
    "opencc",
    "rigour",
)


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


def imports_of(path: Path, plugins: bool = True) -> Iterator[str]:
    """Dotted names of what a file imports from the package, lazily or not, but for type checkers.

    `"module:attribute"` in quotes is a plug-in, which is imported when it is asked for.
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
        if isinstance(node, ast.Constant) and str(node.value).partition(":")[0] in MODULES:
            if plugins and ":" in str(node.value):
                yield node.value.partition(":")[0]
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
    assert ("largeea.similarity.matrix", "largeea.graph") in ARROWS
    assert ("largeea.cli.options", "largeea.config") in ARROWS
    assert ("largeea.structure.models", "largeea.structure.models.rrea") in ARROWS, "by its name in quotes"
    assert rooms_used_by("pipeline") >= {"names", "rounds", "structure"}
    assert rooms_used_by("material") >= {"evidence", "names"}
    assert rooms_used_by("round_evidence") >= {"evidence", "material", "names"}
    assert rooms_used_by("rounds") >= {"evidence", "matching", "material", "round_evidence"}
    assert users_of("evaluation") >= {"cli", "experiments"}


def test_every_room_has_its_floor() -> None:
    rooms = {room_of(module) for module in MODULES}
    assert rooms <= set().union(*LAYERS), "give the new room a place in LAYERS"
    assert sum(map(len, LAYERS)) == len(set().union(*LAYERS))


@pytest.mark.parametrize("room", sorted({room_of(module) for module in MODULES}))
def test_arrows_go_down(room: str) -> None:
    floor = next(floor for floor, rooms in enumerate(LAYERS) if room in rooms)
    above = {
        (module, imported)
        for module, imported in ARROWS
        if room_of(module) == room != room_of(imported)
        and room_of(imported) not in set().union(*LAYERS[:floor])
    }
    assert not above, "these arrows do not go down"


@pytest.mark.parametrize(
    ("room", "allowed"),
    [
        ("config", {"errors", "progress"}),
        ("plugins", {"errors"}),
        ("progress", {"errors"}),
        ("similarity", {"execution", "graph"}),
        ("execution", {"errors", "graph", "hashing", "plugins", "progress"}),
        ("search", {"errors", "execution", "graph", "plugins", "progress", "randomness", "similarity"}),
        ("matching", {"errors", "execution", "graph", "progress", "randomness", "similarity"}),
    ],
)
def test_the_foundations_stand_on_little(room: str, allowed: set[str]) -> None:
    assert rooms_used_by(room) <= allowed


@pytest.mark.parametrize("room", ["execution", "runs", "search", "matching", "formats"])
def test_what_serves_every_channel_knows_none(room: str) -> None:
    assert not rooms_used_by(room) & CHANNELS


def test_nothing_uses_the_command_line() -> None:
    assert users_of("cli") <= {"__main__"}


def test_only_those_who_measure_see_test_links() -> None:
    assert users_of("evaluation") <= MEASURING


def test_the_front_door_is_for_guests() -> None:
    """Inside the house one goes from room to room."""
    assert {module for module, imported in ARROWS if imported == "largeea"} == set()


# Fingerprints of code


def test_a_code_fingerprint_sees_every_import() -> None:
    """The quick parser of `execution.code` misses nothing that the real one finds.

    Plug-ins have fingerprints of their own: only the one that is used counts.
    """
    for module, path in MODULES.items():
        found = {name for name in imports_of(path, plugins=False) if name not in ("largeea", module)}
        assert found <= code.imports_of(module), module


def test_what_code_fingerprints_leave_out_decides_no_answer() -> None:
    """Neutral rooms carry the work out; whatever computes is in some stage's fingerprint."""
    neutral = {room_of(module) for module in code.NEUTRAL}
    assert neutral <= {room_of(module) for module in MODULES}
    assert not neutral & (CHANNELS | {"matching", "search", "similarity", "graph", "formats", "randomness"})


# Kernels


def test_importing_compiles_nothing_and_kernels_can_run_in_threads() -> None:
    program = f"""
import importlib, sys
from numba.core.dispatcher import Dispatcher
from numba.core.caching import NullCache
kernels = {{}}
for name in {sorted(name for name in MODULES if name.endswith("kernels"))}:
    module = importlib.import_module(name)
    kernels |= {{f"{{name}}.{{k}}": v for k, v in vars(module).items() if isinstance(v, Dispatcher)}}
assert len(kernels) > 10, kernels
for name, kernel in kernels.items():
    options = kernel.targetoptions
    assert not kernel.signatures, f"{{name}} is compiled when it is imported"
    assert options.get("nogil"), f"{{name}} holds the GIL"
    assert not options.get("parallel"), f"{{name}} has threads of its own"
    assert not isinstance(kernel._cache, NullCache), f"{{name}} is compiled in every process"
"""
    run_python(program)


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


def test_importing_pulls_in_no_extra() -> None:
    """Even where they are installed: a start must not wait for torch."""
    program = f"import sys, largeea.cli; print([name for name in {EXTRAS} if name in sys.modules])"
    assert run_python(program) == "[]\n"


FIRST = ["largeea.runs.folder", "largeea.similarity", "largeea.evaluation", "largeea.formats.links"]
FIRST += ["largeea.execution.stages", "largeea.execution.engines", "largeea.finished", "largeea.explain"]
FIRST += ["largeea.graph.edges", "largeea.names.channel", "largeea.structure.channel", "largeea.evidence"]


def test_every_module_can_be_imported_first() -> None:
    """Whoever starts with an inner room must not fall into a half-made one."""
    program = f"""
import importlib, sys
for name in {FIRST}:
    for loaded in [module for module in sys.modules if module.split(".")[0] == "largeea"]:
        del sys.modules[loaded]
    importlib.import_module(name)
"""
    run_python(program)


def test_public_names_exist() -> None:
    assert sorted(largeea.__all__) == largeea.__all__
    for name in largeea.__all__:
        assert getattr(largeea, name).__doc__


def test_a_public_function_is_not_hidden_by_a_module_of_its_name() -> None:
    """Public names are imported lazily: a module of the same name would take a function's place."""
    assert not {name for name in largeea.__all__ if f"largeea.{name}" in MODULES}


def test_what_computes_nothing_starts_without_numeric_libraries() -> None:
    """`status`, the version and misspelt commands answer at once."""
    program = """
import sys
import largeea, largeea.cli.status
from largeea.cli import run
assert run(["--version"]) == 0 and run(["algin"]) == 2
print([name for name in ("numpy", "numba", "pyarrow", "scipy") if name in sys.modules])
"""
    assert run_python(program).splitlines()[-1] == "[]"
