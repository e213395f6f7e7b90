"""The typed configuration of the whole method, its presets, and reading and writing it as TOML."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from largeea.errors import InputError, UsageError

Part = Literal["structure", "names", "augmentation", "sens", "strings", "evidence"]
PARTS: tuple[Part, ...] = ("structure", "names", "augmentation", "sens", "strings", "evidence")


_NO_NULL = r"^[^\x00]*$"
"""What may be the path of a file."""


LEAST_WEIGHT = 1e-6


def _not_tiny(weight: float) -> float:
    if 0 < weight < LEAST_WEIGHT:
        raise ValueError(
            f"is too small to count; allowed are 0, which switches it off, and {LEAST_WEIGHT} or more"
        )
    return weight


Weight = Annotated[float, AfterValidator(_not_tiny)]
"""What something counts next to something else."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False)


class NamesConfig(_Section):
    """The name channel."""

    encoder: str = Field(
        "auto",
        pattern=_NO_NULL,
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
        pattern=_NO_NULL,
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


class AugmentationConfig(_Section):
    """Pseudo-seeds from names (DA)."""

    margin: float = Field(
        0.2, ge=0, le=2, description="minimum lead of a pseudo-seed's score over that of the second candidate"
    )


class PartitionConfig(_Section):
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


class StructureConfig(_Section):
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


class EvidenceConfig(_Section):
    """Self-training with evidence from neighbours, literals and surroundings."""

    rounds: int = Field(
        8, ge=0, le=1000, description="maximum number of self-training rounds; 0 switches evidence off"
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
        description="number of sketches that score candidates; 0: 16, or 8 from 100,000 entities on",
    )
    label_width: Literal[16, 32, 64] = Field(
        64, description="width of the propagated labels; smaller values need less memory"
    )

    def sketches_for(self, entities: int) -> int:
        """Sketches that score candidates of graphs with so many entities together.

        More of them blur less, which counts where few pairs decide how far evidence is trusted.
        """
        return self.scoring_sketches or (16 if entities < 100_000 else 8)

    @model_validator(mode="after")
    def _some_weight(self) -> Self:
        if not self.neighbour_weight + self.surroundings_weight:
            raise ValueError(
                "neighbour_weight and surroundings_weight are both 0: to switch evidence off, use rounds = 0"
            )
        return self


class FusionConfig(_Section):
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


class DecisionConfig(_Section):
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


class Config(_Section):
    """All settings that influence the answer. `Execution` holds the settings that do not."""

    seed: int = Field(0, ge=0, le=(1 << 63) - 1, description="random seed")
    without: tuple[Part, ...] = Field(
        (),
        description="parts to switch off: structure (with evidence), names, augmentation, sens, strings, "
        "evidence",
    )
    names: NamesConfig = NamesConfig()
    augmentation: AugmentationConfig = AugmentationConfig()
    partition: PartitionConfig = PartitionConfig()
    structure: StructureConfig = StructureConfig()
    evidence: EvidenceConfig = EvidenceConfig()
    fusion: FusionConfig = FusionConfig()
    decision: DecisionConfig = DecisionConfig()

    def uses(self, part: Part) -> bool:
        """Return whether a part of the method is switched on."""
        if part == "structure" and self.structure.model == "none":
            return False
        if part == "evidence" and (self.evidence.rounds == 0 or "structure" in self.without):
            return False
        return part not in self.without

    def to_toml(self) -> str:
        """Return the configuration as a TOML document that `load` can read back."""
        values = self.model_dump()
        top = [_toml_line(key, value) for key, value in values.items() if not isinstance(value, dict)]
        for section, content in values.items():
            if isinstance(content, dict):
                top += ["", f"[{section}]", *(_toml_line(key, value) for key, value in content.items())]
        return "\n".join(top) + "\n"


_PAPER: dict[str, Any] = {
    "names": {
        "encoder": "bert:minilm",
        "metric": "manhattan",
        "ngram_weight": 0.0,
        "gamma": 0.05,
        "max_aliases": 0,
        "dictionaries": False,
    },
    "augmentation": {"margin": 0.0},
    "evidence": {"rounds": 0},
    "fusion": {"csls": 0},
}
"""The paper's settings, except for the encoder: its weights come in a package, unlike those of mBERT."""

PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "largeea-r": _PAPER | {"structure": {"model": "rrea"}},
    "largeea-g": _PAPER | {"structure": {"model": "gcn-align"}},
}


