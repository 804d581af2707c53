"""The backends that run lowered graphs: NumPy and JAX, and others by entry point."""
