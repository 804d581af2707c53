"""Polynomials and quotients of polynomials, with one arithmetic for both."""
