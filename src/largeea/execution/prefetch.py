"""Ask the processor to load what a compiled loop will read soon, so that random lookups wait less for memory.

LLVM has an instruction for this, numba has no function for it. On a machine without such an instruction
nothing happens. The address need not be valid, and results never depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

CACHE_LINE = 64
"""Bytes that a processor reads from memory at a time."""
_FOR_READING, _KEEP_IN_ALL_CACHES, _DATA = 0, 3, 1


@intrinsic
def _load_soon(typing: Any, address: Any) -> tuple[Any, Callable[..., Any]]:
    """Load the line of the cache at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        of_llvm = builder.module.declare_intrinsic(
            "llvm.prefetch",
            [pointer.type],
            ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number]),
        )
        how = (number(flag) for flag in (_FOR_READING, _KEEP_IN_ALL_CACHES, _DATA))
        builder.call(of_llvm, [pointer, *how])
        return context.get_dummy_value()

    return types.void(types.uintp), generate


@njit(cache=True, nogil=True, inline="always")
def prefetch(array: Any, index: int) -> None:
    """Load `array[index]`, or the beginning of this row, into the cache."""
    _load_soon(array.ctypes.data + index * array.strides[0])


@njit(cache=True, nogil=True, inline="always")
def prefetch_row(array: Any, index: int) -> None:
    """Load the row `array[index]`, whose numbers follow each other, into the cache."""
    start = array.ctypes.data + index * array.strides[0]
    for at in range(0, array.shape[1] * array.itemsize, CACHE_LINE):
        _load_soon(start + at)