RENAMED: dict[str, str] = {
    "names.precision": "names.dtype",
    "names.lexical": "names.ngram_weight",
    "names.aliases": "names.max_aliases",
    "structure.precision": "structure.dtype",
    "evidence.settled": "evidence.min_new_anchor_share",
    "evidence.neighbours": "evidence.neighbour_weight",
    "evidence.surroundings": "evidence.surroundings_weight",
    "evidence.even": "evidence.no_match_score",
    "evidence.even_by_name": "evidence.no_match_score",
    "evidence.balancing": "evidence.sinkhorn_iterations",
    "evidence.found": "evidence.candidates_per_round",
    "evidence.pieces_to_find": "evidence.retrieval_sketches",
    "evidence.pieces": "evidence.scoring_sketches",
    "decision.accept": "decision.threshold",
    "decision.precision": "decision.threshold",
    "decision.min_precision": "decision.threshold",
    "decision.even": "evidence.no_match_score",
    "decision.no_match_score": "evidence.no_match_score",
    "evidence.no_match_score_names": "evidence.no_match_score",
}
"""Settings that were renamed since release 0.1.0: old name to new name."""
MOVED: dict[str, str] = {
    "names.device": "device",
    "structure.device": "device",
    "structure.threads": "threads",
    "partition.memory_mb": "memory",
    "evidence.memory_mb": "memory",
}
"""Settings of release 0.1.0 that are now part of `Execution`: old name to new name."""


def load(
    preset: str = "default",
    file: Path | None = None,
    settings: tuple[str, ...] = (),
    **overrides: Any,
) -> Config:
    """Load a preset, then apply a TOML file, `key=value` settings and keyword overrides, in this order.

    Example: `load("default", settings=("names.top_k=20",), seed=7)`.
    """
    if preset not in PRESETS:
        raise UsageError(f"unknown preset {preset!r}; known: {', '.join(PRESETS)}")
    values = _merged({}, PRESETS[preset])
    if file is not None:
        values = _merged(values, _read_toml(file))
    for setting in settings:
        values = _merged(values, _parse_setting(setting))
    return _validated(_merged(values, {key: value for key, value in overrides.items() if value is not None}))


def as_config(given: Config | dict[str, Any] | str | None) -> Config:
    """Convert a `Config`, a dictionary of settings, the name of a preset, or None (default) to a `Config`."""
    if isinstance(given, Config):
        return given
    if given is None or isinstance(given, str):
        return load(given or "default")
    if isinstance(given, dict):
        start = load(str(given.get("preset", "default"))).model_dump()
        return _validated(_merged(start, {key: value for key, value in given.items() if key != "preset"}))
    raise TypeError(f"config must be a Config, a dict or the name of a preset, not {type(given).__name__}")


def _validated(values: dict[str, Any]) -> Config:
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise UsageError(_explain(error)) from None


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path) from None
    except ValueError as error:
        raise InputError(f"is not a TOML file: {error}", path) from None
    except RecursionError:
        raise InputError("has brackets that are nested too deep for a configuration", path) from None


def _parse_setting(setting: str) -> dict[str, Any]:
    key, equals, text = setting.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"--set needs key=value, for example names.top_k=20; got {setting!r}")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    except ValueError as error:
        raise UsageError(f"--set {key}: {error}") from None
    except RecursionError:
        raise UsageError(f"--set {key}: the value has brackets that are nested too deep") from None
    for part in reversed(key.strip().split(".")):
        value = {part: value}
    return dict(value)


def _merged(base: dict[str, Any], top: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in top.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else value
    return merged


def _explain(error: ValidationError) -> str:
    lines = []
    for problem in error.errors():
        place = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden":
            if place in RENAMED:
                lines.append(f"the setting {place!r} is now called {RENAMED[place]!r}")
                continue
            if place in MOVED:
                lines.append(
                    f"the setting {place!r} is no longer part of the configuration; use the execution "
                    f"setting {MOVED[place]!r} instead, --{MOVED[place]} on the command line"
                )
                continue
            section: Any = Config
            for part in problem["loc"][:-1]:
                section = section.model_fields[str(part)].annotation
            lines.append(f"unknown setting {place!r}; known here: {', '.join(section.model_fields)}")
        elif problem["type"] == "value_error":
            lines.append(f"{place}: {problem['ctx']['error']}")
        else:
            lines.append(f"{place} = {problem['input']!r}: {problem['msg']}")
    return "; ".join(lines)


def _toml_line(key: str, value: Any) -> str:
    return f"{key} = {_toml(value)}"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
