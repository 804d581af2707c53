"""Ways in from other engines: PyTorch's exported programs and JAX's functions become graphs.

Each engine has a room: a walk over the engine's program, and tables that say what each of its
operations is here. The engines are imported only when they are used.
"""
