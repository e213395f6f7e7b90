"""What people know about pairs, as handles for the stages: seeds, forbidden and reviewed pairs, and rules.

Each handle is known by the content of its links. So a review that adds none of a kind changes nothing that
depends on this kind alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largeea.execution.stages import Handle, Stages
from largeea.formats.links import GivenPairs, merge_corrections
from largeea.formats.links.corrections import joined_links
from largeea.formats.vocabularies import IDENTITIES
from largeea.graph import Arrays, KnowledgeGraph, Links
from largeea.graph.same_iri import equal_iris, stated_links
from largeea.matching.blocks import allowed_links, allowed_pairs
from largeea.matching.forbidden import without_links
from largeea.progress import note, warn
from largeea.runs.artifacts import content_hash
from largeea.similarity import Similarity

Channels = dict[str, Handle[Similarity]]


@dataclass(frozen=True)
class Corrections:
    """What people have said about pairs, besides the seeds; None where they have said nothing."""

    forbidden: Handle[Links] | None = None
    """Pairs that are wrong: they are neither candidates nor anchors."""
    reviewed: Handle[Links] | None = None
    """Pairs that were looked at: right (weight 1), then they are seeds, or wrong (0), then forbidden."""
    rules: Handle[Arrays] | None = None
    """Rules that candidates obey, see `largeea.matching.blocks`."""

    def allowed(self, stage: Stages, channels: Channels, prefix: str = "") -> Channels:
        """The channels without forbidden pairs and without pairs that a rule forbids."""
        if self.forbidden is None and self.rules is None:
            return channels
        return {
            kind: stage(f"{prefix}{kind}-allowed", allowed_pairs, channel, self.forbidden, self.rules)
            for kind, channel in channels.items()
        }

    def not_reviewed(self, stage: Stages, known: Handle[Links]) -> Handle[Links]:
        """The known pairs that were not reviewed: reviewed ones are harder, so they are not a fair sample."""
        return known if self.reviewed is None else stage("not-reviewed", without_links, known, self.reviewed)

    def before_reviews(self, stage: Stages) -> Corrections:
        """What was forbidden before anything was reviewed."""
        if self.reviewed is None or self.forbidden is None:
            return self
        forbidden = stage("trial-forbidden", without_links, self.forbidden, self.reviewed)
        return Corrections(forbidden, rules=self.rules)


NO_CORRECTIONS = Corrections()


@dataclass(frozen=True)
class KnownPairs:
    """All that is known about pairs before anything is compared."""

    seeds: Handle[Links]
    """`psi'`: pairs that people have given as right, one-to-one."""
    further: Handle[Links] | None
    """Other pairs that people have given as right, where an entity may have several counterparts."""
    same: Handle[Links]
    """Pairs with equal IRIs: known to be the same, but neither seeds nor part of the answer's links."""
    corrections: Corrections

    @classmethod
    def of(
        cls,
        stage: Stages,
        given: Handle[Arrays],
        source: Handle[KnowledgeGraph],
        target: Handle[KnowledgeGraph],
        rules: Handle[Arrays] | None = None,
    ) -> KnownPairs:
        """What is known, from the arrays of `GivenPairs`, from equal IRIs, and by rules about candidates."""
        pairs = GivenPairs.from_arrays(given.value)
        forbidden, reviewed = (
            _handle(stage, f"given-{name}", links) if len(links) else None
            for name, links in (("forbidden", pairs.forbidden), ("reviewed", pairs.reviewed))
        )
        same = stage("same-iri", equal_iris, source, target)
        if forbidden is not None and same.value.are_in(pairs.forbidden).any():
            same = stage("same-iri", allowed_equal_iris, source, target, forbidden)
        seeds = _with_stated(pairs, same.value, source.value, target.value)
        if rules is not None:
            _tell_contradictions(joined_links([seeds, pairs.further]), rules.value)
        further = _handle(stage, "given-further", pairs.further) if len(pairs.further) else None
        return cls(
            _handle(stage, "given-seeds", seeds), further, same, Corrections(forbidden, reviewed, rules)
        )


def allowed_equal_iris(source: KnowledgeGraph, target: KnowledgeGraph, forbidden: Links) -> Links:
    """The pairs with equal IRIs that are not forbidden."""
    return without_links(equal_iris(source, target), forbidden)


def _with_stated(given: GivenPairs, same: Links, source: KnowledgeGraph, target: KnowledgeGraph) -> Links:
    """The seeds, and the links that the graphs state themselves between entities of no other known pair."""
    stated = without_links(stated_links(source, target, IDENTITIES), given.forbidden)
    known = joined_links([given.seeds, same])
    new = stated.take(~np.isin(stated.source, known.source) & ~np.isin(stated.target, known.target))
    if not len(new):
        return given.seeds
    note(f"{len(new):,} links between the graphs that they state themselves count as given")
    return joined_links([given.seeds, new])


def _tell_contradictions(seeds: Links, rules: Arrays) -> None:
    contrary = int((~allowed_links(seeds, rules)).sum())
    if contrary:
        warn(
            f"{contrary:,} of {len(seeds):,} given links contradict the blocks or compatible types that were "
            "given, too; the links count"
        )


def _handle(stage: Stages, name: str, links: Links) -> Handle[Links]:
    return stage.given(name, content_hash(links), lambda: links, merge_corrections)
