"""One graph from both graphs of a finished run, joined by its accepted links."""

from largeea.merging.entities import Canonical
from largeea.merging.merge import Merged, Provenance, merge_run

__all__ = ["Canonical", "Merged", "Provenance", "merge_run"]
