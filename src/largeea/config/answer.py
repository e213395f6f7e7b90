"""Settings that lead from the channels to the answer: evidence, fusion and decision."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from largeea.config.base import Section, Weight


class EvidenceConfig(Section):
    """Self-training with evidence from neighbours, literals and surroundings."""

    rounds: int = Field(
        16, ge=0, le=1000, description="maximum number of self-training rounds; 0 switches evidence off"
    )
    min_new_anchor_share: float = Field(
        0.005, ge=0, le=1, description="rounds end when the share of new anchors is below this"
    )
    margin: float = Field(
        0.3, ge=0, le=1, description="minimum lead of an anchor's probability over the second candidate's"
    )
    neighbour_weight: Weight = Field(
        0.45,
        ge=0,
        le=100,
        description="weight of neighbour evidence relative to names, scaled by its measured worth",
    )
    surroundings_weight: Weight = Field(
        0.75,
        ge=0,
        le=100,
        description="weight of similar surroundings relative to names, scaled by their measured worth",
    )
    literal_weight: Weight = Field(
        0.75,
        ge=0,
        le=100,
        description="weight of similar literals relative to names, scaled by their measured worth",
    )
    learnt_weight: Weight = Field(
        1.0,
        ge=0,
        le=100,
        description="weight of names translated with what the names of anchors teach, where scripts differ, "
        "relative to what is measured; 0: not used",
    )
    literals: bool = Field(
        True,
        description="use literals: equal values count as shared neighbours, similar values as evidence of "
        "their own",
    )
    temperature: float = Field(
        0.024, ge=1e-6, le=1000, description="score difference that changes the odds by a factor e"
    )
    no_match_score: float = Field(
        0.25, ge=-1000, le=1000, description="score at which a pair without competitors has probability 0.5"
    )
    sinkhorn_iterations: int = Field(
        50, ge=0, le=100_000, description="number of Sinkhorn iterations; 0: only rows are normalised"
    )
    top_k: int = Field(50, ge=1, le=1000, description="number of candidates kept for each source entity")
    candidates_per_round: int = Field(
        20,
        ge=0,
        le=1000,
        description="maximum number of new candidates for each source entity in a round, found by similar "
        "surroundings",
    )
    nearby_names: int = Field(
        5,
        ge=0,
        le=1000,
        description="maximum number of targets for each source entity that are found by a shared neighbour "
        "and a weakly similar name; 0: none",
    )
    retrieval_sketches: int = Field(
        2, ge=1, le=256, description="number of sketches used to find new candidates"
    )
    scoring_sketches: int = Field(
        0,
        ge=0,
        le=256,
        description="number of sketches that score candidates; 0: 16, or 8 from 20,000 entities on",
    )
    label_width: Literal[16, 32, 64] = Field(
        64, description="width of the propagated labels; smaller values need less memory"
    )

    def sketches_for(self, entities: int) -> int:
        """Return the number of sketches that score candidates of two graphs with this many entities in total.

        More sketches blur less. That matters in small graphs, where few pairs decide how far evidence is
        trusted.
        """
        return self.scoring_sketches or (16 if entities < 20_000 else 8)

    @model_validator(mode="after")
    def _some_weight(self) -> Self:
        if not self.neighbour_weight + self.surroundings_weight:
            raise ValueError(
                "neighbour_weight and surroundings_weight are both 0: to switch evidence off, use rounds = 0"
            )
        return self


class FusionConfig(Section):
    """Fusion of the channels' scores into one matrix M."""

    method: Literal["sum", "calibrated"] = Field(
        "sum",
        description="sum: channels are added, as in the paper; calibrated: each is rescaled to [0, 1] first",
    )
    csls: int = Field(
        1,
        ge=0,
        le=1000,
        description="number of neighbours in CSLS (cross-domain similarity local scaling); 0: no scaling",
    )


class DecisionConfig(Section):
    """Which pairs are accepted, given their scores."""

    temperature: float = Field(
        0.062,
        ge=1e-6,
        le=1000,
        description="score difference that changes the odds by a factor e in the matching that confidence "
        "comes from",
    )
    threshold: float = Field(
        0.0,
        ge=0,
        le=1,
        description="minimum confidence of an accepted pair; 0: chosen by the highest expected F1",
    )
    doubtful: float = Field(
        0.1,
        ge=0,
        le=1,
        description="minimum confidence of a doubtful pair; entities of pairs below it have no counterpart",
    )
    cardinality: Literal["1:1", "1:n", "n:1", "n:m"] = Field(
        "1:1",
        description="how many counterparts an entity may have: 1:1, n:1 (several sources may have the same "
        "target), 1:n (several targets may have the same source) or n:m (both)",
    )
    assignment: Literal["mutual", "exact"] = Field(
        "mutual",
        description="mutual: pairs that are each other's best; exact: the one-to-one pairs of highest "
        "total score",
    )
