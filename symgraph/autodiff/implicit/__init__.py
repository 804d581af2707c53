"""Derivatives of values that an equation defines."""
