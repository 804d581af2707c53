"""The verifier of rules: trials on operands made from the guards, and proofs by SymPy."""
