"""Name channel: who is called alike."""
