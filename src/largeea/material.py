"""What evidence is drawn from, and the evidence of one round, as calls of stages."""

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
    find_candidates,
    learn_agreement,
    literal_support,
    neighbour_evidence,
    neighbours_by_rows,
    propose_by_values,
    surroundings_evidence,
    without_seeds,
)
from largeea.evidence.anchors import not_in
from largeea.execution.settings import current
from largeea.execution.stages import Handle, Stages
from largeea.graph import Arrays, Bool, KnowledgeGraph, Links
from largeea.matching.cardinality import Cardinality
from largeea.matching.forbidden import without_pairs
from largeea.names.learnt import find_learnt, learn_translations, learnt_similarity
from largeea.names.nearby import NEARBY, NearbyNames, sources_at_once
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

    def names_with(
        self, joined: Joined | None, earlier: Matrix | None = None, trial: str = ""
    ) -> Matrix | None:
        """The name channel with the names of targets that share a neighbour, as the graphs are joined.

        Sources that are anchors by now keep what an `earlier` round found for them.
        """
        compared, how = self.compared, self.config.evidence
        if self.names is None or compared is None or joined is None:
            return self.names
        ngram_weight = 0.0 if compared.vectors is None else compared.how.ngram_weight
        found = self.stage(
            f"{trial}names-nearby", names_nearby, self.names, earlier if self.itself is None else None,
            compared.rows, compared.ngrams, compared.vectors, self.edges, joined.anchors, joined.agreement,
            self.kinds, self.apart, NEARBY * how.top_k, how.nearby_names, compared.how.discount_brackets,
            ngram_weight, compared.how.string_weight,
        )  # fmt: skip
        return self.of_others(f"{trial}names-of-others", found)

    def translations(self, anchors: Handle[Links], trial: str = "") -> Handle[Arrays] | None:
        """What the names of anchors teach about names."""
        if self.units is None:
            return None
        return self.stage(f"{trial}translations", learn_translations, self.units, anchors, self.random)

    def choose(self, matched: Matrix | None, number: int) -> Handle[Links]:
        """The anchors of a round: what matching is sure of or, within one graph, what names and shared
        neighbours agree on, where there are any."""
        if self.itself is not None and self.names is not None:
            near = _neighbours(self, self.joined(self.itself))
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


@dataclass(frozen=True)
class Evidence:
    """What one round finds, given its anchors."""

    agreement: Handle[Similarity]
    names: Matrix | None
    """The name channel, with the names of nearby targets."""
    channels: Channels
    """What neighbours, surroundings, literals and translated names say."""
    candidates: list[Matrix]
    retrieved: Channels
    """Those candidates that were found by similar surroundings or translated names, for later rounds too."""
    translations: Handle[Arrays] | None
    """What was learnt from the names of anchors."""
    nearby: Joined | None = None
    """How the graphs were joined when the names of nearby targets were compared."""

    @property
    def without_learnt(self) -> Evidence:
        """The same without what translated names say, until more anchors teach more."""
        others = {kind: channel for kind, channel in self.channels.items() if kind != "learnt"}
        return replace(self, channels=others, translations=None)

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


def evidence_of(
    material: Material,
    anchors: Handle[Links],
    number: int,
    last: Evidence | None,
    searching: bool,
    learning: bool,
    name_weight: float = 1.0,
) -> Evidence:
    """What neighbours, surroundings, literals, translated names and the names of nearby targets say.

    Candidates are those of neighbours, names and literal values. When `searching`, there are new ones: those
    with the most similar surroundings, and those with the most similar names among all that share a
    neighbour. Else what the last round found serves again. Once a round has shown their worth, those with the
    most similar translated names are searched in every round, and translations are improved when `learning`.
    """
    stage, how, edges = material.stage, material.config.evidence, material.edges
    joined = material.joined(anchors)
    names, nearby, translations, retrieved = material.names, None, None, Channels()
    if last is not None:
        names, nearby, translations, retrieved = last.names, last.nearby, last.translations, last.retrieved
    if searching and how.nearby_names:
        names, nearby = material.names_with(joined, None if last is None else last.names), joined
    if searching and how.candidates_per_round and material.itself is None:
        near = None if material.names is None else _neighbours(material, joined)
        found = stage(
            "candidates", find_candidates, edges, anchors, joined.agreement, material.kinds, near,
            how.candidates_per_round, how.retrieval_sketches, how.label_width, material.random + number,
        )  # fmt: skip
        retrieved = retrieved | {"surroundings": found}
    if searching or (translations is not None and learning):
        translations = material.translations(anchors)
    if last is not None and "learnt" in last.channels:
        by_name = stage(
            "learnt-candidates", find_learnt, material.units, translations, anchors, material.kinds, how.top_k
        )
        retrieved = retrieved | {"learnt": by_name}
    found_now = compare(material, anchors, joined, number, names, retrieved, translations, name_weight)
    return replace(found_now, nearby=nearby)


