"""Polynomials and their quotients, by one arithmetic of sums, products and quotients."""
