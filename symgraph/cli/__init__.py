"""The `symgraph` command: derive gradients of expressions, run the demonstration, list the rules.

Exit codes: 0 for success, 1 if a check failed, 2 for bad usage or an expression that is not valid.
"""

from .main import main

__all__ = ["main"]
