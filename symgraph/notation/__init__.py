"""The notation of operations as text, LaTeX and source. Records of operations name it."""
