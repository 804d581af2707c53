"""The `symgraph` command: derive gradients of expressions, run the demonstration, list the rules.

Exit codes: 0 all well, 1 a check failed, 2 bad usage or an expression that cannot be read.
"""

from .main import main

__all__ = ["main"]
