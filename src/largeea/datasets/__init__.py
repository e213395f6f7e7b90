"""Data sets: the built-in demo pair, and what reads, builds or writes whole benchmarks."""
