"""Structure models: from the triples of a mini-batch to vectors in which equivalent entities are near.

>>> embeddings = load_model("rrea").fit(batch, TrainingOptions(epochs=50))
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Protocol

from largeea.errors import UsageError
from largeea.structure.batch import Batch
from largeea.structure.models.options import Embeddings, TrainingOptions

__all__ = ["GROUP", "Embeddings", "Model", "TrainingOptions", "find_model", "load_model", "models"]

GROUP = "largeea.models"
"""Entry-point group for models of other packages; an entry point names a class that makes a `Model`."""

_BUILT_IN = (
    EntryPoint("gcn-align", "largeea.structure.models.gcn_align:GCNAlign", GROUP),
    EntryPoint("propagation", "largeea.structure.models.propagation:Propagation", GROUP),
    EntryPoint("rrea", "largeea.structure.models.rrea:RREA", GROUP),
)


class Model(Protocol):
    """Learns from one mini-batch at a time; batches are independent of each other."""

    def fit(self, batch: Batch, options: TrainingOptions) -> Embeddings:
        """Vectors of the batch's entities, in its order; the nearer two are, the likelier they are the same.

        An entity of which nothing is known may have the zero vector. The batch has seeds. The same batch and
        options give the same vectors on the same machine.
        """


def models() -> dict[str, EntryPoint]:
    """Every model by name; loading one imports what it needs, not before."""
    return {point.name: point for point in (*entry_points(group=GROUP), *_BUILT_IN)}


def find_model(name: str) -> EntryPoint:
    """Where the model of that name comes from."""
    known = models()
    if name not in known:
        raise UsageError(f"unknown structure model {name!r}; there are: {', '.join(sorted(known))}")
    return known[name]


def load_model(name: str) -> Model:
    """The model of that name, ready to fit."""
    try:
        model: Model = find_model(name).load()()
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the structure model {name!r} needs the Python package {error.name!r}, which is not installed: "
            "pip install 'largeea[structure]'"
        ) from error
    return model
