"""Decisions of people about pairs of a run, kept in its folder as `reviews.tsv`."""

from largeea.reviews.decisions import Conflict, Decision, Kind, Pair, Reviews, Verdict
from largeea.reviews.log import FILE, ReviewLog, read_reviews

__all__ = [
    "FILE",
    "Conflict",
    "Decision",
    "Kind",
    "Pair",
    "ReviewLog",
    "Reviews",
    "Verdict",
    "read_reviews",
]
