"""Calls of METIS: in this process, or in one of its own, where no other thread takes random numbers.

METIS draws from `rand` of the C library, whose state belongs to the whole process. The threads of Ray draw
from it too, and then the parts are others in every run.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pymetis
from safetensors.numpy import load_file, save_file

from largeea.graph import Arrays, Int32


def part(arrays: Arrays, settings: dict[str, Any]) -> Int32:
    """The part of each vertex of a graph in CSR form, as METIS finds it in this process, `[size]`."""
    k, shares = settings["k"], arrays.get("shares")
    options = pymetis.Options(**{name: settings[name] for name in ("seed", "ncuts", "ufactor")})
    _, found = pymetis.part_graph(
        k,
        pymetis.CSRAdjacency(arrays["indptr"], arrays["columns"]),
        eweights=arrays.get("weights"),
        vweights=arrays.get("masses"),
        tpwgts=None if shares is None else shares.tolist(),
        recursive=settings["recursive"],
        options=options,
    )
    return np.asarray(found, np.int32)


def part_alone(arrays: Arrays, settings: dict[str, Any]) -> Int32:
    """`part` in another process."""
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "given"), Path(folder, "found")
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, given)
        program = "from largeea.structure.partition.metis_process import main; main()"
        command = [sys.executable, "-c", program, str(given), str(found), json.dumps(settings)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        parts: Int32 = load_file(found)["part"]
        return parts


def main() -> None:
    """Read what `part_alone` has written, and write the parts."""
    given, found, settings = sys.argv[1:]
    save_file({"part": part(load_file(given), json.loads(settings))}, found)
