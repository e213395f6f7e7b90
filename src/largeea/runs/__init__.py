"""The run folder: the result of every stage, the manifest, and the result files for the user."""

from largeea.runs.folder import Run

__all__ = ["Run"]
