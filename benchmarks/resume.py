"""Time to resume a run that was stopped before its last stage, compared with the time of the whole run.

    python benchmarks/resume.py ../shared/data/dbp15k_fr_en
    python benchmarks/resume.py ../shared/data/dbp15k_fr_en --repeat 5 -- --set names.top_k=20

Options after `--` are passed to `largeea align`. Every run is a separate process, measured from the start of
the interpreter to its end, with all compiled code cached. The median of several runs is reported.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from largeea.errors import ResourceError
from largeea.runs.manifest import MANIFEST

PROGRAM = "from largeea.cli import main; main()"
STOPPED = f"""
from largeea.matching import decision
def stop(*_):
    raise MemoryError
decision.decide = stop
{PROGRAM}
"""


def seconds(program: str, *arguments: str | Path, code: int = 0) -> float:
    """Wall time of the command, which must end with this exit code."""
    started = time.perf_counter()
    command = [sys.executable, "-c", program, *map(str, arguments), "--quiet"]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != code:
        raise SystemExit(f"{' '.join(command[3:])} ended with {done.returncode}\n{done.stderr}")
    return time.perf_counter() - started


def content(folder: Path) -> dict[str, bytes]:
    """Contents of all files except the manifest, which contains timestamps."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("pair", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("options", nargs="*", help="for largeea align, after --")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        begun, resumed, whole = (Path(place, name) for name in ("begun", "resumed", "whole"))
        stopped = seconds(
            STOPPED, "align", wanted.pair, "-o", begun, *wanted.options, code=ResourceError.exit_code
        )
        print(f"stopped before the last stage after {stopped:.1f} s")
        took = []
        for _ in range(wanted.repeat + 1):
            shutil.rmtree(resumed, ignore_errors=True)
            shutil.copytree(begun, resumed)
            took.append(seconds(PROGRAM, "resume", resumed))
        full = []
        for _ in range(wanted.repeat):
            shutil.rmtree(whole, ignore_errors=True)
            full.append(seconds(PROGRAM, "align", wanted.pair, "-o", whole, *wanted.options))
        same = content(resumed) == content(whole)
    resume, run = median(took[1:]), median(full)
    print(f"a whole run takes {run:.1f} s, a resume {resume:.2f} s: {resume / run:.1%}")
    print(f"both end with {'the same' if same else 'DIFFERENT'} bytes")
    sys.exit(not same)


if __name__ == "__main__":
    main()
