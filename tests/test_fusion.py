"""Channels become one matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.config import FusionConfig
from largeea.fusion import fuse, stretched, tight
from largeea.similarity import Similarity

SHAPE = (3, 4)


def similarity(entries: dict[tuple[int, int], float], floor: float = 0.0) -> Similarity:
    rows, columns = zip(*entries, strict=True)
    return Similarity.from_entries(rows, columns, list(entries.values()), SHAPE, floor)


NAMES = similarity({(0, 0): 0.9, (0, 1): 0.5, (1, 1): 0.1, (2, 3): 0.3})
STRUCTURE = similarity({(0, 1): 0.84, (0, 2): 0.80, (1, 1): 0.82, (2, 2): 0.90})


def test_the_sum_is_the_papers() -> None:
    found = fuse([STRUCTURE, NAMES], FusionConfig(csls=0))
    np.testing.assert_allclose(found.to_dense(), NAMES.to_dense() + STRUCTURE.to_dense(), rtol=1e-6)


def test_one_channel_stays_as_it_is() -> None:
    np.testing.assert_array_equal(fuse([NAMES], FusionConfig(csls=0)).to_dense(), NAMES.to_dense())


def test_calibrated_channels_count_the_same() -> None:
    """Structure has .80 for its worst candidate: that says no more than not to know it at all."""
    found = fuse([STRUCTURE, NAMES], FusionConfig(csls=0, method="calibrated")).to_dense()
    np.testing.assert_allclose(found[0], [1.0, 0.5 + 0.4, 0.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(found[2], [0.0, 0.0, 1.0, 0.25], atol=1e-6)
    by_sum = fuse([STRUCTURE, NAMES], FusionConfig(csls=0)).to_dense()
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
    config = FusionConfig(method=method, csls=csls)  # type: ignore[arg-type]
    empty = Similarity.empty(SHAPE)
    assert len(fuse([empty, empty], config)) == 0
    level = similarity({(0, 0): 0.7, (1, 1): 0.7})
    assert np.isfinite(fuse([empty, level], config).scores).all()
    assert fuse([level, NAMES], config).best()[0][0] == 0


def test_an_unkept_neighbour_counts_as_the_worst_kept_in_local_scaling() -> None:
    """Source 0 is as near to target 1, known to all, as to target 0, known to no one else."""
    near = similarity({(0, 0): 0.80, (0, 1): 0.81, (1, 1): 0.70, (2, 1): 0.70})
    assert near.csls(3).best()[0][0] == 0
    dense = np.where(near.to_dense() > 0, near.to_dense(), np.float32(0.70))
    by_source = np.sort(dense, axis=1)[:, -3:].mean(axis=1)
    by_target = np.sort(dense, axis=0)[-3:].mean(axis=0)
    expected = 2 * dense - by_source[:, None] - by_target
    found = fuse([near], FusionConfig(csls=3))
    np.testing.assert_allclose(found.scores, expected[found.rows, found.indices], atol=1e-6)
    assert tight(near).to_dense().min() == np.float32(0.70)
