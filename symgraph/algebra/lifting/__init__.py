"""From the operations of a graph to expressions."""
