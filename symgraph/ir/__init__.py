"""The graph and what is known of it: operations, nodes, types, facts, cost, and the interpreter."""
