"""`python -m kinema`."""

from kinema.cli import main

main()
