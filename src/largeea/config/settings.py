"""`Config`: all settings of the method."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from largeea.config.answer import DecisionConfig, EvidenceConfig, FusionConfig
from largeea.config.base import Section
from largeea.config.channels import AugmentationConfig, NamesConfig, PartitionConfig, StructureConfig
from largeea.config.toml import to_toml

Part = Literal["structure", "names", "augmentation", "sens", "strings", "evidence"]
PARTS: tuple[Part, ...] = get_args(Part)
"""Parts of the method that can be switched off."""


class Config(Section):
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
        return to_toml(self.model_dump())
