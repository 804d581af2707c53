"""Functions that NumPy lacks, written above the source that calls them.

Their source stands here as text, or is taken from the module that computes them. The source of a
kernel that a user gave is taken from the user's file, if the kernel surely needs nothing around it.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable, Collection
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ..namespace import voigt, windows
from .incomplete_source import OF_INCOMPLETE, source_of_slope

__all__ = ["HELPERS", "helpers_source", "source_of_function"]

# The text is run in any namespace, which need not have our methods: so it looks for JAX's `at`.
_SCATTER = """
def scatter_{which}(np, x, index, values):
    if hasattr(x, "at"):
        return x.at[index].{method}(values)
    result = np.array(x)
    {statement}
    return result

"""
# `np.add.at` of NumPy 2.4 repeats a row wrongly where the array has one axis.
_ADDED = """if result.ndim == 1 and not isinstance(index[-1], slice):
        values = np.broadcast_to(values, np.shape(index[-1]))
    np.add.at(result, index, values)"""
_RECURRENCE = """
def linear_recurrence(np, a, b):
    a, b = np.broadcast_arrays(a, b)
    found = [b[..., 0]] if b.shape[-1] else []
    for k in range(1, b.shape[-1]):
        found.append(a[..., k] * found[-1] + b[..., k])
    return np.stack(found, axis=-1) if found else b

"""
_TRIANGULAR = """
def solve_triangular(np, a, b, lower, trans, unit_diagonal):
    a = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        a = np.where(np.eye(a.shape[-1], dtype=bool), np.ones_like(a), a)
    return np.linalg.solve(np.swapaxes(a, -1, -2) if trans else a, b)

"""
# Higham (2005), "The scaling and squaring method for the matrix exponential revisited".
_EXPM = """
def expm(np, x):
    one = np.eye(x.shape[-1], dtype=x.dtype)
    size = np.max(np.sum(np.abs(x), axis=-2), initial=0.0)
    times = int(np.ceil(np.log2(size / 4))) if 4 < size < np.inf else 0
    a = x / 2**times
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    u = a6 @ (a6 + 16380.0 * a4 + 40840800.0 * a2) + 33522128640.0 * a6
    u = a @ (u + 10559470521600.0 * a4 + 1187353796428800.0 * a2 + 32382376266240000.0 * one)
    v = a6 @ (182.0 * a6 + 960960.0 * a4 + 1323241920.0 * a2) + 670442572800.0 * a6
    v = v + 129060195264000.0 * a4 + 7771770303897600.0 * a2 + 64764752532480000.0 * one
    found = np.linalg.solve(v - u, v + u)
    for _ in range(times):
        found = found @ found
    return found

"""
_SYLVESTER = """
def sylvester(np, a, b, q):
    m, n = q.shape[-2:]
    left = np.reshape(a, (*a.shape[:-2], m, 1, m, 1))
    right = np.reshape(np.swapaxes(b, -1, -2), (*b.shape[:-2], 1, n, 1, n))
    rows, columns = np.eye(m, dtype=a.dtype), np.eye(n, dtype=a.dtype)
    system = left * columns[:, None, :] + rows[:, None, :, None] * right
    system = np.reshape(system, (*system.shape[:-4], m * n, m * n))
    found = np.linalg.solve(system, np.reshape(q, (*q.shape[:-2], m * n, 1)))
    return np.reshape(found, (*found.shape[:-2], m, n))

"""
_STEIN = """
def stein(np, a, b, q):
    m, n = q.shape[-2:]
    left = np.reshape(a, (*a.shape[:-2], m, 1, m, 1))
    right = np.reshape(np.swapaxes(b, -1, -2), (*b.shape[:-2], 1, n, 1, n))
    system = left * right
    system = np.reshape(system, (*system.shape[:-4], m * n, m * n))
    system = np.eye(m * n, dtype=a.dtype) - system
    found = np.linalg.solve(system, np.reshape(q, (*q.shape[:-2], m * n, 1)))
    return np.reshape(found, (*found.shape[:-2], m, n))

"""
_SQRTM = """
def sqrtm(np, x):
    from scipy import linalg

    found = np.empty(x.shape, x.dtype)
    for place in np.ndindex(x.shape[:-2]):
        root = linalg.sqrtm(x[place])
        found[place] = np.nan if np.iscomplexobj(root) else root
    return found

"""
_RICCATI = """
def riccati(np, a, b, q, r, discrete):
    from scipy import linalg

    solver = linalg.solve_discrete_are if discrete else linalg.solve_continuous_are
    q, r = (q + np.swapaxes(q, -1, -2)) / 2, (r + np.swapaxes(r, -1, -2)) / 2
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2], q.shape[:-2], r.shape[:-2])
    a, b, q, r = [np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (a, b, q, r)]
    found = np.empty(a.shape, a.dtype)
    for place in np.ndindex(lead):
        found[place] = solver(a[place], b[place], q[place], r[place])
    return (found + np.swapaxes(found, -1, -2)) / 2

"""
_FOURIER = """
def fourier(np, re, im, axis, inverse):
    z = np.empty(re.shape, np.result_type(re, 1j))
    z.real, z.imag = re, im
    found = np.fft.ifft(z, axis=axis, norm="forward") if inverse else np.fft.fft(z, axis=axis)
    return np.real(found), np.imag(found)

