"""Self-training without labels: names find anchors, anchors give evidence, evidence finds more anchors."""

from __future__ import annotations

import numpy as np

from largeea.config import EvidenceConfig
from largeea.evidence.agreement import relation_agreement
from largeea.evidence.anchors import Anchors
from largeea.evidence.combine import Channels, matched
from largeea.evidence.edges import Edges
from largeea.evidence.literals import shared_values
from largeea.evidence.neighbours import neighbour_evidence
from largeea.evidence.propagation import Sketches, fitting_label_width
from largeea.graph import Bool, Int32, KnowledgeGraph, Links, Task
from largeea.progress import note, track
from largeea.search import dense_top_k
from largeea.similarity import Similarity


class SelfTraining:
    """Evidence from structure and literals, round by round. Test links are nowhere in here."""

    def __init__(self, task: Task, names: Similarity | None, config: EvidenceConfig, seed: int) -> None:
        self._task, self._config, self._seed = task, config, seed
        self._shape = task.shape
        self._open = _without(self._shape[0], task.seeds.source), _without(self._shape[1], task.seeds.target)
        self._names = {} if names is None else {"name": names.restrict(*self._open)}
        no_literals = np.empty((0, 3), np.int32), np.empty((0, 3), np.int32), 0
        source_literals, target_literals, self._values = (
            shared_values(task.source, task.target) if config.literals else no_literals
        )
        self._edges = (
            _edges(task.source, source_literals, self._values),
            _edges(task.target, target_literals, self._values),
        )

        nodes = sum(edges.nodes for edges in self._edges)
        self._label_width = fitting_label_width(
            nodes, config.pieces_to_find if config.found else 0, config.memory_mb
        )

    def run(self) -> Channels:
        """Rounds until anchors no longer change much, `config.rounds` at most; what the last one found."""
        found, before = self._names, Links.none()
        for number in track(range(self._config.rounds), self._config.rounds):
            anchors = self.anchors(matched(self._shape, found, self._config))
            if not len(anchors):
                break
            new = _share_of_new(before, anchors)
            note(f"round {number + 1}: {len(anchors):,} anchors, {new:.1%} of them new")
            if number and new < self._config.settled:
                break
            found, before = self.round(anchors, number), anchors
        return found

    def anchors(self, chances: Similarity) -> Links:
        """The seeds, and pairs that are each other's best, likely, and well ahead of the second."""
        mutual = chances.mutual_best()
        ahead = chances.margins()[mutual.source] >= self._config.margin
        assert mutual.weight is not None
        sure = mutual.take(ahead & (mutual.weight >= 0.5))
        given = self._task.seeds
        trust = np.ones(len(given), np.float32) if given.weight is None else given.weight
        return Links(np.concatenate([given.pairs, sure.pairs]), np.concatenate([trust, sure.weight]))

    def round(self, anchors: Links, number: int) -> Channels:
        """What neighbours and surroundings say if these anchors are right."""
        how, (source, target) = self._config, self._edges
        known = self._with_values(anchors)
        agreement = relation_agreement(source, target, known)
        near = neighbour_evidence(source, target, known, agreement, self._shape, how.top_k)
        near = near.restrict(*self._open)
        sketches = Sketches(
            source, target, known, agreement, label_width=self._label_width, seed=self._seed + number
        )
        candidates = near + self._retrieved(sketches, anchors) if how.found else near
        for names in self._names.values():
            candidates = candidates + names
        surroundings = sketches.cosines(candidates.top_k(how.top_k), how.pieces)
        return self._names | {"neighbours": near, "surroundings": surroundings}

    def _retrieved(self, sketches: Sketches, anchors: Links) -> Similarity:
        """Candidates by vectors of few dimensions, for entities that are no anchors yet."""
        free = [
            np.flatnonzero(_without(size, ends))
            for size, ends in zip(self._shape, (anchors.source, anchors.target), strict=True)
        ]
        how = self._config
        source, target = sketches.vectors(how.pieces_to_find)
        ids, cosines = dense_top_k(source[free[0]], target[free[1]], 2 * how.found)
        kept = ids >= 0
        rows = np.repeat(free[0], kept.sum(axis=1))
        found = Similarity.from_entries(rows, free[1][ids[kept]], cosines[kept], self._shape)
        # matrix products differ in their last digits with the number of threads; these scores do not
        return sketches.cosines(found, how.pieces_to_find).top_k(how.found)

    def _with_values(self, anchors: Links) -> Anchors:
        """Anchors of entities and, surely the same, of the values that both graphs share."""
        values = np.arange(self._values)
        pairs = np.column_stack([values + size for size in self._shape])
        trust = np.concatenate([anchors.weight, np.ones(self._values)])
        both = Links(np.concatenate([anchors.pairs, pairs]), trust)
        return Anchors.of(both, *(size + self._values for size in self._shape))


def _edges(graph: KnowledgeGraph, literals: Int32, values: int) -> Edges:
    """Triples, and literals as triples to value nodes behind the entities."""
    shift = np.array([0, len(graph.relations), graph.size], np.int32)
    triples = np.concatenate([graph.triples, literals + shift])
    return Edges.of(triples, graph.size + values, len(graph.relations) + len(graph.attributes.predicates))


def _without(size: int, taken: Int32) -> Bool:
    free = np.ones(size, bool)
    free[taken] = False
    return free


def _share_of_new(before: Links, after: Links) -> float:
    """The share of the anchors that was not there before."""
    if not len(after):
        return 0.0
    width = 1 + max(before.target.max(initial=0), after.target.max(initial=0))
    old, new = (links.source.astype(np.int64) * width + links.target for links in (before, after))
    return float(1 - np.isin(new, old).mean())
