"""Experiments: measure the method on benchmarks and write tables, plots and pages."""
