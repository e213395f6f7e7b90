"""Structure models turn the triples of a mini-batch into vectors in which equivalent entities are near.

>>> embeddings = load_model("rrea").fit(batch, StructureConfig(epochs=50), seed=0)
"""

from __future__ import annotations

from typing import Protocol

from largeea.config import StructureConfig
from largeea.plugins import Registry
from largeea.structure.batch import Batch, Embeddings

__all__ = ["MODELS", "Batch", "Embeddings", "Model", "StructureConfig", "load_model"]

MODELS = Registry(
    "structure model",
    "largeea.models",
    {
        "gcn-align": "largeea.structure.models.gcn_align:GCNAlign",
        "propagation": "largeea.structure.models.propagation:Propagation",
        "rrea": "largeea.structure.models.rrea:RREA",
    },
    extra="structure",
)
"""Every structure model by name; a member is a class whose call without arguments makes a `Model`."""


class Model(Protocol):
    """Learns from one mini-batch at a time; batches are independent of each other."""

    def fit(self, batch: Batch, settings: StructureConfig, seed: int) -> Embeddings:
        """Vectors of the batch's entities; the nearer two vectors are, the likelier is a match.

        The batch has at least one seed. An entity about which nothing is known has the zero vector. Settings
        that are 0 or "auto" are the model's own choice. All randomness comes from `seed`.
        """


def load_model(name: str) -> Model:
    """The structure model of that name."""
    model: Model = MODELS.load(name)()
    return model
