"""Graphs as text, LaTeX, Graphviz DOT, SVG pictures and Python source; one format a file."""
