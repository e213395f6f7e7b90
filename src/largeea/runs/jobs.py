"""Finished jobs of a running stage: one file each, with the SHA-256 of the content in its name.

The files are not flushed to disk one by one. A file damaged by a power cut does not match the hash in its
name, and its job is computed again.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from pathlib import Path

from largeea.errors import InputError
from largeea.graph import Arrays
from largeea.runs.artifacts import load_artifact, save_artifact
from largeea.runs.files import explaining

FOLDER = "jobs"


class JobFolder:
    """Stores the results of one stage's jobs, in a folder for each stage.

    Nothing is stored in the first `after` seconds.
    """

    def __init__(self, run: Path, key: str, after: float = 0.0) -> None:
        self._folder = run / FOLDER / key[:16]
        self._begins = time.monotonic() + after

    def load(self, job: str) -> Arrays | None:
        """Load the stored result of a job; None if it is missing or damaged."""
        for path in self._folder.glob(f"{_label(job)}.*.safetensors"):
            try:
                result: Arrays = load_artifact(path, path.name.split(".")[1])
                return result
            except InputError:
                path.unlink(missing_ok=True)
        return None

    def save(self, job: str, result: Arrays) -> None:
        """Store the result of a job, if the stage has run for long enough."""
        if time.monotonic() < self._begins:
            return
        place = self._folder / f"{_label(job)}.new"
        sha256 = save_artifact(result, place, durable=False)
        with explaining(place):
            place.rename(place.with_name(f"{_label(job)}.{sha256}.safetensors"))


def remove_jobs(run: Path, key: str | None = None) -> None:
    """Remove the stored jobs of one stage, or of all stages, once the stage itself is stored."""
    shutil.rmtree(run / FOLDER / (key[:16] if key else ""), ignore_errors=True)


def _label(job: str) -> str:
    return (
        job if job.replace("-", "").replace("_", "").isalnum() else hashlib.sha256(job.encode()).hexdigest()
    )
