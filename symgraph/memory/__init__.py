"""How long values live, and what to compute again so that a run fits a memory budget."""
