"""Rules that only entities with a block in common may be paired."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.graph import Links
from largeea.matching.blocks import allowed_links, allowed_pairs, sets_of, stored_rules
from largeea.similarity import Similarity

blocks = st.lists(st.sets(st.integers(0, 4), max_size=3), min_size=1, max_size=6)


def sets(of: list[set[int]]):
    pairs = [(entity, block) for entity, some in enumerate(of) for block in some] * 2
    entity, block = np.array(pairs, np.int32).reshape(-1, 2).T
    return sets_of(entity, block, len(of))


@settings(deadline=None)
@given(st.lists(st.tuples(blocks, blocks), min_size=1, max_size=2), st.data())
def test_a_pair_is_kept_if_its_ends_share_a_block_or_one_has_none(rules, data):
    shape = min(len(ours) for ours, _ in rules), min(len(theirs) for _, theirs in rules)
    rules = [(ours[: shape[0]], theirs[: shape[1]]) for ours, theirs in rules]
    stored = stored_rules([(sets(ours), sets(theirs)) for ours, theirs in rules])
    every = np.stack(np.meshgrid(range(shape[0]), range(shape[1]), indexing="ij"), -1).reshape(-1, 2)
    chosen = every[data.draw(st.lists(st.booleans(), min_size=len(every), max_size=len(every)))]
    expected = [
        [s, t]
        for s, t in chosen.tolist()
        if all(not ours[s] or not theirs[t] or ours[s] & theirs[t] for ours, theirs in rules)
    ]
    matrix = Similarity.from_entries(chosen[:, 0], chosen[:, 1], np.ones(len(chosen)), shape)
    kept = allowed_pairs(matrix, None, stored)
    assert np.column_stack([kept.rows, kept.indices]).tolist() == expected
    links = Links(chosen)
    assert links.pairs[allowed_links(links, stored)].tolist() == expected


def test_forbidden_pairs_and_rules_together():
    matrix = Similarity.from_entries([0, 0, 1], [0, 1, 1], [1, 1, 1], (2, 2))
    rule = sets([{1}, {2}]), sets([{1}, {2}])
    kept = allowed_pairs(matrix, Links(np.array([[1, 1]])), stored_rules([rule]))
    assert kept.to_dense().tolist() == [[1, 0], [0, 0]]
    assert allowed_pairs(matrix, None, None) is matrix
