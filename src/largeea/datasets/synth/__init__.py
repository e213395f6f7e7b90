"""Synthetic twins of the paper's data sets: pairs of graphs of any size whose true links are known."""

from largeea.datasets.synth.folder import write_twin
from largeea.datasets.synth.pair import synthetic_pair
from largeea.datasets.synth.spec import TWINS, TwinSpec, find_twin

__all__ = ["TWINS", "TwinSpec", "find_twin", "synthetic_pair", "write_twin"]
