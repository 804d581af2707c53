"""NumPy's names over `jax.numpy`, with NumPy's and SciPy's values where JAX has others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from scipy import special

from ..namespace import Namespace
from ..namespace.windows import overlaps_added, stacked_windows

__all__ = ["JaxNamespace"]


class _JaxSpecial:
    """`jax.scipy.special`, with SciPy's values where the two differ."""

    def __getattr__(self, name: str) -> Any:
        found = None if name in _UNLIKE_SCIPY else getattr(jax.scipy.special, name, None)
        return _on_host(name) if found is None else found

    def digamma(self, x: Any) -> Any:
        """JAX gives NaN at 0; here the pole has the sign that SciPy and C give it."""
        xp = jax.numpy
        return xp.where(x == 0, -xp.copysign(np.inf, x), jax.scipy.special.digamma(x))

    def expi(self, x: Any) -> Any:
        """JAX gives NaN at the pole and at both infinities."""
        xp = jax.numpy
        at_end = (x == 0) | xp.isinf(x)
        ends = xp.where(x == 0, -np.inf, xp.where(x > 0, np.inf, -0.0))
        return xp.where(at_end, ends, jax.scipy.special.expi(xp.where(at_end, 1, x)))

    def exp1(self, x: Any) -> Any:
        """JAX gives NaN at infinity."""
        xp = jax.numpy
        return xp.where(x == np.inf, 0, jax.scipy.special.exp1(xp.where(x == np.inf, 1, x)))


# JAX's own give other values at poles, and few digits for large arguments.
_UNLIKE_SCIPY = frozenset(("hyp1f1", "hyp2f1"))


def _on_host(name: str) -> Callable[..., Any]:
    """SciPy's elementwise function `name`, called on the host from within the compiled program.

    It passes float64 as pairs of 32-bit integers. Callbacks run in their own thread, in which
    64-bit types are off, so float64 would be cut to float32.
    """
    function = getattr(special, name)
    if function.nout > 1:
        parts = [_host_call(partial(_item, function, place)) for place in range(function.nout)]
        return lambda *operands: tuple([part(*operands) for part in parts])
    return _host_call(function)


def _item(function: Any, place: int, *operands: Any) -> Any:
    return function(*operands)[place]


def _host_call(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*operands: Any) -> Any:
        xp = jax.numpy
        dtype = xp.result_type(*operands)
        shape = xp.broadcast_shapes(*[xp.shape(each) for each in operands])
        arrays = [xp.broadcast_to(xp.asarray(each, dtype), shape) for each in operands]
        return _called_on_host(function, shape, dtype, arrays)

    return call


def _called_on_host(
    function: Callable[..., Any], shape: tuple[int, ...], dtype: Any, arrays: Sequence[Any]
) -> Any:
    """What the function of NumPy's arrays gives; all arrays have its dtype."""
    wide = dtype == np.float64

    def run(*values: Any) -> Any:
        found = [np.asarray(each) for each in values]
        if wide:
            found = [each.view(np.float64)[..., 0] for each in found]
        try:
            with np.errstate(all="ignore"):
                result = np.asarray(function(*found), dtype)
        except np.linalg.LinAlgError:  # A compiled program raises nothing.
            result = np.full(shape, np.nan, dtype)
        return result[..., None].view(np.uint32) if wide else result

    if not wide:
        expected = jax.ShapeDtypeStruct(shape, dtype)
        return jax.pure_callback(run, expected, *arrays, vmap_method="sequential")
    bits = [jax.lax.bitcast_convert_type(each, np.uint32) for each in arrays]
    expected = jax.ShapeDtypeStruct((*shape, 2), np.uint32)
    result = jax.pure_callback(run, expected, *bits, vmap_method="sequential")
    return jax.lax.bitcast_convert_type(result, np.float64)


class _JaxLinalg:
    """`jax.numpy.linalg`; it reads one triangle of symmetric matrices, as NumPy does."""

    def __getattr__(self, name: str) -> Any:
        return getattr(jax.numpy.linalg, name)

    def cholesky(self, x: Any) -> Any:
        return jax.numpy.linalg.cholesky(x, symmetrize_input=False)

    def eigh(self, x: Any, UPLO: str = "L") -> Any:
        return jax.numpy.linalg.eigh(x, UPLO=UPLO, symmetrize_input=False)


