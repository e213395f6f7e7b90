"""Literals as evidence: also values that are only similar, of properties that are learnt to correspond."""

from largeea.evidence.attributes.evidence import literal_evidence
from largeea.evidence.attributes.propose import propose_by_values
from largeea.evidence.attributes.support import literal_support
from largeea.evidence.attributes.values import attribute_values

__all__ = ["attribute_values", "literal_evidence", "literal_support", "propose_by_values"]
