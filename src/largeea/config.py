"""One typed configuration for the whole method, with presets; TOML in, TOML out."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from largeea.errors import InputError, UsageError

Part = Literal["structure", "names", "augmentation", "sens", "strings", "evidence"]
PARTS: tuple[Part, ...] = ("structure", "names", "augmentation", "sens", "strings", "evidence")


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class NamesConfig(_Section):
    """The name channel."""

    encoder: str = Field(
        "ngram", description="ngram, use-multilingual, bert:PATH_OR_ID or sentence-transformers:PATH_OR_ID"
    )
    metric: Literal["cosine", "manhattan"] = Field("cosine", description="how vectors are compared")
    search: Literal["auto", "exact", "cuda", "approximate"] = "auto"
    device: str = Field("auto", description="where an encoder runs: auto, cpu, cuda, cuda:N")
    precision: Literal["fp32", "bf16"] = "fp32"
    top_k: int = Field(50, ge=1, description="phi: candidates kept per source entity")
    lexical: float = Field(0.5, ge=0, description="weight of n-grams beside an encoder of meanings")
    gamma: float = Field(
        0.3, gt=0, description="weight of M_st in M_n = M_se + gamma * M_st; the paper's: 0.05"
    )
    theta: float = Field(0.5, gt=0, le=1, description="Jaccard similarity from which strings are compared")
    aliases: int = Field(8, ge=0, description="other names of an entity that are compared as well")
    alias_predicates: tuple[str, ...] = Field((), description="where they are found; empty: where customary")
    discount_brackets: bool = Field(True, description="n-grams in brackets count less: Mercury (planet)")
    shortest_gram: int = Field(2, ge=1)
    longest_gram: int = Field(4, ge=1, le=8)

    @model_validator(mode="after")
    def _grams_in_order(self) -> Self:
        if self.longest_gram < self.shortest_gram:
            raise ValueError(
                f"longest_gram = {self.longest_gram} is below shortest_gram = {self.shortest_gram}; "
                "raise the one or lower the other"
            )
        return self


class AugmentationConfig(_Section):
    """Pseudo-seeds from names (DA)."""

    margin: float = Field(0.2, ge=0, description="lead over the second candidate that a pseudo-seed needs")


class PartitionConfig(_Section):
    """Mini-batches for the structure channel."""

    method: str = Field("metis-cps", description="metis-cps, merged, vps or none")
    k: int = Field(
        0, ge=0, description="K, the number of batches; 0 = by size: 5 / 10 / 20 at 15K / 100K / 1M"
    )
    overlap: int = Field(1, ge=1, description="D_ov, parts each batch is made of; 1 = disjoint")
    q: int = Field(1, ge=1, description="hubs of each group of seeds")
    virtual_weight: int = Field(1000, ge=1, description="w', weight of edges among seeds")
    balance: float = Field(0.03, ge=0, description="how much larger than average a part may be")
    weigh_by_confidence: bool = Field(False, description="let unsure seeds pull less")
    memory_mb: int = Field(
        0, ge=0, description="memory one batch may take in training: more batches if short; 0 = no limit"
    )


class StructureConfig(_Section):
    """The structure channel: a model trained on every mini-batch. 0 and "auto" are the model's own choice."""

    model: str = Field("none", description="none, rrea, gcn-align, propagation, or one of another package")
    epochs: int = Field(100, ge=1, description="passes over the seeds of a batch")
    dimension: int = Field(0, ge=0, description="D, the length of an entity's own vector")
    learning_rate: float = Field(0, ge=0, description="of Adam")
    loss: Literal["auto", "triplet", "logsumexp"] = Field("auto", description="triplet is the paper's")
    margin: float = Field(0, ge=0, description="of the triplet loss")
    negatives: Literal["nearest", "uniform"] = "nearest"
    negatives_per_seed: int = Field(0, ge=0, description="wrong counterparts for each end of a seed")
    refresh_every: int = Field(5, ge=1, description="epochs after which nearest negatives are searched anew")
    threads: int = Field(0, ge=0, description="CPU threads of torch; 0 leaves them alone")
    metric: Literal["cosine", "manhattan"] = Field("manhattan", description="how embeddings are compared")
    top_k: int = Field(50, ge=1, description="candidates kept per source entity")
    device: str = Field("auto", description="where models are trained: auto, cpu, cuda, cuda:N")
    precision: Literal["fp32", "bf16"] = "fp32"


