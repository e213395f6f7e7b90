"""The best of some columns that come in any order."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.similarity.kernels import keep_best_in_any_order


@pytest.mark.parametrize("count", [0, 3, 5, 6, 40, 300])
@pytest.mark.parametrize("levels", [1, 3, 1000])
def test_the_highest_sums_are_kept_and_ties_go_to_smaller_columns(count: int, levels: int) -> None:
    random = np.random.default_rng(count + levels)
    columns = random.permutation(10_000_000)[:count].astype(np.int32)
    sums = random.integers(1, levels + 1, count).astype(np.float32) / 8
    ids, best = np.full(5, -1, np.int32), np.zeros(5, np.float32)
    keep_best_in_any_order(columns, sums, np.empty(count, np.float32), ids, best)
    expected = np.lexsort((columns, -sums))[:5]
    kept = ids >= 0
    assert dict(zip(ids[kept], best[kept], strict=True)) == dict(
        zip(columns[expected], sums[expected], strict=True)
    )
