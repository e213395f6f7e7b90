"""The evidence of one round, as calls of stages: what its anchors say about pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from largeea.evidence import find_candidates, literal_support, neighbours_by_rows, surroundings_evidence
from largeea.evidence.anchors import not_in
from largeea.execution.settings import current
from largeea.execution.stages import Handle
from largeea.graph import Arrays, Bool, Links
from largeea.material import Channels, Joined, Material, Matrix
from largeea.names.learnt import find_learnt, learnt_similarity
from largeea.names.nearby import NEARBY, NearbyNames, sources_at_once
from largeea.similarity import Similarity


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


def evidence_of(
    material: Material,
    anchors: Handle[Links],
    number: int,
    last: Evidence | None,
    searching: bool,
    learning: bool,
    name_weight: float,
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
        names, nearby = names_with_nearby(material, joined, None if last is None else last.names), joined
    if searching and how.candidates_per_round and material.itself is None:
        near = None if material.names is None else material.neighbours(joined)
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


def names_with_nearby(
    material: Material, joined: Joined | None, earlier: Matrix | None = None, trial: str = ""
) -> Matrix | None:
    """The name channel with the names of targets that share a neighbour, as the graphs are joined.

    Sources that are anchors by now keep what an `earlier` round found for them.
    """
    compared, how = material.compared, material.config.evidence
    if material.names is None or compared is None or joined is None:
        return material.names
    ngram_weight = 0.0 if compared.vectors is None else compared.how.ngram_weight
    found = material.stage(
        f"{trial}names-nearby", names_nearby, material.names, earlier if material.itself is None else None,
        compared.rows, compared.ngrams, compared.vectors, material.edges, joined.anchors, joined.agreement,
        material.kinds, material.apart, NEARBY * how.top_k, how.nearby_names, compared.how.discount_brackets,
        ngram_weight, compared.how.string_weight,
    )  # fmt: skip
    return material.of_others(f"{trial}names-of-others", found)


def compare(
    material: Material,
    anchors: Handle[Links],
    joined: Joined,
    number: int,
    names: Matrix | None,
    retrieved: Channels,
    translations: Handle[Arrays] | None,
    name_weight: float,
    trial: str = "",
) -> Evidence:
    """The evidence about all candidates: those of names, of neighbours and those retrieved.

    `name_weight` is how much names count when candidates are selected: their share in what names and
    translated names told in the round before.
    Literals learn from the `anchors` what the same thing has in common.
    """
    stage, how, edges = material.stage, material.config.evidence, material.edges
    near = material.neighbours(joined, trial)
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