class EvidenceConfig(_Section):
    """Self-training with evidence from neighbours, literals and surroundings."""

    rounds: int = Field(8, ge=0, description="rounds of self-training at most; 0 = none")
    settled: float = Field(0.005, ge=0, description="share of new anchors below which rounds end")
    margin: float = Field(0.3, ge=0, le=1, description="lead over the second candidate that an anchor needs")
    neighbours: float = Field(0.6, ge=0, description="weight of neighbour evidence; names weigh 1")
    surroundings: float = Field(1.0, ge=0, description="weight of propagated surroundings; names weigh 1")
    literals: bool = Field(True, description="equal values of literals are common neighbours")
    temperature: float = Field(0.015, gt=0, description="difference of scores that changes odds by e")
    even: float = Field(0.1, description="score of a lone pair that is as likely as not to be none")
    even_by_name: float = Field(0.3, description="the same where names are all there is")
    balancing: int = Field(50, ge=0, description="rounds of Sinkhorn; 0 = every source on its own")
    top_k: int = Field(50, ge=1, description="candidates kept per source entity")
    found: int = Field(20, ge=0, description="new candidates per source entity and round, by surroundings")
    pieces_to_find: int = Field(2, ge=1, description="pieces of vectors to find candidates with")
    pieces: int = Field(8, ge=1, description="pieces of vectors to score candidates with")
    memory_mb: int = Field(8000, ge=1, description="memory for propagation: narrower pieces if short")

    @model_validator(mode="after")
    def _something_counts(self) -> Self:
        if not self.neighbours + self.surroundings:
            raise ValueError("neighbours and surroundings both weigh 0: to go without, use rounds = 0")
        return self


class FusionConfig(_Section):
    """From the channels' scores to one matrix M."""

    method: Literal["sum", "calibrated"] = Field(
        "sum", description="sum is the paper's; calibrated stretches each channel's scores over 0 to 1 first"
    )
    csls: int = Field(
        1, ge=0, description="neighbours that cross-domain local scaling looks at; 0 = no scaling"
    )


class DecisionConfig(_Section):
    """From scores to an answer."""

    temperature: float = Field(0.04, gt=0, description="as for evidence, but as sure as pairs are right")
    even: float = Field(0.15, description="score of a lone pair that is as likely as not to be none")
    accept: float = Field(
        0.5, ge=0, le=1, description="confidence from which a pair is accepted, not only shown"
    )
    precision: float = Field(
        0.9, ge=0, le=1, description="share of accepted pairs that has to be right, by their confidence"
    )
    assignment: Literal["mutual", "exact"] = Field(
        "mutual", description="each other's best are accepted, or the one-to-one pairs of highest total score"
    )


class Config(_Section):
    """Everything that influences the answer, besides the input."""

    seed: int = Field(0, ge=0, description="root of all randomness")
    without: tuple[Part, ...] = Field((), description="parts switched off, for ablations")
    names: NamesConfig = NamesConfig()
    augmentation: AugmentationConfig = AugmentationConfig()
    partition: PartitionConfig = PartitionConfig()
    structure: StructureConfig = StructureConfig()
    evidence: EvidenceConfig = EvidenceConfig()
    fusion: FusionConfig = FusionConfig()
    decision: DecisionConfig = DecisionConfig()

    def uses(self, part: Part) -> bool:
        """Whether a part of the method is switched on."""
        if part == "structure" and self.structure.model == "none":
            return False
        if part == "evidence" and (self.evidence.rounds == 0 or "structure" in self.without):
            return False
        return part not in self.without

    def to_toml(self) -> str:
        """As a TOML document that `load` reads back to the same configuration."""
        values = self.model_dump()
        top = [_toml_line(key, value) for key, value in values.items() if not isinstance(value, dict)]
        for section, content in values.items():
            if isinstance(content, dict):
                top += ["", f"[{section}]", *(_toml_line(key, value) for key, value in content.items())]
        return "\n".join(top) + "\n"


_PAPER: dict[str, Any] = {
    "names": {"encoder": "bert:minilm", "metric": "manhattan", "lexical": 0.0, "gamma": 0.05, "aliases": 0},
    "augmentation": {"margin": 0.0},
    "evidence": {"rounds": 0},
    "fusion": {"csls": 0},
}
"""The paper's settings, but for an encoder whose weights come in a package: mBERT is one setting away."""

PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "largeea-r": _PAPER | {"structure": {"model": "rrea"}},
    "largeea-g": _PAPER | {"structure": {"model": "gcn-align"}},
}


def load(
    preset: str = "default",
    file: Path | None = None,
    settings: tuple[str, ...] = (),
    **overrides: Any,
) -> Config:
    """A configuration from a preset, then a TOML file, then `key=value` settings, then keyword overrides.

    Example: `load("default", settings=("names.top_k=20",), seed=7)`.
    """
    if preset not in PRESETS:
        raise UsageError(f"unknown preset {preset!r}; known: {', '.join(PRESETS)}")
    values = _merged({}, PRESETS[preset])
    if file is not None:
        values = _merged(values, _read_toml(file))
    for setting in settings:
        values = _merged(values, _parse_setting(setting))
    values = _merged(values, {key: value for key, value in overrides.items() if value is not None})
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise UsageError(_explain(error)) from None


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is not a TOML file: {error}", path) from None


def _parse_setting(setting: str) -> dict[str, Any]:
    key, equals, text = setting.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"--set needs key=value, for example names.top_k=20; got {setting!r}")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
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
