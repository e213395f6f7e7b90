"""Attack the program in every way that is known, and print what was tried how often, and what fell.

    python -m benchmarks.attack                       the quick form, under 30 minutes
    python -m benchmarks.attack --long                everything, for hours
    python -m benchmarks.attack --only kills --only texts --most 5

An attack may end in the right answer or a clear error. A traceback, a hang, a wrong answer, a lost result or
growth beyond the input's is a fall; the exit code is 1 then. Ctrl-C ends it with what was tried so far.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from importlib import import_module
from pathlib import Path

from benchmarks.attack.workshop import Workshop

CAMPAIGNS = (
    *("kills", "faults", "artifacts", "files", "downloads", "texts"),
    *("graphs", "locks", "settings", "usage", "web", "cluster"),
)
QUICK = 12


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", action="append", choices=CAMPAIGNS, help="repeatable")
    parser.add_argument(
        "--most", type=int, default=QUICK, help="attempts of each kind (default: %(default)s)"
    )
    parser.add_argument("--long", action="store_true", help="every attempt, and larger graphs")
    wanted = parser.parse_args()
    print(f"{'campaign':10} {'what':52} {'tried':>6} {'fell':>5}", flush=True)
    tried, fallen = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="attack") as place:
        workshop = Workshop(Path(place).resolve())
        for name in wanted.only or CAMPAIGNS:
            began, whats = time.monotonic(), dict[str, None]()
            attempts = import_module(f"benchmarks.attack.{name}").attempts
            interrupted = False
            try:
                for what, wrong in attempts(workshop, None if wanted.long else wanted.most):
                    whats[what] = None
                    tried[what] += 1
                    if wrong:
                        fallen[what] += 1
                        print(f"FELL  {what}: {wrong}", flush=True)
            except KeyboardInterrupt:
                interrupted = True
            for what in whats:
                print(f"{name:10} {what:52} {tried[what]:6} {fallen[what]:5}", flush=True)
            seconds = time.monotonic() - began
            print(f"{name:10} {seconds:.0f} s{', interrupted' if interrupted else ''}", flush=True)
            if interrupted:
                break
    print(f"{'all':63} {tried.total():6} {fallen.total():5}")
    return int(fallen.total() > 0)


if __name__ == "__main__":
    sys.exit(main())
