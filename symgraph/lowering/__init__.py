"""From a graph to a program: the order of steps, how long values live, what is computed again."""
