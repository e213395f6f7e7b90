"""The run folder: every stage's result, the manifest, and the files a user takes away."""

from largeea.runs.folder import Run

__all__ = ["Run"]
