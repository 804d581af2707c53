"""symgraph: gradients as graphs people can read, simplified to closed form, and run fast.

    trace  →  gradient  →  simplify  →  checkpoint  →  lower
"""
