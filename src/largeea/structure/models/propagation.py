"""Label propagation from seeds along triples, without training and without torch.

An entity's vector is a random sketch of its relations times the propagated labels of its neighbours
(`largeea.evidence.propagation`, after LightEA, Mao et al., EMNLP 2022).
"""

from __future__ import annotations

from largeea.config import StructureConfig
from largeea.errors import UsageError
from largeea.evidence.agreement import relation_agreement
from largeea.evidence.anchors import Anchors
from largeea.evidence.labels import LabelledGraphs
from largeea.evidence.sketches import Sketches, sketch_dimension
from largeea.graph import Int32
from largeea.graph.edges import Edges
from largeea.structure.batch import Batch, Embeddings

DIMENSION = 2048
"""D if the settings leave it open; a larger one is more accurate and takes memory in proportion."""


class Propagation:
    """Unit vectors of D numbers; an entity without triples has the zero vector.

    Of the settings, only `dimension` is used, rounded up to whole sketches. The weight of a seed counts when
    relations are compared.
    """

    def fit(self, batch: Batch, settings: StructureConfig, seed: int) -> Embeddings:
        """Propagate the seeds of one batch."""
        if not len(batch.seeds):
            raise UsageError(
                "label propagation needs seeds, and there are none: give some, or let data augmentation (DA) "
                "make them from names"
            )
        local = batch.local()
        source = _edges(local.source_triples, len(local.source))
        target = _edges(local.target_triples, len(local.target))
        anchors = Anchors.of(local.seeds, source.nodes, target.nodes)
        agreement = relation_agreement(source, target, anchors)
        sketches = Sketches(LabelledGraphs.of(source, target, anchors, agreement, seed=seed))
        count = -(-(settings.dimension or DIMENSION) // sketch_dimension())
        return Embeddings(*sketches.vectors(count))


def _edges(triples: Int32, entities: int) -> Edges:
    """Relations keep the ids of their graph; those without a triple in this batch have no edges."""
    return Edges.of(triples, entities, int(triples[:, 1].max(initial=0)) + 1)
