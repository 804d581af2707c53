"""`grad` and its kin as autograd has them: of the arguments at `argnum`, traced at each call.

A function that is given to autograd may read anything when it is called, so it is traced anew each
time. Inside another function that is being traced, what is given becomes a symbol of that one.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

import symgraph as sg
from symgraph.pytrees import flatten, tree_map, unflatten

from .excluded import internal, no_complex
from .numpynames import holds_symbol, is_symbol

__all__ = [
    "checkpoint",
    "deriv",
    "elementwise_grad",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "jacobian",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_vjp",
    "multigrad_dict",
    "tensor_jacobian_product",
    "value_and_grad",
    "vector_jacobian_product",
]

Function: TypeAlias = Callable[..., Any]

_depth = 0
"""How many functions are being traced now, one in the other."""


def _traced(fun: Function) -> Function:
    def call(x: Any) -> Any:
        global _depth
        _depth += 1
        try:
            return fun(x)
        finally:
            _depth -= 1

    call.__name__ = getattr(fun, "__name__", "fun")
    return call


def _given(x: Any) -> Any:
    """What a transform is called with: floats; inside another trace constants of that."""
    leaves, tree = flatten(x, by_parts=False)
    no_complex(leaves)
    return unflatten(tree, [_leaf(each) for each in leaves])


def _leaf(x: Any) -> Any:
    if is_symbol(x):
        return x
    array = np.asarray(x)
    if array.dtype.kind in "biu":
        array = array.astype(float)
    return sg.constant(array) if _depth else array


def _run(transform: Function, fun: Function, x: Any, **directions: Any) -> Any:
    if not flatten(x)[0]:
        fun(x)
        return x  # of nothing the gradient is nothing
    given = {key: _given(each) for key, each in directions.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sg.UnusedInputWarning)
        return transform(_traced(fun))(_given(x), **given)


def unary_to_nary(operator: Function) -> Function:
    """An operator on functions of one argument as one on functions of several, by `argnum`."""

    @functools.wraps(operator)
    def nary_operator(
        fun: Function, argnum: int | Sequence[int] = 0, *options: Any, **named: Any
    ) -> Function:
        chosen = None if isinstance(argnum, int) else tuple(argnum)
        first = argnum if isinstance(argnum, int) else 0

        @functools.wraps(operator)
        def nary(*operands: Any, **params: Any) -> Any:
            def unary(x: Any) -> Any:
                placed = dict(zip(chosen, x, strict=True)) if chosen is not None else {first: x}
                return fun(*[placed.get(i, each) for i, each in enumerate(operands)], **params)

            x = operands[first] if chosen is None else tuple([operands[i] for i in chosen])
            return operator(unary, x, *options, **named)

        name = getattr(fun, "__name__", "fun")
        nary.__name__ = f"{operator.__name__}_of_{name}_wrt_argnum_{argnum}"
        nary.__doc__ = f"    {operator.__name__} of function {name} with respect to {argnum}"
        return nary

    return nary_operator


@unary_to_nary
def grad(fun: Function, x: Any) -> Any:
    """Returns a function which computes the gradient."""
    return _run(sg.grad, lambda x: _scalar(fun(x)), x)


@unary_to_nary
def value_and_grad(fun: Function, x: Any) -> Any:
    """The value and the gradient."""
    return _run(sg.value_and_grad, lambda x: _scalar(fun(x)), x)


@unary_to_nary
def grad_and_aux(fun: Function, x: Any) -> Any:
    """The gradient, and what the function gives beside what is differentiated."""
    return _run(lambda f: sg.grad(f, has_aux=True), fun, x)


@unary_to_nary
def elementwise_grad(fun: Function, x: Any) -> Any:
    """The sum of each column of the Jacobian."""
    return _run(sg.grad, lambda x: np.sum(_as_array(fun(x))), x)


@unary_to_nary
def deriv(fun: Function, x: Any) -> Any:
    """The derivative with respect to a number, forward."""
    ones = np.ones(np.shape(x))
    return _run(sg.jvp, fun, x, tangent=ones)[1]


@unary_to_nary
def jacobian(fun: Function, x: Any) -> Any:
    """The Jacobian, of the shape of the result and then of the argument."""
    return _run(sg.jacobian, lambda x: _as_array(fun(x)), x)


def _jacobian_of(fun: Function) -> Function:
    return jacobian(fun)


@unary_to_nary
def hessian(fun: Function, x: Any) -> Any:
    """The Jacobian of the Jacobian."""
    return jacobian(_jacobian_of(fun))(x)


@unary_to_nary
def make_vjp(fun: Function, x: Any) -> Any:
    """The function from cotangents of the result to those of the argument, and the value."""
    return vjp_and_value(fun, x)


def vjp_and_value(fun: Function, x: Any) -> Any:
    def pullback(cotangent: Any) -> Any:
        return _run(sg.vjp, lambda x: tree_map(_floating, fun(x)), x, cotangent=cotangent)[1]

    return pullback, fun(x)


@unary_to_nary
def make_jvp(fun: Function, x: Any) -> Any:
    """The function from tangents to the value and its tangent."""
    return jvp_of_tangent(fun, x)


def jvp_of_tangent(fun: Function, x: Any) -> Any:
    return lambda tangent: _run(sg.jvp, fun, x, tangent=tangent)


@unary_to_nary
def make_hvp(fun: Function, x: Any) -> Any:
    """The function from vectors to the products of the Hessian with them, and the gradient."""
    return vjp_and_value(lambda x: grad(fun)(x), x)


def hessian_tensor_product(fun: Function, argnum: int = 0) -> Function:
    """The product of the Hessian with a tensor, which is the last argument."""
    slope = grad(fun, argnum)

    def dot(*operands: Any, **params: Any) -> Any:
        *rest, vector = operands
        return np.tensordot(slope(*rest, **params), vector, np.ndim(vector))

    return grad(dot, argnum)


hessian_vector_product = hessian_tensor_product


def tensor_jacobian_product(fun: Function, argnum: int = 0) -> Function:
    """The product of a tensor, which is the last argument, with the Jacobian."""

    def dot(*operands: Any, **params: Any) -> Any:
        *rest, vector = operands
        return np.tensordot(vector, fun(*rest, **params), axes=np.ndim(vector))

    return jacobian(dot, argnum)


vector_jacobian_product = tensor_jacobian_product


def make_ggnvp(
    f: Function, g: Function = lambda y: 0.5 * np.sum(y**2, axis=-1), f_argnum: int = 0
) -> Function:
    """Products with the generalized Gauss-Newton matrix J' H J."""

    @unary_to_nary
    def maker(fun: Function, x: Any) -> Any:
        def product(vector: Any) -> Any:
            value, tangent = jvp_of_tangent(fun, x)(vector)
            curved = vjp_and_value(lambda y: grad(g)(y), value)[0](tangent)
            return vjp_and_value(fun, x)[0](curved)

        return product

    return maker(f, f_argnum)


