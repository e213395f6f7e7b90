"""The structure channel (M_s): compares entities by the triples they take part in."""
