"""Two thesauri of musical instruments: a museum's and a library's.

The library calls the cor anglais "English horn" and the snare drum "Side drum". Synonyms, French labels and
the instruments around them link what main names do not.

python examples/thesauri/align.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import largeea
from largeea.formats.links import resolve

HERE = Path(__file__).resolve().parent


def main() -> dict[str, Any]:
    """Align both thesauri, show what is worth a look, write the links, and return how good they are."""
    alignment = largeea.align(HERE / "museum.ttl", HERE / "library.ttl")
    for row in alignment.to_table().to_pylist():
        names = row["source_name"], row["target_name"]
        if names[0].lower() != names[1].lower():
            print(f"{row['status']:9} {row['confidence']:.2f}  {names[0]} = {names[1]}")
    largeea.write(alignment, "instruments.sssom.tsv")
    truth = resolve(largeea.read_links(HERE / "true_links.tsv"), alignment.source, alignment.target)
    figures = largeea.evaluate(alignment, truth)
    print({name: round(figures["alignment"][name], 3) for name in ("precision", "recall", "f1")})
    return figures


if __name__ == "__main__":
    main()
