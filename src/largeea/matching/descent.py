"""The minimum of a smooth function of a few bounded variables.

Ours, because scipy's L-BFGS-B takes several times as long for so few: the threads of its linear algebra wait
for each other, and importing it takes a tenth of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from largeea.graph import Float64

MOST_STEPS, MOST_HALVINGS = 500, 40
LEAST_SLOPE, LEAST_GAIN = 1e-5, 1e-9
"""Derivatives that count as 0, and the share of the value that a step has to gain for another one."""
ENOUGH = 1e-4
"""Of the gain that the slope promises, the share that a step has to bring."""
Bounds = Sequence[tuple[float | None, float | None]]


def minimise(loss: Callable[[Float64], tuple[float, Float64]], start: Float64, bounds: Bounds) -> Float64:
    """Return the point with the least loss that can be reached downhill from `start`, within bounds, `[n]`.

    `loss(point)` returns a value and its derivatives, `[n]`; None stands for no bound. Projected steps by
    BFGS (Nocedal, Wright, Numerical Optimization, 2006): variables at a bound that the slope leads out of
    stay there.
    """
    low = np.array([-np.inf if bound is None else bound for bound, _ in bounds])
    high = np.array([np.inf if bound is None else bound for _, bound in bounds])
    point = np.clip(start, low, high)
    value, slope = loss(point)
    inverse = np.eye(len(point)) / max(1.0, float(np.abs(slope).max()))
    for number in range(MOST_STEPS):
        free = ~((point <= low) & (slope > 0)) & ~((point >= high) & (slope < 0))
        if not free.any() or np.abs(slope[free]).max() < LEAST_SLOPE:
            break
        step = np.where(free, -inverse @ np.where(free, slope, 0), 0)
        for _ in range(MOST_HALVINGS):
            there = np.clip(point + step, low, high)
            found, slope_there = loss(there)
            if found <= value + ENOUGH * slope @ (there - point):
                break
            step /= 2
        else:
            break
        moved, gain = there - point, value - found
        turned = np.where(moved != 0, slope_there - slope, 0)
        point, value, slope = there, found, slope_there
        if gain <= LEAST_GAIN * max(abs(value), 1.0):
            break
        if (along := float(moved @ turned)) > 0:
            if not number:
                inverse = np.eye(len(point)) * along / (turned @ turned)
            back = np.eye(len(point)) - np.outer(moved, turned) / along
            inverse = back @ inverse @ back.T + np.outer(moved, moved) / along
    return point
