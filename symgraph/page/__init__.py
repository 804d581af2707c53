"""The local page of `symgraph serve`: a server for this machine alone, and the page it shows.

The room knows HTTP and processes. What a question means is a function that the command gives.
"""

from .server import PageServer

__all__ = ["PageServer"]