def _neighbours(material: Material, joined: Joined, trial: str = "") -> Matrix:
    """What shared neighbours say."""
    found = material.stage(
        f"{trial}neighbours", neighbour_evidence, material.edges, joined.anchors, joined.agreement,
        material.kinds, material.apart, material.config.evidence.top_k,
    )  # fmt: skip
    return material.of_others(f"{trial}neighbours-of-others", found)


def compare(
    material: Material,
    anchors: Handle[Links],
    joined: Joined,
    number: int,
    names: Matrix | None,
    retrieved: Channels,
    translations: Handle[Arrays] | None,
    name_weight: float = 1.0,
    trial: str = "",
) -> Evidence:
    """The evidence about all candidates: those of names, of neighbours and those retrieved.

    `name_weight` is how much names count when candidates are selected: their share in what names and
    translated names told in the round before.
    Literals learn from the `anchors` what the same thing has in common.
    """
    stage, how, edges = material.stage, material.config.evidence, material.edges
    near = _neighbours(material, joined, trial)
    by_name = names
    if names is not None and name_weight < 1:
        by_name = stage(f"{trial}names-weighed", scaled, names, name_weight)
    candidates = [near, *retrieved.values(), *filter(None, (by_name, material.proposed))]
    surroundings = stage(
        f"{trial}surroundings", surroundings_evidence, edges, joined.anchors, joined.agreement, candidates,
        how.top_k, material.sketches, how.label_width, material.random + number,
    )  # fmt: skip
    channels = {"neighbours": near, "surroundings": surroundings}
    if material.values is not None:
        channels["literals"] = stage(
            f"{trial}literals", literal_support, material.values, anchors, candidates, how.top_k,
            material.random + number, material.itself is not None,
        )  # fmt: skip
    if material.units is not None and translations is not None:
        channels["learnt"] = stage(
            f"{trial}learnt", learnt_similarity, material.units, translations, candidates, how.top_k
        )
    return Evidence(joined.agreement, names, channels, candidates, retrieved, translations)


def scaled(names: Similarity, weight: float) -> Similarity:
    """The name channel times a weight."""
    return names.scale(weight)


def names_nearby(
    names: Similarity,
    earlier: Similarity | None,
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

    Sources that are anchors keep what was found `earlier`. One stage, so that the matrix of all these pairs
    need not be stored; some sources at a time, so that it need not be in memory.
    """
    if earlier is not None:
        names, kinds = keeping(earlier, not_in(anchors, names.shape)[0], names, kinds)
    comparing, sources = NearbyNames(rows, ngrams, vectors, *how), names.shape[0]
    neighbours = neighbours_by_rows(edges, anchors, agreement, kinds, apart, nearby)
    at_once = sources_at_once(nearby, current().memory_bytes)
    found = Similarity.empty(names.shape)
    for first in range(0, sources, at_once):
        joined = neighbours(first, min(first + at_once, sources))
        found = found + comparing.best(joined, names, per_source)
    return names + found


def keeping(earlier: Similarity, again: Bool, names: Similarity, kinds: Arrays) -> tuple[Similarity, Arrays]:
    """The name channel with what was found `earlier`, and kinds by which only some sources match `again`."""
    kept = earlier.restrict(sources=~again)
    others = kinds | {"source": np.where(again, kinds["source"], np.int8(-1))}
    return names + kept.keep(names.scores_on(kept) <= names.floor), others
