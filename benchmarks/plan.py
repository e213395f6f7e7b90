"""Compare the plan of a run with its actual use: peak memory of each stage, and of the whole process.

    python benchmarks/plan.py ../shared/data/dbp15k_fr_en --memory 2GB
    largeea synth --like dbp1m-en-fr --scale 0.25 -o twin
    python benchmarks/plan.py twin --memory 6GB -- --set evidence.rounds=2

Options after `--` are passed to `largeea align`. Exit code 1 if the process used more than the limit, or if
the plan of a stage is off by more than 30 %.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from largeea.execution.settings import parse_size

TOLERANCE = 0.3


def align(folder: Path, memory: str, run: Path, options: list[str]) -> None:
    """Align in a separate process."""
    command = [
        sys.executable,
        "-m",
        "largeea",
        "align",
        str(folder),
        "-o",
        str(run),
        "--memory",
        memory,
        *options,
    ]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise SystemExit(f"largeea align ended with {done.returncode}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--memory", default="20GB")
    parser.add_argument("--keep", type=Path, help="keep the run in this folder")
    given = sys.argv[1:]
    end = given.index("--") if "--" in given else len(given)
    wanted, options = parser.parse_args(given[:end]), given[end + 1 :]
    with tempfile.TemporaryDirectory() as place:
        run = wanted.keep or Path(place, "run")
        align(wanted.folder, wanted.memory, run, options)
        manifest = json.loads((run / "manifest.json").read_text())
    plan = {need["stage"]: need for need in manifest["plan"]["needs"]}
    worst = 0.0
    print("stage           planned MB  measured MB  ratio  planned s  measured s")
    for name, need in plan.items():
        timings = manifest["timings"].get(name, {}).values()
        if not timings:
            continue
        host = max(one["memory_mb"]["host"] for one in timings) * 2**20 / 1e6
        ratio = need["host"] / 1e6 / host
        worst = max(worst, abs(ratio - 1))
        seconds = sum(one["seconds"] for one in timings)
        planned = f"{need['host'] / 1e6:11,.0f} {host:12,.0f} {ratio:6.2f}"
        print(f"{name:14} {planned} {need['seconds']:10.1f} {seconds:11.1f}")
    limit = parse_size(wanted.memory)
    peak_bytes = manifest["peak_memory_mb"] * 2**20
    figures = peak_bytes, manifest["plan"]["peak"], limit
    print(
        "peak of the process {:,.0f} MB, planned {:,.0f}, limit {:,.0f}".format(*(x / 1e6 for x in figures))
    )
    for adjustment in manifest["plan"]["adjustments"]:
        print(f"adjusted: {adjustment}")
    print(f"the plan is off by at most {worst:.0%}")
    sys.exit(peak_bytes > limit or worst > TOLERANCE)


if __name__ == "__main__":
    main()
