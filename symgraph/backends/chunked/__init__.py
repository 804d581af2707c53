"""Graphs on batches that are cut into chunks: which values are rows, which are sums over them.

`placement` says which each node is, or refuses the graph; `stages` makes the programs that run on
each chunk and between the reductions. Nothing here knows where they run.
"""
