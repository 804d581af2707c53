"""The local page of `symgraph serve`: a server for this machine alone, and the page it shows.

The room knows HTTP and processes. The command gives the function that answers a question.
"""

from .server import PageServer

__all__ = ["PageServer"]
