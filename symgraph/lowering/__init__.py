"""From a graph to a program: the order of steps, the life of values, reused buffers, and source."""
