"""The backends that run lowered graphs: NumPy, JAX and torch, and others by entry point."""
