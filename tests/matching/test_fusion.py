"""Channels become one matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.matching.fusion import (
    Channels,
    fuse,
    match,
    stretched,
    weighted_sum,
    with_lowest_floor,
)
from largeea.matching.sinkhorn import sinkhorn
from largeea.similarity import Similarity

SHAPE = (3, 4)


def similarity(entries: dict[tuple[int, int], float], floor: float = 0.0) -> Similarity:
    rows, columns = zip(*entries, strict=True)
    return Similarity.from_entries(rows, columns, list(entries.values()), SHAPE, floor)


NAMES = similarity({(0, 0): 0.9, (0, 1): 0.5, (1, 1): 0.1, (2, 3): 0.3})
STRUCTURE = similarity({(0, 1): 0.84, (0, 2): 0.80, (1, 1): 0.82, (2, 2): 0.90})
BOTH: Channels = {"structure": STRUCTURE, "name": NAMES}


def test_the_sum_is_the_papers() -> None:
    found = fuse(BOTH, "sum", 0)
    np.testing.assert_allclose(found.to_dense(), NAMES.to_dense() + STRUCTURE.to_dense(), rtol=1e-6)


def test_one_channel_stays_as_it_is() -> None:
    np.testing.assert_array_equal(fuse({"name": NAMES}, "sum", 0).to_dense(), NAMES.to_dense())


def test_calibrated_channels_count_the_same() -> None:
    """Structure has .80 for its worst candidate: that says no more than not to know it at all."""
    found = fuse(BOTH, "calibrated", 0).to_dense()
    np.testing.assert_allclose(found[0], [1.0, 0.5 + 0.4, 0.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(found[2], [0.0, 0.0, 1.0, 0.25], atol=1e-6)
    by_sum = fuse(BOTH, "sum", 0).to_dense()
    assert by_sum[0].argmax() == 1
    assert found[0].argmax() == 0


@settings(deadline=None, max_examples=80, database=None, derandomize=True)
@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=8), st.floats(0.1, 5), st.floats(0, 3))
def test_calibration_does_not_see_scale_and_offset(scores: list[float], factor: float, offset: float) -> None:
    columns = np.arange(len(scores))
    one, other = (
        Similarity.from_entries(np.zeros(len(scores)), columns, values, (1, 8), 0.0)
        for values in (np.array(scores), np.array(scores) * factor + offset)
    )
    if np.ptp(other.scores) < 1e-3:
        return
    np.testing.assert_allclose(stretched(one).scores, stretched(other).scores, atol=1e-2)
    assert stretched(one).scores.min() == 0
    assert stretched(one).scores.max() == pytest.approx(1)


@pytest.mark.parametrize("method", ["sum", "calibrated"])
@pytest.mark.parametrize("csls", [0, 1, 10])
def test_channels_that_know_nothing_or_say_the_same_of_all(method: str, csls: int) -> None:
    empty = Similarity.empty(SHAPE)
    assert len(fuse({"a": empty, "b": empty}, method, csls)) == 0
    level = similarity({(0, 0): 0.7, (1, 1): 0.7})
    assert np.isfinite(fuse({"a": empty, "b": level}, method, csls).scores).all()
    assert fuse({"a": level, "b": NAMES}, method, csls).best()[0][0] == 0


def test_an_unkept_neighbour_counts_as_the_worst_kept_in_local_scaling() -> None:
    """Source 0 is as near to target 1, known to all, as to target 0, known to no one else."""
    near = similarity({(0, 0): 0.80, (0, 1): 0.81, (1, 1): 0.70, (2, 1): 0.70})
    assert near.csls(3).best()[0][0] == 0
    dense = np.where(near.to_dense() > 0, near.to_dense(), np.float32(0.70))
    by_source = np.sort(dense, axis=1)[:, -3:].mean(axis=1)
    by_target = np.sort(dense, axis=0)[-3:].mean(axis=0)
    expected = 2 * dense - by_source[:, None] - by_target
    found = fuse({"name": near}, "sum", 3)
    np.testing.assert_allclose(found.scores, expected[found.rows, found.indices], atol=1e-6)
    assert with_lowest_floor(near).to_dense().min() == np.float32(0.70)


# With evidence


def test_a_weighted_sum_is_what_dense_matrices_give() -> None:
    weights = {"structure": 0.5}
    expected = 0.5 * STRUCTURE.to_dense() + NAMES.to_dense()
    np.testing.assert_allclose(weighted_sum(BOTH, weights, 50).to_dense(), expected, rtol=1e-6)
    assert [len(weighted_sum(BOTH, weights, 1).row(source)[0]) for source in range(3)] == [1, 1, 1]


def test_a_channel_of_no_weight_is_left_out() -> None:
    found = weighted_sum(BOTH, {"structure": 0.0}, 50)
    np.testing.assert_array_equal(found.to_dense(), NAMES.to_dense())
    assert len(weighted_sum(BOTH, {"structure": 0.0, "name": 0.0}, 50)) == 0


def test_the_matching_is_drawn_from_the_weighted_sum() -> None:
    weights = {"structure": 0.5}
    found = match(BOTH, weights, 2, 0.05, 0.2, 30)
    expected = sinkhorn(weighted_sum(BOTH, weights, 2), 0.05, 0.2, 30)
    np.testing.assert_array_equal(found.to_dense(), expected.to_dense())
    assert found.to_dense().sum(axis=1).max() <= 1 + 1e-5
