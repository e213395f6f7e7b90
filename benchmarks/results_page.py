"""Generate `docs/results.md` and the pages it links to from the folders written by `largeea experiment`.

python benchmarks/results_page.py [FOLDERS]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from largeea.experiments.summary import write_summary

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="?", default=RESULTS, help="folder of folders of results")
    print(write_summary(parser.parse_args().folders))


if __name__ == "__main__":
    main()
