"""Minima of functions of a few bounded variables, known or found by scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from largeea.graph import Float64
from largeea.matching.descent import Bounds, minimise


def valley(point: Float64) -> tuple[float, Float64]:
    """Rosenbrock's function: a bent valley with its lowest point at (1, 1)."""
    x, y = point
    slope = np.array([-2 * (1 - x) - 400 * x * (y - x**2), 200 * (y - x**2)])
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2, slope


def test_the_end_of_a_bent_valley_is_found() -> None:
    found = minimise(valley, np.array([-1.2, 1.0]), [(None, None)] * 2)
    np.testing.assert_allclose(found, [1, 1], atol=1e-4)


@pytest.mark.parametrize(
    "bounds", [[(None, 0.5), (None, None)], [(1.5, None), (None, None)], [(0.25, 0.25), (0.0, 1.0)]]
)
def test_bounds_hold_as_in_scipy(bounds: Bounds) -> None:
    start = np.array([-1.2, 2.0])
    found = minimise(valley, start, bounds)
    expected = minimize(valley, start, jac=True, method="L-BFGS-B", bounds=bounds, tol=1e-12)
    assert valley(found)[0] == pytest.approx(expected.fun, abs=1e-6)
    np.testing.assert_allclose(found, expected.x, atol=1e-3)


def test_a_variable_at_its_bound_does_not_lead_the_others_astray() -> None:
    """The slope of the third one changes on the way: 3,775 evaluations ended far from the minimum."""
    asked = 0

    def loss(point: Float64) -> tuple[float, Float64]:
        nonlocal asked
        asked += 1
        value, (of_x, of_y) = valley(point[:2])
        x, y, z = point
        weight = 3000 + 300 * x - 300 * y
        return value + z * weight, np.array([of_x + 300 * z, of_y - 300 * z, weight])

    found = minimise(loss, np.array([-1.2, 1.0, 0.5]), [(-2.0, 2.0), (-4.0, 4.0), (0.0, 30.0)])
    np.testing.assert_allclose(found, [1, 1, 0], atol=1e-4)
    assert asked < 100


@pytest.mark.parametrize("seed", range(10))
def test_regressions_end_as_in_scipy(seed: int) -> None:
    random = np.random.default_rng(seed)
    features, slopes = random.normal(size=(500, 5)) * [1, 5, 0.1, 1, 1], random.normal(size=5)
    sign = np.where(random.random(500) < 1 / (1 + np.exp(-features @ slopes)), 1.0, -1.0)

    def loss(point: Float64) -> tuple[float, Float64]:
        margin = sign * (features @ point)
        pull = -sign / (1 + np.exp(margin))
        return float(np.logaddexp(0, -margin).sum() + point @ point / 10), features.T @ pull + point / 5

    bounds: Bounds = [(0.0, 2.0)] * 3 + [(None, None)] * 2
    expected = minimize(loss, np.full(5, 0.5), jac=True, method="L-BFGS-B", bounds=bounds, tol=1e-12)
    found = minimise(loss, np.full(5, 0.5), bounds)
    assert loss(found)[0] == pytest.approx(expected.fun, rel=1e-7)
    np.testing.assert_allclose(found, expected.x, atol=2e-3)


def test_a_start_at_the_minimum_stays() -> None:
    assert minimise(valley, np.array([1.0, 1.0]), [(None, None)] * 2).tolist() == [1, 1]
