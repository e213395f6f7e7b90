"""What a user restricts matching to: which entities are in scope, and which pairs are candidates."""

from largeea.constraints.blocking import candidate_rules, read_compatible
from largeea.constraints.scoping import as_scope, scoped

__all__ = ["as_scope", "candidate_rules", "read_compatible", "scoped"]
