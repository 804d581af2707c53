"""The reference of `symgraph.numpy` and `symgraph.scipy`: the docstring of each function.

The files beside this one say what each parameter means and give an example of each function.
`docstrings` joins these with the facts of the operation's record: its summary, its operands, the
dtype of its result. A section that stands in a function's own docstring is kept as it is.
"""
