"""Data sets: the built-in demo pair, published benchmarks, the DBP1M builder and synthetic twins."""
