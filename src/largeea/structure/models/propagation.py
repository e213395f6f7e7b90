"""Propagation: labels of seeds spread along the triples; nothing is trained, and no torch is needed.

An entity's vector is a random sketch of what it sees: its relations times what its neighbours know of the
seeds (`largeea.evidence.propagation`, after LightEA, Mao et al., EMNLP 2022).
"""

from __future__ import annotations

from largeea.errors import UsageError
from largeea.evidence.agreement import relation_agreement
from largeea.evidence.anchors import Anchors
from largeea.evidence.edges import Edges
from largeea.evidence.propagation import PIECE, Sketches
from largeea.graph import Int32
from largeea.structure.batch import Batch
from largeea.structure.models.options import Embeddings, TrainingOptions

DIMENSION = 2048
"""D where the options leave it open; more is more accurate, and takes memory in proportion."""


class Propagation:
    """Vectors of D numbers and of length 1; zero where an entity has no triples.

    Of the options, `dimension` (rounded up to whole pieces of a sketch) and `seed` apply; all
    others are about training and devices. A seed's weight is the trust in it when relations are compared.
    """

    def fit(self, batch: Batch, options: TrainingOptions) -> Embeddings:
        """Spread the seeds of one batch."""
        if not len(batch.seeds):
            raise UsageError(
                "propagation spreads seeds, and there are none: give some, or let data augmentation (DA) "
                "make them from names"
            )
        local = batch.local()
        source = _edges(local.source_triples, len(local.source))
        target = _edges(local.target_triples, len(local.target))
        anchors = Anchors.of(local.seeds, source.nodes, target.nodes)
        agreement = relation_agreement(source, target, anchors)
        sketches = Sketches(source, target, anchors, agreement, seed=options.seed)
        pieces = -(-(options.dimension or DIMENSION) // PIECE)
        return Embeddings(*sketches.vectors(pieces))


def _edges(triples: Int32, entities: int) -> Edges:
    """Relations keep the ids of their graph; those of other batches have no edges here."""
    return Edges.of(triples, entities, int(triples[:, 1].max(initial=0)) + 1)
