"""From expressions back to operations: ways to write them, and the cheapest."""
