"""One graph from both graphs of a finished run, joined by its accepted links."""

from largeea.merging.merge import Canonical, Merged, Provenance, merge_run

__all__ = ["Canonical", "Merged", "Provenance", "merge_run"]
