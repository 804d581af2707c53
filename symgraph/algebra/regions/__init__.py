"""The walk over a graph: which nodes form a region, and what takes its place."""
