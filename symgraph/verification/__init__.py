"""Whether a rule is true: tried on operands made from its guards, and proved where SymPy can."""
