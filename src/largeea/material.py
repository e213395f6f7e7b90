"""What evidence is computed from, as calls of stages: edges, names, literals, and what joins the graphs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from largeea.config import Config, NamesConfig
from largeea.corrections import NO_CORRECTIONS, Corrections
from largeea.evidence import (
    agreeing_pairs,
    attribute_values,
    choose_anchors,
    evidence_edges,
    learn_agreement,
    neighbour_evidence,
    propose_by_values,
    without_seeds,
)
from largeea.execution.stages import Handle, Stages
from largeea.graph import Arrays, KnowledgeGraph, Links
from largeea.matching.cardinality import Cardinality
from largeea.matching.forbidden import without_pairs
from largeea.names.learnt import learn_translations
from largeea.names.units import name_units
from largeea.randomness import child_seed
from largeea.similarity import Similarity

Matrix = Handle[Similarity]
Channels = dict[str, Matrix]


@dataclass(frozen=True)
class NameParts:
    """What names are compared by, to compare those of other pairs."""

    rows: Handle[Arrays]
    ngrams: Handle[Arrays]
    vectors: Handle[Any] | None
    how: NamesConfig


@dataclass(frozen=True)
class Joined:
    """What joins the two graphs in a round: anchors, and which relations say the same."""

    anchors: Handle[Links]
    agreement: Handle[Similarity]


@dataclass(frozen=True)
class Material:
    """What evidence is drawn from in every round."""

    stage: Stages
    config: Config
    kinds: Handle[Arrays]
    edges: Handle[dict[str, Any]]
    known: Handle[Links]
    """Seeds and pairs with equal IRIs: anchors of every round, not to be found."""
    apart: Handle[Links]
    """Those known pairs whose entities have no scores at all."""
    corrections: Corrections
    names: Matrix | None
    compared: NameParts | None
    units: Handle[Arrays] | None
    """Parts of names, whose translations are learnt from anchors."""
    values: Handle[dict[str, Any]] | None
    proposed: Matrix | None
    """Candidates by rare literal values."""
    structured: bool
    """Whether both graphs have at least as many triples as entities."""
    sketches: int
    """That score candidates."""
    cardinality: Cardinality = Cardinality.ONE_TO_ONE
    itself: Handle[Links] | None = None
    """Every entity with itself, where a graph is compared with itself. These pairs join the two graphs that
    evidence is drawn from, and are never candidates."""

    @property
    def random(self) -> int:
        """Seed of the randomness of the first round."""
        return child_seed(self.config.seed, "evidence")

    def of_others(self, name: str, found: Matrix) -> Matrix:
        """What was found without pairs of an entity and itself."""
        return found if self.itself is None else self.stage(name, without_pairs, found, self.itself)

    def with_apart(self, apart: Handle[Links], trial: str = "") -> Material:
        """The same without the scores of entities in these known pairs."""
        if not len(apart.value):
            return replace(self, apart=apart)
        names, proposed = (
            found and self.stage(f"{trial}{name}-without-seeds", without_seeds, found, apart)
            for name, found in (("names", self.names), ("values", self.proposed))
        )
        return replace(self, apart=apart, names=names, proposed=proposed)

    def joined(self, anchors: Handle[Links], trial: str = "") -> Joined:
        """What joins the two graphs: the anchors or, where they are the same graph, its own entities."""
        joining = self.itself or anchors
        return Joined(joining, self.stage(f"{trial}agreement", learn_agreement, self.edges, joining))

    def neighbours(self, joined: Joined, trial: str = "") -> Matrix:
        """What shared neighbours say about pairs, as the graphs are joined."""
        found = self.stage(
            f"{trial}neighbours", neighbour_evidence, self.edges, joined.anchors, joined.agreement,
            self.kinds, self.apart, self.config.evidence.top_k,
        )  # fmt: skip
        return self.of_others(f"{trial}neighbours-of-others", found)

    def translations(self, anchors: Handle[Links], trial: str = "") -> Handle[Arrays] | None:
        """What the names of anchors teach about names."""
        if self.units is None:
            return None
        return self.stage(f"{trial}translations", learn_translations, self.units, anchors, self.random)

    def choose(self, matched: Matrix | None, number: int) -> Handle[Links]:
        """The anchors of a round: what matching is sure of or, within one graph, what names and shared
        neighbours agree on, where there are any."""
        if self.itself is not None and self.names is not None:
            near = self.neighbours(self.joined(self.itself))
            if len(near.value):
                return self.stage(f"anchors-{number}", agreeing_pairs, self.names, near, self.known)
        margin, cardinality = self.config.evidence.margin, self.cardinality.of_anchors
        return self.stage(f"anchors-{number}", choose_anchors, matched, self.known, margin, cardinality)

    @property
    def start(self) -> Channels:
        """What the first anchors are chosen by: names, or literal values where there are no names."""
        if self.names is not None:
            return {"name": self.names}
        return {} if self.proposed is None else {"literals": self.proposed}


def gather(
    stage: Stages,
    source: Handle[KnowledgeGraph],
    target: Handle[KnowledgeGraph],
    kinds: Handle[Arrays],
    known: Handle[Links],
    names: Matrix | None,
    compared: NameParts | None,
    config: Config,
    corrections: Corrections = NO_CORRECTIONS,
    cardinality: Cardinality = Cardinality.ONE_TO_ONE,
    foreign: bool = False,
) -> Material:
    """What evidence is drawn from: edges, names and, where both graphs have any, literals.

    Translations are learnt where one graph has names in a script that is `foreign` to the other. In the pairs
    of one script that were measured, they told too little to count.
    """
    how = config.evidence
    edges = stage("edges", evidence_edges, source, target, how.literals)
    values = proposed = None
    if how.literals and how.literal_weight and all(len(graph.value.attributes) for graph in (source, target)):
        values = stage("attribute-values", attribute_values, source, target)
        proposed = stage("by-values", propose_by_values, values, kinds, how.top_k)
    structured = all(len(graph.value.triples) >= graph.value.size for graph in (source, target))
    sketches = how.sketches_for(source.value.size + target.value.size)
    itself = stage("itself", identity, source) if cardinality is Cardinality.WITHIN else None
    units = None
    if how.learnt_weight and foreign and compared is not None and itself is None:
        units = stage("name-units", name_units, compared.rows)
    drawn_from = names, compared, units, values, proposed
    material = Material(
        stage, config, kinds, edges, known, known, corrections, *drawn_from, structured, sketches,
        cardinality, itself,
    )  # fmt: skip
    names, proposed = (
        found and material.of_others(f"{name}-of-others", found)
        for name, found in (("equal-names", names), ("values", proposed))
    )
    return replace(material, names=names, proposed=proposed)


def identity(graph: KnowledgeGraph) -> Links:
    """Every entity with itself."""
    return Links(np.repeat(np.arange(graph.size, dtype=np.int32), 2).reshape(-1, 2))


def not_known(material: Material, channels: Channels) -> Channels:
    """Channels without forbidden pairs and without the entities of known pairs: what is left to be found."""
    known, allowed = material.known, material.corrections.allowed(material.stage, channels)
    if not len(known.value):
        return allowed
    return {
        kind: material.stage(f"{kind}-not-known", without_seeds, channel, known, material.cardinality)
        for kind, channel in allowed.items()
    }
