"""`python -m largeea`: the same as the command `largeea`."""

from largeea.cli import main

main()
