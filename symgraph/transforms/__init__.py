"""Functions made from functions: gradients, Jacobians, Hessians, their products, and batches."""

from .functions import grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp
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
