"""Derivatives as graphs: reverse mode appends adjoint nodes to the forward graph."""
