"""symgraph: gradients as graphs people can read, simplified to closed form, and run fast.

trace  →  gradient  →  simplify  →  checkpoint  →  lower
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .ir.collector import collector_paused as _collector_paused

# Imports make many objects and no garbage: with the collector they take a tenth longer.
with _collector_paused():
    # `x.__array_namespace__()` is this module, so it is there as soon as arrays are.
    from . import numpy as _numpy  # noqa: F401  # pyright: ignore[reportUnusedImport]
    from . import random
    from .array import Array, constant
    from .array.eager import eager as _eager
    from .array.type_tests import TypeTestWarning
    from .autodiff.implicit.conjugate_gradients import cg as _cg
    from .autodiff.implicit.fixed_point import fixed_point as _fixed_point
    from .autodiff.implicit.fixed_point import root as _root
    from .capture.retraces import RetraceWarning, SideEffectWarning
    from .errors import (
        BackendError,
        ConvergenceError,
        DTypeError,
        ExpressionError,
        FactError,
        FormatError,
        InputError,
        MemoryBudgetError,
        NonFiniteError,
        NotDifferentiable,
        RewriteError,
        RewriteLoopError,
        RuleError,
        ShapeError,
        SymgraphError,
        TraceError,
        VerifyError,
    )
    from .facts import (
        Fact,
        antisymmetric,
        diagonal,
        finite,
        integer_valued,
        interval,
        negative,
        nonnegative,
        nonpositive,
        nonzero,
        one_hot,
        orthogonal,
        positive,
        positive_definite,
        simplex,
        symmetric,
        triangular,
        unique,
        unit_norm,
    )
    from .graph import Graph, SimplifyInterrupted, diff, side_by_side
    from .graph.cache import CACHE as cache
    from .graph.loading import load
    from .graph.sympy_import import from_sympy
    from .graph.tracing import Spec, UnusedInputWarning, graph, spec, trace
    from .ir.dag import Dag
    from .ir.naming import name, scope
    from .ir.node import Node
    from .ir.progress import Progress
    from .ir.scope import CaughtErrorWarning
    from .lazy import lazy_getattr as _lazy_getattr
    from .ops.branches import cond as _cond
    from .ops.clipping import clip_by_global_norm, clip_by_norm, clip_by_value, global_norm
    from .ops.creation import input
    from .ops.custom import custom_op
    from .ops.custom_vjp import custom_vjp
    from .ops.iteration import while_loop as _while_loop
    from .ops.loops import fori_loop as _fori_loop
    from .ops.loops import scan as _scan
    from .other_names import INSTEAD as _INSTEAD
    from .rewriting import default_rules
    from .saturation import SaturationBounds
    from .transforms import grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp
    from .transforms.objective import FlatObjective, flat_objective
    from .transforms.vmap import vmap

__version__ = "0.1.0"


# Given numbers alone they run at once, as the functions of symgraph.numpy do.
cg = _eager(_cg, nested=True)
cond = _eager(_cond, nested=True)
fixed_point = _eager(_fixed_point, nested=True)
fori_loop = _eager(_fori_loop, nested=True)
root = _eager(_root, nested=True)
scan = _eager(_scan, nested=True)
while_loop = _eager(_while_loop, nested=True)

if TYPE_CHECKING:
    from .frontends.jax import from_jax
    from .frontends.onnx import from_onnx, onnx_parameters
    from .frontends.torch import from_torch

__all__ = [
    "Array",
    "BackendError",
    "CaughtErrorWarning",
    "ConvergenceError",
    "DTypeError",
    "Dag",
    "ExpressionError",
    "Fact",
    "FactError",
    "FlatObjective",
    "FormatError",
    "Graph",
    "InputError",
    "MemoryBudgetError",
    "Node",
    "NonFiniteError",
    "NotDifferentiable",
    "Progress",
    "RetraceWarning",
    "RewriteError",
    "RewriteLoopError",
    "RuleError",
    "SaturationBounds",
    "ShapeError",
    "SideEffectWarning",
    "SimplifyInterrupted",
    "Spec",
    "SymgraphError",
    "TraceError",
    "TypeTestWarning",
    "UnusedInputWarning",
    "VerifyError",
    "antisymmetric",
    "cache",
    "cg",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "cond",
    "constant",
    "custom_op",
    "custom_vjp",
    "default_rules",
    "diagonal",
    "diff",
    "finite",
    "fixed_point",
    "flat_objective",
    "fori_loop",
    "from_jax",
    "from_onnx",
    "from_sympy",
    "from_torch",
    "global_norm",
    "grad",
    "graph",
    "hessian",
    "hvp",
    "input",
    "integer_valued",
    "interval",
    "jacobian",
    "jvp",
    "load",
    "name",
    "negative",
    "nonnegative",
    "nonpositive",
    "nonzero",
    "one_hot",
    "onnx_parameters",
    "orthogonal",
    "positive",
    "positive_definite",
    "random",
    "root",
    "scan",
    "scope",
    "side_by_side",
    "simplex",
    "spec",
    "symmetric",
    "trace",
    "triangular",
    "unique",
    "unit_norm",
    "value_and_grad",
    "vjp",
    "vmap",
    "while_loop",
]


def __dir__() -> list[str]:
    """The public names; submodules are reached by import."""
    return sorted([*__all__, *[name for name in globals() if name.startswith("__")]])


# Their tables of operators take time to load.
__getattr__ = _lazy_getattr(
    __name__,
    _INSTEAD,
    from_jax="frontends.jax",
    from_onnx="frontends.onnx",
    from_torch="frontends.torch",
    onnx_parameters="frontends.onnx",
)
