"""Random functions of arrays, valid by construction, for differential tests.

A random function is a `Program`: inputs and a list of lines of NumPy source. The same text runs on
NumPy, on symbolic arrays, and on independent autodiff packages, and is printed when a test fails.
"""

from .generate import random_program
from .large import chain, random_function
from .namespaces import AUTOGRAD, JAX, NUMPY, SYMGRAPH, TORCH
from .networks import NETWORKS, attending, normalised, residual
from .program import Input, Line, Program
from .shrink import shrunk
from .traced import closed, random_gradient, traced_program

__all__ = [
    "AUTOGRAD",
    "JAX",
    "NETWORKS",
    "NUMPY",
    "SYMGRAPH",
    "TORCH",
    "Input",
    "Line",
    "Program",
    "attending",
    "chain",
    "closed",
    "normalised",
    "random_function",
    "random_gradient",
    "random_program",
    "residual",
    "shrunk",
    "traced_program",
]
