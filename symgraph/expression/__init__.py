"""Expressions as text: turns `-sum(p*log(softmax(z)))` into a graph without evaluating it.

A walk over Python's syntax tree knows a closed list of node kinds and a closed table of functions.
It refuses everything else, and points at the column. Nothing is evaluated, imported or looked up by
attribute. The walk is a loop, so only Python's parser bounds the depth.
"""

from .calls import functions
from .facts import parse_fact
from .parse import parse
from .syntax import LONGEST

__all__ = ["LONGEST", "functions", "parse", "parse_fact"]
