"""All randomness comes from one root seed; every stage has a child of its own, by its name."""

from __future__ import annotations

import hashlib

import numpy as np


def child_seed(root: int, stage: str) -> int:
    """A 63-bit seed for a stage, independent of which other stages run."""
    digest = hashlib.sha256(f"{root}/{stage}".encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def generator(root: int, stage: str) -> np.random.Generator:
    """A random generator for a stage."""
    return np.random.default_rng(child_seed(root, stage))
