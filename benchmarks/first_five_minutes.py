"""What a newcomer waits for: seconds from the clone to the report, and what the core takes on disk.

python benchmarks/first_five_minutes.py [--repository PATH] [--json]

Everything happens in a new folder with an empty home, so that no cache of pip, numba or anything else helps.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARKS = "examples/places/park_service.csv examples/places/travel_guide.csv"
STEPS = {
    "clone": "git clone --quiet {repository} largeea",
    "make install-core": "cd largeea && make --silent install-core",
    "make demo, which compiles": "cd largeea && make --silent demo",
    "largeea align, two tables": f"cd largeea && {{largeea}} -q align {PARKS} -o parks",
    "largeea report": "cd largeea && {largeea} -q report parks",
    "make demo again": "cd largeea && make --silent demo",
}
SIZES = """
import importlib.metadata as m, json, re
sizes, needed_by = {}, {}
for found in m.distributions():
    name = found.metadata["Name"]
    sizes[name] = sum(f.locate().stat().st_size for f in found.files or () if f.locate().is_file())
    for line in found.requires or ():
        if "extra ==" not in line:
            needed_by.setdefault(re.match(r"[\\w.-]+", line)[0].lower(), []).append(name)
print(json.dumps([(n, s, needed_by.get(n.lower(), [])) for n, s in sizes.items()]))
"""


def measure(repository: Path) -> dict[str, object]:
    """Go through all steps; return the seconds of each, and the bytes of each installed package."""
    with tempfile.TemporaryDirectory(prefix="newcomer-") as folder:
        home = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL"))}
        home |= {"HOME": folder, "PIP_NO_CACHE_DIR": "1", "NUMBA_CACHE_DIR": ""}
        seconds = {}
        for step, command in STEPS.items():
            line = command.format(repository=repository, largeea=".venv/bin/largeea")
            started = time.monotonic()
            subprocess.run(line, shell=True, cwd=folder, env=home, stdout=subprocess.DEVNULL, check=True)
            seconds[step] = round(time.monotonic() - started, 1)
        python = Path(folder) / "largeea" / ".venv" / "bin" / "python"
        sizes = json.loads(subprocess.run([python, "-c", SIZES], capture_output=True, check=True).stdout)
    return {"seconds": seconds, "packages": sorted(sizes, key=lambda size: -size[1])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repository", type=Path, default=ROOT, help="what to clone")
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args()
    figures = measure(chosen.repository)
    if chosen.json:
        print(json.dumps(figures, indent=1))
        return
    print("| step | seconds |\n|---|---|")
    for step, seconds in figures["seconds"].items():
        print(f"| {step} | {seconds} |")
    print("\n| package | MB | needed by |\n|---|---|---|")
    for name, size, needed_by in figures["packages"]:
        if size >= 500_000:
            print(f"| {name} | {size / 1e6:.0f} | {', '.join(sorted(needed_by))} |")
    print(f"| all | {sum(size for _, size, _ in figures['packages']) / 1e6:.0f} | |")


if __name__ == "__main__":
    main()
