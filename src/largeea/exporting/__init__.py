"""What a finished run has found, as Parquet or NumPy files for other tools."""

from largeea.exporting.kinds import KINDS, export

__all__ = ["KINDS", "export"]
