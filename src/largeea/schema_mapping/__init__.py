"""A mapping of two schemas: which relations, attributes and classes of a finished run's graphs correspond."""

from largeea.schema_mapping.correspondences import MIN_CONFIDENCE, schema_mapping
from largeea.schema_mapping.model import Correspondence
from largeea.schema_mapping.sssom import write_sssom

__all__ = ["MIN_CONFIDENCE", "Correspondence", "schema_mapping", "write_sssom"]
