"""Attacks on everything that reads, writes, listens or runs for hours; see `__main__`."""
