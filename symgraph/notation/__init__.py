"""The notation of operations as text, LaTeX and source, which their records name."""
