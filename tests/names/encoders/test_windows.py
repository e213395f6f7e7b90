from __future__ import annotations

import numpy as np

from largeea.names.encoders.windows import convolve, distinct_windows, standardise, sums_of_runs

EMPTY = 4
LINE = np.array([4, 4, 0, 1, 2, 0, 1, 4, 4, 0, 4, 4, 3, 4, 4, 0, 1, 4, 4, 0, 1, 2, 0, 1, 4, 4])
PLACES = np.flatnonzero(LINE != EMPTY)
SPANS = {2: (0, 2), 3: (-1, 2), 5: (-2, 3)}


def test_only_equal_windows_have_the_same_number() -> None:
    for size, (number, place) in distinct_windows(LINE, PLACES).items():
        windows = [tuple(LINE[p + SPANS[size][0] : p + SPANS[size][1]]) for p in PLACES]
        assert len(place) == len(set(windows))
        by_number = dict(zip(number[PLACES].tolist(), windows, strict=True))
        assert [by_number[n] for n in number[PLACES].tolist()] == windows
        assert number[place].tolist() == list(range(len(place)))
        assert set(np.delete(number, PLACES).tolist()) == {len(place)}


def test_convolution_from_products_equals_the_plain_one() -> None:
    rng = np.random.default_rng(0)
    width, size, left = 6, 3, 1
    rows = rng.normal(size=(EMPTY + 1, width)).astype(np.float32)
    rows[EMPTY] = 0
    weights = rng.normal(size=(size, width, width)).astype(np.float32)
    bias = rng.normal(size=width).astype(np.float32)
    out = np.full((len(PLACES), width + 2), 9, np.float32)
    convolve(out, 2, PLACES, LINE, left, rows @ np.hstack(list(weights)), rows, bias)
    for i, place in enumerate(PLACES):
        window = rows[LINE[place - left : place - left + size]]
        expected = np.maximum(bias + np.einsum("ki,kio->o", window, weights), 0) + rows[LINE[place]]
        np.testing.assert_allclose(out[i, 2:], expected, rtol=1e-5, atol=1e-5)
    assert (out[:, :2] == 9).all()


def test_standardised_rows() -> None:
    rows = np.random.default_rng(1).normal(3, 5, (4, 1280)).astype(np.float32)
    expected = (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, keepdims=True)
    standardise(rows, np.float32(1e-12))
    np.testing.assert_allclose(rows, expected, atol=1e-5)


def test_sums_of_runs() -> None:
    rows = np.arange(10, dtype=np.float32).reshape(5, 2)
    assert sums_of_runs(rows, np.array([0, 1, 1, 5])).tolist() == [[0, 1], [0, 0], [20, 24]]
