"""Loops of machine code: groups of elementwise operations and reductions, compiled by LLVM."""
