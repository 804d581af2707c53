"""Derivatives as graphs: reverse mode appends adjoint nodes to the DAG of the forward ones."""
