"""Settings of the paper's channels: names, pseudo-seeds, mini-batches and structure."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from largeea.config.base import WITHOUT_NULL, Section, Weight


class NamesConfig(Section):
    """The name channel."""

    encoder: str = Field(
        "auto",
        pattern=WITHOUT_NULL,
        description="encoder of names: ngram, use-multilingual, bert:PATH_OR_ID, sentence-transformers:"
        "PATH_OR_ID, or the name of a plug-in; auto: use-multilingual if it is installed and the graphs have "
        "names in different scripts, else ngram",
    )
    metric: Literal["cosine", "manhattan"] = Field("cosine", description="similarity of name vectors")
    search: Literal["auto", "exact", "approximate"] = Field(
        "auto",
        description="nearest-neighbour search among name vectors; auto: exact, but approximate for many "
        "names on a CPU",
    )
    dtype: Literal["auto", "fp32", "bf16"] = Field(
        "auto", description="floating-point type of the encoder; auto: bf16 on a GPU, fp32 on a CPU"
    )
    top_k: int = Field(
        50, ge=1, le=1000, description="phi, the number of candidates kept for each source entity"
    )
    ngram_weight: Weight = Field(
        0.5, ge=0, le=100, description="weight of n-gram scores, added to those of a semantic encoder"
    )
    dictionaries: bool = Field(
        True,
        description="translate names in different scripts with the dictionaries that are installed",
    )
    lexicon: str = Field(
        "",
        pattern=WITHOUT_NULL,
        description="path of a glossary: two terms with the same meaning on each line, separated by a tab",
    )
    translation_weight: Weight = Field(
        2.0,
        ge=0,
        le=100,
        description="replaces ngram_weight where dictionaries translate names",
    )
    gamma: Weight = Field(
        0.0,
        ge=0,
        le=100,
        description="weight of M_st in M_n = M_se + gamma * M_st, 0.05 in the paper; 0: chosen by the "
        "encoder, 0.15 with n-grams, which compare spelling too, and 0.3 with a semantic encoder",
    )
    theta: float = Field(
        0.5, gt=0, le=1, description="minimum Jaccard similarity of two names whose spelling is compared"
    )
    max_aliases: int = Field(8, ge=0, le=1000, description="maximum number of aliases per entity; 0: none")
    alias_predicates: tuple[str, ...] = Field(
        (), description="predicates that give aliases; empty: the well-known ones"
    )
    discount_brackets: bool = Field(
        True, description="give text in brackets less weight, such as (planet) in Mercury (planet)"
    )
    shortest_gram: int = Field(2, ge=1, description="length of the shortest character n-grams")
    longest_gram: int = Field(4, ge=1, le=8, description="length of the longest character n-grams")

    @property
    def string_weight(self) -> float:
        """Gamma: as set, or what suits the encoder."""
        return self.gamma or (0.15 if self.by_ngrams else 0.3)

    @property
    def by_ngrams(self) -> bool:
        """Whether n-grams alone compare names; "auto" has been replaced where an encoder is used."""
        return self.encoder in ("auto", "ngram")

    @model_validator(mode="after")
    def _grams_in_order(self) -> Self:
        if self.longest_gram < self.shortest_gram:
            raise ValueError(
                f"longest_gram = {self.longest_gram} is below shortest_gram = {self.shortest_gram}; "
                "raise longest_gram or lower shortest_gram"
            )
        return self


class AugmentationConfig(Section):
    """Pseudo-seeds from names (DA)."""

    margin: float = Field(
        0.2, ge=0, le=2, description="minimum lead of a pseudo-seed's score over that of the second candidate"
    )


class PartitionConfig(Section):
    """Mini-batches for the structure channel."""

    method: str = Field(
        "metis-cps",
        description="how batches are made: metis-cps, merged (METIS on both graphs joined at the seeds), "
        "vps, none (one batch), or the name of a plug-in",
    )
    k: int = Field(
        0,
        ge=0,
        le=1_000_000,
        description="K, the number of batches; 0: chosen by size, 5 for 15K entities, 10 for 100K, 20 for 1M",
    )
    overlap: int = Field(
        1, ge=1, le=1000, description="D_ov, the number of parts in each batch; 1: disjoint batches"
    )
    q: int = Field(1, ge=1, le=1_000_000, description="number of hubs in each group of seeds")
    virtual_weight: int = Field(
        1000, ge=1, le=1_000_000, description="w', the weight of the virtual edges between seeds"
    )
    balance: float = Field(
        0.03, ge=0, le=10, description="allowed imbalance; 0.03: parts may be 3 % larger than the average"
    )
    weigh_by_confidence: bool = Field(
        False, description="weight the virtual edges of seeds by the confidence of the seeds"
    )


class StructureConfig(Section):
    """The structure channel: a model trained on every mini-batch. 0 or "auto" selects the model's default."""

    model: str = Field(
        "none", description="structure model: none, rrea, gcn-align, propagation, or the name of a plug-in"
    )
    epochs: int = Field(100, ge=1, le=1_000_000, description="number of passes over the seeds of a batch")
    dimension: int = Field(0, ge=0, le=16_384, description="D, the dimension of an entity's input embedding")
    learning_rate: float = Field(0, ge=0, le=100, description="learning rate of Adam")
    loss: Literal["auto", "triplet", "logsumexp"] = Field(
        "auto", description="training loss; the paper uses triplet, auto is logsumexp"
    )
    margin: float = Field(0, ge=0, le=1000, description="margin of the triplet loss")
    negatives: Literal["nearest", "uniform"] = Field(
        "nearest", description="how negative samples are chosen: the nearest entities, or at random"
    )
    negatives_per_seed: int = Field(
        0, ge=0, le=10_000, description="number of negative samples for each entity of a seed"
    )
    refresh_every: int = Field(
        5, ge=1, le=1_000_000, description="number of epochs between searches for the nearest negatives"
    )
    metric: Literal["cosine", "manhattan"] = Field("manhattan", description="similarity of embeddings")
    top_k: int = Field(50, ge=1, le=1000, description="number of candidates kept for each source entity")
    dtype: Literal["auto", "fp32", "bf16"] = Field(
        "auto",
        description="floating-point type of matrix products in training; auto: bf16 on a GPU, fp32 on a CPU",
    )
