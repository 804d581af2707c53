"""Sums of products over named indices: terms, the atoms in them, numbers, names of indices."""
