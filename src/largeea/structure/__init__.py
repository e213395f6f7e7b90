"""The structure channel: what the graphs' triples say about which entities are the same."""
