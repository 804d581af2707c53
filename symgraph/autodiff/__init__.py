"""Derivatives as graphs: reverse mode appends the adjoint nodes to the DAG that holds the forward ones."""
