"""How functions under SciPy's names are published, and the errors for names that are missing.

A room of its own, below `stats` and the modules beside it, so that these do not import one another
in a circle.
"""
