"""Two OWL ontologies of bicycle parts: a British shop's and an American workshop's.

The shop says "tyre", "mudguard" and "brake block", the workshop "tire", "fender" and "brake pad". Both say
which part belongs to which, in class expressions of OWL.

python examples/ontologies/align.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import largeea
from largeea.explain import explain, find_entity
from largeea.finished import FinishedRun
from largeea.formats.links import resolve

HERE = Path(__file__).resolve().parent


def main() -> dict[str, Any]:
    """Align both ontologies into the folder `bicycles`, explain a pair, and return how good all are."""
    done = largeea.align_files(HERE / "shop.ttl", HERE / "repair.ttl", "bicycles", overwrite=True)
    print(done.alignment)
    run = FinishedRun(done.folder)
    explanation = explain(run, *find_entity(run.alignment, "tyre"))
    print("tyre:", explanation.status, explanation.counterpart and explanation.counterpart.entity.name)
    for witness in explanation.witnesses[:3]:
        print("  because of", witness.source_neighbour.name, "=", witness.target_neighbour.name)
    truth = resolve(largeea.read_links(HERE / "true_links.tsv"), run.source, run.target)
    figures = largeea.evaluate(run.alignment, truth)
    print({name: round(figures["alignment"][name], 3) for name in ("precision", "recall", "f1")})
    return figures


if __name__ == "__main__":
    main()
