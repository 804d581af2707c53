"""Graphs as text, Graphviz DOT, SVG pictures and Python source, one format a file."""