"""
_HALVES = """
def half_spectrum(np, x, axis, twice):
    z = np.fft.rfft(x, axis=axis)
    if twice:
        inner = np.moveaxis(z, axis, -1)[..., 1 : (x.shape[axis] + 1) // 2]
        inner *= 2
    return np.real(z), np.imag(z)

"""
_HALVES_TRANSPOSE = """
def half_spectrum_transpose(np, re, im, n, axis, twice):
    z = np.empty(re.shape, np.result_type(re, 1j))
    z.real, z.imag = re, im
    if not twice:
        inner = np.moveaxis(z, axis, -1)[..., 1 : (n + 1) // 2]
        inner *= 0.5
    return np.fft.irfft(z, n, axis=axis, norm="forward")

"""
_COSINES = """
def cosine_transform(np, x, axis, inverse):
    from scipy import fft

    return fft.dct(x, 3 if inverse else 2, axis=axis, norm="ortho")

"""
_CONVERGED = """
def converged(np, x, arrived, what, steps):
    if not arrived:
        raise ArithmeticError(f"{what} has not converged after {steps} steps.")
    return x

"""
_SCATTER_ADD = _SCATTER.format(which="add", method="add", statement=_ADDED)
_SCATTER_SET = _SCATTER.format(which="set", method="set", statement="result[index] = values")


def _name_of(source: str) -> str:
    """The name of the function that a source defines."""
    return source.partition("def ")[2].partition("(")[0]


_ALONE = {
    _name_of(source): source
    for source in (
        _CONVERGED,
        _COSINES,
        _EXPM,
        _FOURIER,
        _HALVES,
        _HALVES_TRANSPOSE,
        _RECURRENCE,
        _RICCATI,
        _SQRTM,
        _STEIN,
        _SYLVESTER,
        _TRIANGULAR,
        _SCATTER_ADD,
        _SCATTER_SET,
    )
}
"""Source of the functions that need no other, by name."""
# These share helpers of their own, so they are written all together.
_OF_WINDOWS = tuple(
    each.__name__
    for each in (
        windows.windows,
        windows.overlap_add,
        windows.sum_of_windows,
        windows.largest_of_windows,
        windows.convolution,
        windows.adjoint_convolution,
        windows.kernel_convolution,
    )
)
HELPERS = (*_ALONE, *_OF_WINDOWS, *OF_INCOMPLETE, voigt.voigt.__name__)
"""Names of all functions here, in the order in which source is searched for them."""


def helpers_source(names: Collection[str]) -> str:
    """The source of the functions of these names."""
    of_windows = bool({*names} & {*_OF_WINDOWS})
    needed = {*names, _name_of(_SCATTER_ADD)} if of_windows else {*names}
    text = "".join(_ALONE[name].lstrip("\n") + "\n" for name in sorted(needed & {*_ALONE}))
    text += "".join(
        [source_of_slope(name).lstrip("\n") + "\n" for name in OF_INCOMPLETE if name in names]
    )
    text += voigt.source() if voigt.voigt.__name__ in names else ""
    return f"{windows.source()}\n{text}" if of_windows else text


# -- functions of users ----------------------------------------------------------------------------
def source_of_function(function: Callable[..., object], label: str) -> str | None:
    """Source of `label(np)`, which gives the function; None if the function may not stand alone.

    It stands alone if it is a `def` in a file that can be read, and refers only to modules and
    numbers.
    """
    if not isinstance(function, FunctionType):
        return None
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        around = inspect.getclosurevars(function)
    except (OSError, TypeError, SyntaxError, ValueError):
        return None
    (found,) = tree.body if len(tree.body) == 1 else (None,)
    if not isinstance(found, ast.FunctionDef) or found.name != function.__name__:
        return None
    found = _WithoutAnnotations().visit(found)
    outside = {**function.__globals__, **around.nonlocals}
    free = _free_names(found, {*around.globals, *around.nonlocals})
    bindings = [_binding(name, outside[name]) for name in sorted(free) if name in outside]
    unknown = [name for name in free if name not in outside and not hasattr(builtins, name)]
    if unknown or None in bindings or _rebinds(found):
        return None
    lines = [*[each for each in bindings if each], *ast.unparse(found).split("\n")]
    body = "\n".join([f"    {line}" if line else "" for line in lines])
    return f"def {label}(np):\n{body}\n    return {found.name}\n\n\n"


class _WithoutAnnotations(ast.NodeTransformer):
    """Remove decorators, docstrings and annotations: they name things that a run does not need."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.decorator_list = []
        node.returns = None
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.Pass()
        value: Any = self.visit(node.value)
        return ast.fix_missing_locations(ast.Assign([node.target], value, lineno=node.lineno))


def _free_names(tree: ast.AST, outer: Collection[str]) -> set[str]:
    """Names that the function reads but does not bind, and those it reads among `outer`."""
    read: set[str] = set()
    bound: set[str] = set()
    for each in ast.walk(tree):
        if isinstance(each, ast.Name):
            (read if isinstance(each.ctx, ast.Load) else bound).add(each.id)
        elif isinstance(each, ast.arg):
            bound.add(each.arg)
        elif isinstance(each, ast.FunctionDef):
            bound.add(each.name)
        elif isinstance(each, ast.alias):
            bound.add((each.asname or each.name).partition(".")[0])
        elif isinstance(each, ast.ExceptHandler) and each.name:
            bound.add(each.name)
    return (read - bound) | (read & {*outer})


def _rebinds(tree: ast.AST) -> bool:
    return any(isinstance(each, (ast.Global, ast.Nonlocal)) for each in ast.walk(tree))


def _binding(name: str, value: object) -> str | None:
    """The line that binds a name to its value.

    It is empty where the name is bound already, and None where the value has no source.
    """
    if value is np:
        return "" if name == "np" else f"{name} = np"
    if isinstance(value, ModuleType) and value.__name__ != "__main__":
        return f"import {value.__name__} as {name}"
    if value is None or type(value) in (bool, int, str):
        return f"{name} = {value!a}"
    if type(value) is float and value - value == 0:
        return f"{name} = {value!r}"
    return None
