"""The name channel: similarity of entities by their names (`M_n`)."""