class JaxNamespace(Namespace):
    """`jax.numpy`, with NumPy's values where the two differ.

    JAX arrays are immutable, so scattering makes new ones.
    """

    traces = True

    @property
    def special(self) -> Any:
        return _SPECIAL

    @property
    def linalg(self) -> Any:
        return _LINALG

    def expm(self, x: Any) -> Any:
        return jax.scipy.linalg.expm(x)

    def on_host(
        self, name: str, function: Callable[..., Any], shape: tuple[int, ...], *operands: Any
    ) -> Any:
        arrays = [self.module.asarray(each) for each in operands]
        return _called_on_host(function, shape, arrays[0].dtype, arrays)

    def solve_triangular(
        self, a: Any, b: Any, *, lower: bool, trans: int, unit_diagonal: bool
    ) -> Any:
        """As in SciPy, but leading axes broadcast: `jax.scipy` leaves that to the caller."""
        xp = self.module
        options: dict[str, Any] = {"lower": lower, "trans": trans, "unit_diagonal": unit_diagonal}
        sides = b[:, None] if b.ndim == 1 else b
        lead = xp.broadcast_shapes(a.shape[:-2], sides.shape[:-2])
        found = jax.scipy.linalg.solve_triangular(
            xp.broadcast_to(a, (*lead, *a.shape[-2:])),
            xp.broadcast_to(sides, (*lead, *sides.shape[-2:])),
            **options,
        )
        return found[..., 0] if b.ndim == 1 else found

    def astype(self, x: Any, dtype: Any) -> Any:
        """XLA takes a product with a converted truth value for a choice: 0 where 0 · inf is NaN."""
        if x.dtype != np.bool_ or np.dtype(dtype).kind != "f":
            return x.astype(dtype)
        return self.module.where(x, self.module.ones((), dtype), self.module.zeros((), dtype))

    def floor_divide(self, x: Any, y: Any) -> Any:
        """In NumPy, an integer divided by zero is 0."""
        xp = self.module
        if xp.result_type(x, y).kind == "f":
            return xp.floor_divide(x, y)
        return xp.where(y == 0, 0, xp.floor_divide(x, xp.where(y == 0, 1, y)))

    def reciprocal(self, x: Any) -> Any:
        """In NumPy, the reciprocal of an integer is an integer: 0, except for 1 and -1."""
        if x.dtype.kind == "f":
            return self.module.reciprocal(x)
        return self.module.where(abs(x) == 1, x, 0).astype(x.dtype)

    def scatter_add(self, x: Any, index: tuple[Any, ...], values: Any) -> Any:
        return self.module.asarray(x).at[index].add(values)

    def scatter_set(self, x: Any, index: tuple[Any, ...], values: Any) -> Any:
        x = self.module.asarray(x)
        laid = self._laid(x.shape, index, values)
        return x.at[index].set(values) if laid is None else laid.astype(x.dtype)

    def _laid(self, shape: tuple[int, ...], index: Any, values: Any) -> Any:
        """The values as they lie if slices write all elements, or None.

        XLA makes a map of such a scatter, and its simplifier ends the process if a map is reversed:
        `z.at[::-1].set(z.at[:].set(x))` in jaxlib 0.10.
        """
        parts: list[Any] = list(index) if isinstance(index, tuple) else [index]
        missing = len(shape) - len([each for each in parts if each is not None])
        for place, each in enumerate(parts):
            if each is Ellipsis:
                parts[place : place + 1] = [slice(None)] * (missing + 1)
                break
        if not all(each is None or isinstance(each, slice) for each in parts):
            return None
        slices = [each for each in parts if each is not None]
        if len(slices) != len(shape):
            return None
        for each, size in zip(slices, shape, strict=True):
            if len(range(*each.indices(size))) != size:
                return None
        sizes = iter(shape)
        written = tuple([1 if each is None else next(sizes) for each in parts])
        turned = [slice(None, None, -1 if each and (each.step or 1) < 0 else 1) for each in parts]
        values = self.module.broadcast_to(self.module.asarray(values), written)
        return self.module.reshape(values[tuple(turned)], shape)

    def windows(self, x: Any, sizes: Any, strides: Any, dilations: Any) -> Any:
        return stacked_windows(self, x, sizes, strides, dilations)

    def overlap_add(self, y: Any, extents: Any, strides: Any, dilations: Any) -> Any:
        return overlaps_added(self, y, extents, strides, dilations)

    def convolution(self, x: Any, w: Any, strides: Any, dilations: Any, groups: int) -> Any:
        """By XLA's own where it is faster; with windows of one place it is a product."""
        n = len(strides)
        slow = n != 2 and w.dtype == np.float64 and _on_cpu()
        if slow or not _is_of_layers(x, w, n):
            return super().convolution(x, w, strides, dilations, groups)
        return _convolved(x, w, strides, dilations, groups)

    def adjoint_convolution(
        self, y: Any, w: Any, extents: Any, strides: Any, dilations: Any, groups: int
    ) -> Any:
        """By XLA's own elsewhere than on the CPU, where products are faster."""
        n = len(strides)
        x = jax.ShapeDtypeStruct((*y.shape[: -n - 1], w.shape[1] * groups, *extents), y.dtype)
        if _on_cpu() or not _is_of_layers(x, w, n) or 0 in y.shape:
            return super().adjoint_convolution(y, w, extents, strides, dilations, groups)

        def forward(images: Any) -> Any:
            return _convolved(images, w, strides, dilations, groups)

        return jax.linear_transpose(forward, x)(y)[0]

    def kernel_convolution(
        self, x: Any, y: Any, sizes: Any, strides: Any, dilations: Any, groups: int
    ) -> Any:
        """By XLA's own; on the CPU in single precision, with all windows, up to two axes."""
        n = len(sizes)
        w = jax.ShapeDtypeStruct((y.shape[-n - 1], x.shape[-n - 1] // groups, *sizes), x.dtype)
        fast = (x.dtype == np.float32 and n < 3 and max(strides) == 1) or not _on_cpu()
        if not fast or y.ndim != n + 2 or not _is_of_layers(x, w, n) or 0 in y.shape:
            return super().kernel_convolution(x, y, sizes, strides, dilations, groups)

        def forward(kernel: Any) -> Any:
            return _convolved(x, kernel, strides, dilations, groups)

        return jax.linear_transpose(forward, w)(y)[0]

    def linear_recurrence(self, a: Any, b: Any) -> Any:
        xp = self.module
        a, b = xp.broadcast_arrays(xp.asarray(a), xp.asarray(b))
        dtype = xp.result_type(a, b)

        def step(state: Any, pair: tuple[Any, Any]) -> tuple[Any, Any]:
            state = pair[0] * state + pair[1]
            return state, state

        start = xp.zeros(b.shape[:-1], dtype)
        columns = (xp.moveaxis(a, -1, 0).astype(dtype), xp.moveaxis(b, -1, 0).astype(dtype))
        return xp.moveaxis(jax.lax.scan(step, start, columns)[1], 0, -1)

    def arrived(self, x: Any, arrived: Any, error: type[Exception], text: str) -> Any:
        return self.module.where(arrived, x, np.nan).astype(x.dtype)

    def cond(
        self,
        pred: Any,
        true: Callable[..., Sequence[Any]],
        false: Callable[..., Sequence[Any]],
        operands: Sequence[Any],
    ) -> Sequence[Any]:
        given = [self.module.asarray(each) for each in operands]
        return jax.lax.cond(pred, true, false, *given)

    def while_loop(
        self,
        test: Callable[..., Any],
        step: Callable[..., Sequence[Any]],
        init: Sequence[Any],
    ) -> Sequence[Any]:
        first = [self.module.asarray(each) for each in init]
        return jax.lax.while_loop(
            lambda carries: test(*carries), lambda carries: list(step(*carries)), first
        )

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
        """The loop by `jax.lax.scan`, which compiles the body once."""
        count = len(init)

        def body(carries: Any, slices: Any) -> Any:
            found = [
                self.module.asarray(value, dtype)
                for value, (dtype, _) in zip(step(*carries, *slices), avals, strict=True)
            ]
            return tuple(found[:count]), (tuple(found[count:]), carries)

        first = tuple([self.module.asarray(each) for each in init])
        last, (steps, before) = jax.lax.scan(body, first, tuple(xs), length, reverse)
        return (*last, *steps, *before)


def _on_cpu() -> bool:
    """Whether JAX computes on the CPU by default."""
    return jax.default_backend() == "cpu"


def _is_of_layers(x: Any, w: Any, n: int) -> bool:
    """Whether XLA convolves x (N, C, extents) with w (O, C/groups, sizes) as we want it to be."""
    if w.dtype not in (np.float32, np.float64) or n > 3:
        return False
    if len(x.shape) != n + 2 or len(w.shape) != n + 2:
        return False  # Leading axes are broadcast as by `matmul`.
    return max(w.shape[2:]) > 1 and 0 not in x.shape and 0 not in w.shape


def _convolved(x: Any, w: Any, strides: Any, dilations: Any, groups: int) -> Any:
    return jax.lax.conv_general_dilated(
        x, w, strides, "VALID",
        rhs_dilation=dilations, feature_group_count=groups, precision="highest",
    )  # fmt: skip


_SPECIAL = _JaxSpecial()
_LINALG = _JaxLinalg()
