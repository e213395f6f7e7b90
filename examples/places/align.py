"""Two CSV files of American national parks: a list of the park service and the index of a travel guide.

Headers, separators, units and names differ ("Mount Rainier National Park", "Mt. Rainier"), and each list has
parks that the other lacks. States and years are written differently, too: "Alaska" and "AK", "1980-12-02" and
"1980".

python examples/places/align.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import largeea
from largeea.formats.links import resolve

HERE = Path(__file__).resolve().parent


def main() -> dict[str, Any]:
    """Align both tables, list what has no counterpart, and return how good the links are."""
    done = largeea.align_files(HERE / "park_service.csv", HERE / "travel_guide.csv", "parks", overwrite=True)
    alignment = done.alignment
    print(alignment)
    for status in ("accepted", "doubtful"):
        rows = [row for row in alignment.to_table().to_pylist() if row["status"] == status]
        for row in rows[-5:]:
            print(f"{status} {row['confidence']:.2f}  {row['source_name']} = {row['target_name']}")
    names = dict(zip(alignment.target.entities.to_pylist(), alignment.target.names.to_pylist(), strict=True))
    print("only in the guide:", ", ".join(names[page] for page in alignment.unmatched_target.to_pylist()))
    truth = resolve(largeea.read_links(HERE / "true_links.tsv"), alignment.source, alignment.target)
    figures = largeea.evaluate(alignment, truth)
    print({name: round(figures["alignment"][name], 3) for name in ("precision", "recall", "f1")})
    return figures


if __name__ == "__main__":
    main()
