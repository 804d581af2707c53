"""Functions made from functions: gradients, Jacobians, Hessians, their products, and batches."""

from .directional import hvp, jvp, vjp
from .functions import grad, hessian, jacobian, value_and_grad
from .objective import FlatObjective, flat_objective
from .vmap import vmap

__all__ = [
    "FlatObjective",
    "flat_objective",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "value_and_grad",
    "vjp",
    "vmap",
]
