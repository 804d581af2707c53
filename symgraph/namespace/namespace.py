"""The array namespace that kernels are written against: NumPy's names, and the few it lacks.

A backend brings a `Namespace` around its own module; special functions, scatter and the like are
the methods it may override. Every kernel of every operation runs on any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from itertools import accumulate
from types import ModuleType
from typing import Any

import numpy as np

from . import images as _images
from . import matrix_equations as _equations
from . import spectra as _spectra
from . import voigt as _voigt
from . import windows as _windows
from .added_rows import added_rows as _added_rows
from .bitwise_where import chosen as _chosen
from .exponential import expm as _expm
from .row_sums import row_sums as _row_sums
from .triangular import solved as _solved
from .triangular import with_joint_sides

__all__ = ["NUMPY", "Namespace", "added_at", "diagonals_written"]


class Namespace:
    """Names of `module`, of `special` (SciPy's special functions) and what both lack.

    Parameters
    ----------
    module : str
        Import path of a module with NumPy's names, such as `"jax.numpy"`.
    special : str
        Import path of a module with SciPy's special functions; imported at first use.
    """

    _convolutions: Any = _windows  # Elsewhere arrays may not be written to.
    solvers = "scipy.linalg"
    traces = False
    """Whether arrays may belong to a program that is traced, so that none serves two kernels."""
    few_rows = 16
    """Up to so many rows, a recurrence is computed in Python's numbers."""

    def __init__(self, module: str, special: str) -> None:
        self._special_name = special
        self.module: ModuleType = import_module(module)
        if module == "numpy":
            self._convolutions = _images
            self.chosen = _chosen
            self.row_sums = _row_sums

    @property
    def special(self) -> ModuleType:
        """erf, gammaln, ... under SciPy's names."""
        return import_module(self._special_name)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.module, name)
        setattr(self, name, value)
        return value

    def astype(self, x: Any, dtype: Any) -> Any:
        """`x` in another dtype; NumPy's own function refuses its scalars."""
        return x.astype(dtype)

    def dtype_of(self, x: Any) -> Any:
        """The dtype of an array, as NumPy's."""
        return x.dtype

    def getitem(self, x: Any, index: Any) -> Any:
        """`x[index]` as NumPy reads it: integer arrays, and negative steps."""
        return x[index]

    def expm(self, x: Any) -> Any:
        """The exponential of square matrices."""
        return _expm(x)

    def sylvester(self, a: Any, b: Any, q: Any) -> Any:
        """The X with a X + X b = q, for stacks of matrices."""
        return _equations.sylvester(self, a, b, q)

    def stein(self, a: Any, b: Any, q: Any) -> Any:
        """The X with X = a X b + q, for stacks of matrices."""
        return _equations.stein(self, a, b, q)

    def sqrtm(self, x: Any) -> Any:
        """The principal square root of matrices, NaN where it is not real."""
        return self.on_host("sqrtm", _equations.root, x.shape, x)

    def riccati(self, a: Any, b: Any, q: Any, r: Any, *, discrete: bool) -> Any:
        """The stabilizing solutions of Riccati's equations."""
        lead = np.broadcast_shapes(*[each.shape[:-2] for each in (a, b, q, r)])
        solver = partial(_equations.riccati, discrete=discrete)
        return self.on_host("riccati", solver, (*lead, *a.shape[-2:]), a, b, q, r)

    def voigt(self, x: Any, sigma: Any, gamma: Any, *, order: int, imaginary: bool) -> Any:
        """A part of a derivative of Voigt's profile."""
        shape = np.broadcast_shapes(x.shape, sigma.shape, gamma.shape)
        kernel = partial(_voigt.voigt, order=order, imaginary=imaginary)
        return self.on_host("voigt_profile", kernel, shape, x, sigma, gamma)

    def on_host(
        self, name: str, function: Callable[..., Any], shape: tuple[int, ...], *operands: Any
    ) -> Any:
        """What a function of NumPy's arrays gives, of a known shape and the operands' dtype."""
        return function(*operands)

    def fourier(self, re: Any, im: Any, *, axis: int, inverse: bool) -> Any:
        """Both parts of the discrete Fourier transform of re + i im, not divided by anything."""
        return _spectra.fourier(self, re, im, axis=axis, inverse=inverse)

    def half_spectrum(self, x: Any, *, axis: int, twice: bool) -> Any:
        """Both parts of the first n // 2 + 1 of the transform of real numbers."""
        return _spectra.half_spectrum(self, x, axis=axis, twice=twice)

    def half_spectrum_transpose(self, re: Any, im: Any, *, n: int, axis: int, twice: bool) -> Any:
        """N times the real numbers with this half of a spectrum; if not `twice`, the transpose."""
        return _spectra.half_spectrum_transpose(self, re, im, n=n, axis=axis, twice=twice)

    def cosine_transform(self, x: Any, *, axis: int, inverse: bool) -> Any:
        """The orthonormal cosine transform of the second type, or its inverse."""
        return _spectra.cosine_transform(self, x, axis=axis, inverse=inverse)

    def solve_triangular(
        self, a: Any, b: Any, *, lower: bool, trans: int, unit_diagonal: bool
    ) -> Any:
        """Solutions of triangular systems; leading axes are broadcast, a 1-d `b` is a vector.

        SciPy takes stacked matrices since 1.16 only, and no empty ones.
        """
        xp = self.module
        if b.ndim == 1:
            column = self.solve_triangular(
                a, b[:, None], lower=lower, trans=trans, unit_diagonal=unit_diagonal
            )
            return column[..., 0]
        options: dict[str, Any] = {"lower": lower, "trans": trans, "unit_diagonal": unit_diagonal}
        own = self.module.__name__ == "numpy"
        solver = _solved if own else import_module(self.solvers).solve_triangular
        if a.ndim == b.ndim == 2 and b.size:
            return solver(a, b, check_finite=False, **options)
        lead = xp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        if 0 in lead or not b.shape[-1] or not b.shape[-2]:
            return xp.empty((*lead, *b.shape[-2:]), dtype=xp.result_type(a, b))
        return with_joint_sides(
            xp, lambda one, sides: solver(one, sides, check_finite=False, **options), a, b, lead
        )

    def scatter_add(self, x: Any, index: tuple[Any, ...], values: Any) -> Any:
        """A copy of `x` with `values` added at `index`; repeated positions add up."""
        return added_at(self.module, self.module.array(x), index, values)

    def scatter_set(self, x: Any, index: tuple[Any, ...], values: Any) -> Any:
        """A copy of `x` with `values` written at `index`."""
        result = self.module.array(x)
        result[index] = values
        return result

    def chosen(self, condition: Any, x: Any, y: Any, out: Any = None) -> Any:
        """`where`, faster for many elements where it can be; written to `out` if it is given."""
        found = self.where(condition, x, y)
        if out is None:
            return found
        out[...] = found
        return out

    def row_sums(self, x: Any, keepdims: bool = False, out: Any = None) -> Any:
        """`sum` along the last axis, faster for short rows where it can be."""
        found = self.sum(x, axis=-1, keepdims=keepdims)
        if out is None:
            return found
        out[...] = found
        return out

    def diagonal_matrix(self, x: Any, rows: Any, columns: Any, offset: int) -> Any:
        """Matrices of zeros with the rows of `x` on their diagonals, without arrays of places."""
        result = self.module.zeros((*x.shape[:-1], rows, columns), x.dtype)
        return diagonals_written(result, x, offset)

    def linear_recurrence(self, a: Any, b: Any) -> Any:
        """s_k = a_k s_{k-1} + b_k along the last axis."""
        xp = self.module
        a, b = xp.broadcast_arrays(a, b)
        dtype = xp.result_type(a, b)
        if b.size <= self.few_rows * b.shape[-1] and dtype.kind in "fc":
            # Python's numbers are faster than arrays of a few.
            rows = [_recurred(*pair) for pair in zip(_rows(a), _rows(b), strict=True)]
            return xp.reshape(xp.asarray(rows, dtype=dtype), b.shape)
        result = xp.array(b, dtype=dtype)
        for k in range(1, b.shape[-1]):
            result[..., k] += a[..., k] * result[..., k - 1]
        return result

    def in_rows(self, x: Any) -> Any:
        """`x` with its elements in row order, for a loop that reads it at each step."""
        return self.module.ascontiguousarray(x) if self.module.__name__ == "numpy" else x

    # -- control flow ----------------------------------------------------------------------------
    def arrived(self, x: Any, arrived: Any, error: type[Exception], text: str) -> Any:
        """`x` if an iteration has arrived; else the error. Where none can be raised, NaN."""
        if not arrived:
            raise error(text)
        return x

    def cond(
        self,
        pred: Any,
        true: Callable[..., Sequence[Any]],
        false: Callable[..., Sequence[Any]],
        operands: Sequence[Any],
    ) -> Sequence[Any]:
        """The results of one of two functions."""
        return true(*operands) if pred else false(*operands)

    def while_loop(
        self,
        test: Callable[..., Any],
        step: Callable[..., Sequence[Any]],
        init: Sequence[Any],
    ) -> Sequence[Any]:
        """The carries after as many steps as the test asks for."""
        carries = [self.module.array(each) for each in init]
        while test(*carries):
            carries = list(step(*carries))
        return carries

    def scan(
        self,
        step: Callable[..., Sequence[Any]],
        init: Sequence[Any],
        xs: Sequence[Any],
        *,
        length: int,
        reverse: bool,
        keep: tuple[bool, ...] | None,
        avals: Sequence[tuple[Any, tuple[int, ...]]],
    ) -> tuple[Any, ...]:
        """Last carries, stacked results of the steps, and the carries each step began with.

        Parameters
        ----------
        step : callable
            `step(*carries, *slices)` gives the next carries and what the step gives besides.
        init, xs : sequence
            First carries, and the arrays whose slices steps get.
        length : int
        reverse : bool
            From the last slice to the first.
        keep : tuple of bool or None
            Which results are read; None may stand for the others.
        avals : sequence of (dtype, shape)
            What a step gives.
        """
        count = len(init)
        wanted = keep or (True,) * (len(avals) + count)
        carries = list(init)
        rows: list[list[Any]] = [[] for _ in wanted[count:]]
        for t in range(length - 1, -1, -1) if reverse else range(length):
            found = step(*carries, *[x[t] for x in xs])
            for row, value, kept in zip(
                rows, [*found[count:], *carries], wanted[count:], strict=True
            ):
                if kept:
                    row.append(value)
            carries = list(found[:count])
        if reverse:
            rows = [row[::-1] for row in rows]
        shapes = [*avals[count:], *avals[:count]]
        stacked = [
            None
            if not kept
            else self.module.stack([self.module.asarray(each) for each in row])
            if row
            else self.zeros((0, *shape), dtype)
            for row, kept, (dtype, shape) in zip(rows, wanted[count:], shapes, strict=True)
        ]
        return (*carries, *stacked)

    # -- windows: strides, dilations, sizes and extents are tuples, one number an axis ------------
    def windows(self, x: Any, sizes: Any, strides: Any, dilations: Any) -> Any:
        """Sliding windows of the last axes, (..., counts, sizes); perhaps a view."""
        return _windows.windows(self, x, sizes, strides, dilations)

    def overlap_add(self, y: Any, extents: Any, strides: Any, dilations: Any) -> Any:
        """The transpose of `windows`: elements that several windows share are added up."""
        return _windows.overlap_add(self, y, extents, strides, dilations)

    def sum_of_windows(self, x: Any, sizes: Any, strides: Any, dilations: Any) -> Any:
        """The sum of each window."""
        return _windows.sum_of_windows(self, x, sizes, strides, dilations)

    def largest_of_windows(self, x: Any, sizes: Any, strides: Any, dilations: Any) -> Any:
        """The largest element of each window."""
        return _windows.largest_of_windows(self, x, sizes, strides, dilations)

    def convolution(self, x: Any, w: Any, strides: Any, dilations: Any, groups: int) -> Any:
        """From x (..., N, C, extents), w (..., O, C/groups, sizes) to (..., N, O, counts)."""
        return self._convolutions.convolution(self, x, w, strides, dilations, groups)

    def adjoint_convolution(
        self, y: Any, w: Any, extents: Any, strides: Any, dilations: Any, groups: int
    ) -> Any:
        """The transpose of `convolution` in x."""
        return self._convolutions.adjoint_convolution(
            self, y, w, extents, strides, dilations, groups
        )

    def kernel_convolution(
        self, x: Any, y: Any, sizes: Any, strides: Any, dilations: Any, groups: int
    ) -> Any:
        """The transpose of `convolution` in w."""
        return self._convolutions.kernel_convolution(self, x, y, sizes, strides, dilations, groups)


