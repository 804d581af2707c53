"""Expressions in normal form: identities, products, sums, powers, exponentials and logarithms."""
