"""Passes: each is a function from outputs to outputs, or from a graph to a graph.

`simplify` runs most of them: before the rounds of rules and algebra, between rounds, and when
nothing else changes. Some run once when it ends (`symgraph.graph.stages`), and some when a program
is made (`program_graph`, `unmasked`).
"""
