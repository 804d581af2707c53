"""Expressions as text: `-sum(p*log(softmax(z)))` read into a graph, without evaluating anything.

A walk over Python's syntax tree that knows a closed list of node kinds and a closed table of
functions; whatever is not on the list is refused at its column. Nothing is evaluated, imported or
looked up by attribute. The walk is a loop, so depth is bounded by what Python's own parser takes.
"""

from .calls import functions
from .facts import parse_fact
from .parse import parse
from .syntax import LONGEST

__all__ = ["LONGEST", "functions", "parse", "parse_fact"]
