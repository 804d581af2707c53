"""Where lowered graphs run: NumPy built in, others by entry point."""