def grad_named(fun: Function, argname: str) -> Function:
    """The gradient with respect to an argument of this name."""
    return multigrad_dict(fun, (argname,), alone=True)


def multigrad_dict(fun: Function, names: Sequence[str] = (), *, alone: bool = False) -> Function:
    """The gradients with respect to all arguments, by name."""
    import inspect

    signature = inspect.signature(fun)

    def gradients(*operands: Any, **params: Any) -> Any:
        bound = signature.bind(*operands, **params)
        bound.apply_defaults()
        wanted = {key: bound.arguments[key] for key in names or bound.arguments}
        found = grad(lambda some: fun(**{**bound.arguments, **some}))(wanted)
        return found[names[0]] if alone else found

    return gradients


def checkpoint(fun: Function) -> Function:
    """The function itself: what is kept and what computed again is planned from the whole graph."""
    return fun


holomorphic_grad = internal("autograd.holomorphic_grad of complex numbers")


def kept_grad(fun: Function) -> Function:
    """As `grad`, traced once: of a function that makes no choices by numbers it is given."""
    transform = sg.grad(_traced(lambda x: _scalar(fun(x))))

    def gradient(x: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sg.UnusedInputWarning)
            return transform(_given(x))

    return gradient


def _scalar(value: Any) -> Any:
    """A number: autograd takes arrays of one element, too."""
    if is_symbol(value) and value.ndim and value.size == 1:
        return value.reshape(())
    return _as_array(value)


def _floating(value: Any) -> Any:
    """Truth values and whole numbers as floats, whose derivative is zero."""
    return value.astype(float) if is_symbol(value) and value.dtype.kind != "f" else value


def _as_array(value: Any) -> Any:
    if is_symbol(value):
        return value
    if holds_symbol(value):
        raise TypeError(f"The function gives {type(value).__name__}, where it is to give an array.")
    return sg.constant(np.asarray(value, float)) if _depth else np.asarray(value)
