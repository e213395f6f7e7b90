"""The typed configuration of the whole method, its presets, and reading and writing it as TOML."""

from __future__ import annotations

from largeea.config.answer import DecisionConfig, EvidenceConfig, FusionConfig
from largeea.config.channels import AugmentationConfig, NamesConfig, PartitionConfig, StructureConfig
from largeea.config.presets import PRESETS, as_config, load
from largeea.config.renamed import MOVED, RENAMED, REPLACED
from largeea.config.settings import PARTS, Config, Part

__all__ = [
    "MOVED",
    "PARTS",
    "PRESETS",
    "RENAMED",
    "REPLACED",
    "AugmentationConfig",
    "Config",
    "DecisionConfig",
    "EvidenceConfig",
    "FusionConfig",
    "NamesConfig",
    "Part",
    "PartitionConfig",
    "StructureConfig",
    "as_config",
    "load",
]
