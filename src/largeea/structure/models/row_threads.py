"""Compiled kernels over rows, on all threads of a training."""

from __future__ import annotations

from typing import Any

import torch

from largeea.execution.jobs import over_rows

_LEAST_ROWS = 256


def run_on_rows(kernel: Any, rows: int, *arguments: Any) -> None:
    """`kernel(first, last, *arguments)` over all rows, on all threads."""
    arrays = [a.detach().numpy() if isinstance(a, torch.Tensor) else a for a in arguments]
    over_rows(kernel, rows, *arrays, least=_LEAST_ROWS)
