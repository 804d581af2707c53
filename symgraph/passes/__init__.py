"""Passes: each is a function from outputs to outputs, or from a graph to a graph."""
