"""``python -m topkit`` is the command line."""

from topkit.cli import main

main()
