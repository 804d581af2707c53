"""`python -m symgraph` is the command `symgraph`."""

import sys

from .cli import main

__all__: list[str] = []

if __name__ == "__main__":
    sys.exit(main())
