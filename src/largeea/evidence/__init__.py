"""Beyond the paper: what neighbours, literals and surroundings say, and training on one's own findings."""

from largeea.evidence.combine import Channels, combined, likelihood, matched, witnessed
from largeea.evidence.rounds import SelfTraining

__all__ = ["Channels", "SelfTraining", "combined", "likelihood", "matched", "witnessed"]