def diagonals_written(result: Any, x: Any, offset: int) -> Any:
    """`result`, matrices in row order, after the rows of `x` are written on their diagonals."""
    *lead, rows, columns = result.shape
    start = offset if offset >= 0 else -offset * columns
    step = columns + 1
    flat = result.reshape((*lead, rows * columns))
    flat[..., start : start + step * x.shape[-1] : step] = x
    return result


def added_at(xp: Any, result: Any, index: tuple[Any, ...], values: Any) -> Any:
    """`result`, after `values` have been added to it at `index`."""
    if result.ndim == 1 and xp.shape(values) != xp.shape(index[-1]):
        # Of a row that it has to repeat, `np.add.at` reads beyond the end there (NumPy 2.4).
        values = xp.broadcast_to(values, xp.shape(index[-1]))
    if xp is not np or not _added_rows(result, index, values):
        xp.add.at(result, index, values)
    return result


def _rows(x: Any) -> Any:
    return x.reshape(-1, x.shape[-1]).tolist() if x.size else []


def _recurred(a: list[Any], b: list[Any]) -> list[Any]:
    pairs = zip(a, b, strict=True)
    states = accumulate(pairs, lambda state, pair: (0, pair[0] * state[1] + pair[1]))
    return [state for _, state in states]


NUMPY = Namespace("numpy", "scipy.special")
