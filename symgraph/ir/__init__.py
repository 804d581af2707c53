"""The graph: operations, nodes, types, facts, cost, and the interpreter."""
