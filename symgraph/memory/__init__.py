"""How long values live, and which values to compute again so that a run fits a memory budget."""
