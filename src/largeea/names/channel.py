"""The name channel: which entities are called alike (`M_n`)."""

from __future__ import annotations

from largeea.config import NamesConfig
from largeea.graph import Task
from largeea.names.labels import normalised
from largeea.names.ngrams import tfidf
from largeea.search import sparse_top_k
from largeea.similarity import Similarity


def name_channel(task: Task, config: NamesConfig) -> Similarity:
    """`M_n`: for each source entity the `top_k` targets with the most similar names."""
    source, target = normalised(task.source.names), normalised(task.target.names)
    vectors = tfidf(source, target, config.shortest_gram, config.longest_gram)
    return Similarity.from_top_k(*sparse_top_k(*vectors, config.top_k), task.target.size)
