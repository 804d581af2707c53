"""How operations are written: signs, calls and formulas, as records of operations name them."""
