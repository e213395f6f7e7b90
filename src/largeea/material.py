"""What evidence is drawn from, and the evidence of one round, as calls of stages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from largeea.config import Config, NamesConfig
from largeea.corrections import NO_CORRECTIONS, Corrections
from largeea.evidence import (
    attribute_values,
    evidence_edges,
    find_candidates,
    learn_agreement,
    literal_support,
    neighbour_evidence,
    neighbours_by_rows,
    propose_by_values,
    surroundings_evidence,
    without_seeds,
)
from largeea.execution.settings import current
from largeea.execution.stages import Handle, Stages
from largeea.graph import Arrays, KnowledgeGraph, Links
from largeea.names.nearby import NEARBY, NearbyNames, sources_at_once
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
    values: Handle[dict[str, Any]] | None
    proposed: Matrix | None
    """Candidates by rare literal values."""
    structured: bool
    """Whether both graphs have at least as many triples as entities."""
    sketches: int
    """That score candidates."""

    @property
    def random(self) -> int:
        """Seed of the randomness of the first round."""
        return child_seed(self.config.seed, "evidence")

    def with_apart(self, apart: Handle[Links], trial: str = "") -> Material:
        """The same without the scores of entities in these known pairs."""
        if not len(apart.value):
            return replace(self, apart=apart)
        names, proposed = (
            found and self.stage(f"{trial}{name}-without-seeds", without_seeds, found, apart)
            for name, found in (("names", self.names), ("values", self.proposed))
        )
        return replace(self, apart=apart, names=names, proposed=proposed)

    def names_with(self, joined: Joined | None, trial: str = "") -> Matrix | None:
        """The name channel with the names of targets that share a neighbour, as the graphs are joined."""
        compared, how = self.compared, self.config.evidence
        if self.names is None or compared is None or joined is None:
            return self.names
        ngram_weight = 0.0 if compared.vectors is None else compared.how.ngram_weight
        return self.stage(
            f"{trial}names-nearby", names_nearby, self.names, compared.rows, compared.ngrams,
            compared.vectors, self.edges, joined.anchors, joined.agreement, self.kinds, self.apart,
            NEARBY * how.top_k, how.nearby_names, compared.how.discount_brackets, ngram_weight,
            compared.how.string_weight,
        )  # fmt: skip

    @property
    def start(self) -> Channels:
        """What the first anchors are chosen by: names, or literal values where there are no names."""
        if self.names is not None:
            return {"name": self.names}
        return {} if self.proposed is None else {"literals": self.proposed}


@dataclass(frozen=True)
class Evidence:
    """What one round finds, given its anchors."""

    agreement: Handle[Similarity]
    names: Matrix | None
    """The name channel, with the names of nearby targets."""
    channels: Channels
    """What neighbours, surroundings and literals say."""
    candidates: list[Matrix]
    retrieved: tuple[Matrix, ...]
    """Those candidates that were found by similar surroundings, for later rounds too."""
    nearby: Joined | None
    """How the graphs were joined when the names of nearby targets were compared."""

    @property
    def with_names(self) -> Channels:
        """All channels."""
        return self.channels if self.names is None else {"name": self.names} | self.channels


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
) -> Material:
    """What evidence is drawn from: edges, names and, where both graphs have any, literals."""
    how = config.evidence
    edges = stage("edges", evidence_edges, source, target, how.literals)
    values = proposed = None
    if how.literals and how.literal_weight and all(len(graph.value.attributes) for graph in (source, target)):
        values = stage("attribute-values", attribute_values, source, target)
        proposed = stage("by-values", propose_by_values, values, kinds, how.top_k)
    structured = all(len(graph.value.triples) >= graph.value.size for graph in (source, target))
    sketches = how.sketches_for(source.value.size + target.value.size)
    drawn_from = names, compared, values, proposed
    return Material(stage, config, kinds, edges, known, known, corrections, *drawn_from, structured, sketches)


def not_known(material: Material, channels: Channels) -> Channels:
    """Channels without forbidden pairs and without the entities of known pairs: what is left to be found."""
    known, allowed = material.known, material.corrections.allowed(material.stage, channels)
    if not len(known.value):
        return allowed
    return {
        kind: material.stage(f"{kind}-not-known", without_seeds, channel, known)
        for kind, channel in allowed.items()
    }


def evidence_of(
    material: Material,
    anchors: Handle[Links],
    number: int,
    last: Evidence | None,
    searching: bool,
) -> Evidence:
    """What neighbours, surroundings, literals and the names of nearby targets say, given the anchors.

    Candidates are those of neighbours, names and literal values. When `searching`, there are new ones: those
    with the most similar surroundings, and those with the most similar names among all that share a
    neighbour. Else what the last round found serves again.
    """
    stage, how, edges = material.stage, material.config.evidence, material.edges
    agreement = stage("agreement", learn_agreement, edges, anchors)
    joined = Joined(anchors, agreement)
    nearby, retrieved = (None, ()) if last is None else (last.nearby, last.retrieved)
    if searching and how.nearby_names:
        nearby = joined
    if searching and how.candidates_per_round:
        near = None if material.names is None else _neighbours(material, joined)
        found = stage(
            "candidates", find_candidates, edges, anchors, agreement, material.kinds, near,
            how.candidates_per_round, how.retrieval_sketches, how.label_width, material.random + number,
        )  # fmt: skip
        retrieved = (found,)
    return compare(material, joined, number, retrieved, nearby)


def _neighbours(material: Material, joined: Joined, trial: str = "") -> Matrix:
    """What shared neighbours say."""
    return material.stage(
        f"{trial}neighbours", neighbour_evidence, material.edges, joined.anchors, joined.agreement,
        material.kinds, material.apart, material.config.evidence.top_k,
    )  # fmt: skip


def compare(
    material: Material,
    joined: Joined,
    number: int,
    retrieved: tuple[Matrix, ...],
    nearby: Joined | None,
    trial: str = "",
) -> Evidence:
    """The evidence about all candidates, with the ones retrieved and the nearby ones."""
    stage, how, edges = material.stage, material.config.evidence, material.edges
    anchors, agreement = joined.anchors, joined.agreement
    near = _neighbours(material, joined, trial)
    names = material.names_with(nearby)
    candidates = [near, *retrieved, *filter(None, (names, material.proposed))]
    surroundings = stage(
        f"{trial}surroundings", surroundings_evidence, edges, anchors, agreement, candidates, how.top_k,
        material.sketches, how.label_width, material.random + number,
    )  # fmt: skip
    channels = {"neighbours": near, "surroundings": surroundings}
    if material.values is not None:
        channels["literals"] = stage(
            f"{trial}literals", literal_support, material.values, anchors, candidates, how.top_k,
            material.random + number,
        )  # fmt: skip
    return Evidence(agreement, names, channels, candidates, retrieved, nearby)


def names_nearby(
    names: Similarity,
    rows: Arrays,
    ngrams: Arrays,
    vectors: Arrays | None,
    edges: dict[str, Any],
    anchors: Links,
    agreement: Similarity,
    kinds: Arrays,
    apart: Links,
    nearby: int,
    per_source: int,
    *how: Any,
) -> Similarity:
    """The name channel with the best names among the `nearby` targets that share neighbours with a source.

    One stage, so that the matrix of all these pairs need not be stored; some sources at a time, so that it
    need not be in memory.
    """
    comparing, sources = NearbyNames(rows, ngrams, vectors, *how), names.shape[0]
    neighbours = neighbours_by_rows(edges, anchors, agreement, kinds, apart, nearby)
    at_once = sources_at_once(nearby, current().memory_bytes)
    found = Similarity.empty(names.shape)
    for first in range(0, sources, at_once):
        joined = neighbours(first, min(first + at_once, sources))
        found = found + comparing.best(joined, names, per_source)
    return names + found
