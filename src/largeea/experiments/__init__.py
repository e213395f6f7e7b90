"""Measuring the method on benchmarks."""
