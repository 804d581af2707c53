"""Functions that are one ONNX operator, which means the same for floating-point numbers.

Both directions read this table: what writes a model, and what reads one.
"""

from __future__ import annotations

__all__ = ["SAME_OF_FLOATS"]

SAME_OF_FLOATS: dict[str, str] = {
    "reciprocal": "Reciprocal",
    "sqrt": "Sqrt",
    "rint": "Round",
    "exp": "Exp",
    "log": "Log",
    "sin": "Sin",
    "cos": "Cos",
    "tan": "Tan",
    "arcsin": "Asin",
    "arccos": "Acos",
    "arctan": "Atan",
    "sinh": "Sinh",
    "cosh": "Cosh",
    "tanh": "Tanh",
    "arcsinh": "Asinh",
    "arccosh": "Acosh",
    "arctanh": "Atanh",
}
"""NumPy's name, and ONNX's."""
