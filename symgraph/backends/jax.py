"""The JAX backend: the same kernels in `jax.numpy`, traced and compiled by `jax.jit`.

A lowered graph takes and gives JAX arrays, and works under `jax.jit`, `jax.grad` and `jax.vmap`. If
all inputs are NumPy arrays, it gives NumPy arrays.

float64 stays float64: 64-bit types are enabled while a graph is compiled and while it runs. The
process's own setting is not changed. Inside a JAX transformation the caller's setting counts: if
64-bit types are off there, a graph that needs them is refused. Products in single precision have
its digits on each device; `jax_default_matmul_precision` gives them up for speed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any, cast

import jax
import numpy as np

from ..errors import BackendError, InputError
from ..ir.dag import Dag
from ..ir.dims import resolve
from ..ir.interpreter import run
from ..ir.node import Node
from ..lowering.emit import emit
from ..lowering.functional import functional
from ..lowering.program import program_of
from ..namespace import Namespace
from ..passes.program_graph import program_graph
from .arity import of_arguments
from .base import Compiled, OwnArrays, sizes_read
from .capabilities import Capabilities, check_device, dtypes_of
from .jax_host_calls import TRACER, HostCalls, host_calls, place_in, scope_name
from .jax_namespace import JaxNamespace
from .single_function import SingleFunction

__all__ = ["BACKEND", "JaxBackend", "enable_x64"]

# Older versions have it in `jax.experimental`.
enable_x64: Callable[[bool], AbstractContextManager[Any]] = (
    jax.enable_x64 if hasattr(jax, "enable_x64") else import_module("jax.experimental").enable_x64
)
_config = cast("Any", jax.config)
_ARRAY: type[Any] = type(jax.numpy.zeros(()))
_NAMESPACE = JaxNamespace("jax.numpy", "jax.scipy.special")


class _JaxArrays(OwnArrays):
    """JAX's arrays, including the tracers of its transformations."""

    def holds(self, value: Any) -> bool:
        return isinstance(value, jax.Array)

    def cast(self, value: Any, dtype: np.dtype[Any]) -> Any:
        if value.dtype == dtype:
            return value
        with _with_64_bits([value], str(dtype) if dtype.itemsize == 8 else ""):
            return value.astype(dtype)


_ARRAYS = _JaxArrays()


def _dtype_of_64_bits(dag: Dag) -> str:
    """A 64-bit dtype in which the graph or one of its bodies computes; empty if there is none."""
    return next((str(dtype) for _, dtype in dtypes_of(dag) if dtype.itemsize == 8), "")


def _with_64_bits(arrays: Sequence[Any], wide: str) -> AbstractContextManager[Any]:
    """A context with 64-bit types enabled; inside a JAX transformation, with its own setting.

    Raises
    ------
    BackendError
        If that setting is off, and the graph needs the 64-bit dtype `wide`.
    """
    if not any(isinstance(each, TRACER) for each in arrays):
        return enable_x64(True)
    if wide and not jax.config.read("jax_enable_x64"):
        raise BackendError(
            f"This graph computes in {wide}, but 64-bit types are off inside this JAX "
            "transformation.",
            mend='Call jax.config.update("jax_enable_x64", True) first, or trace the graph in '
            "float32.",
        )
    return nullcontext()


def _all_digits() -> AbstractContextManager[Any]:
    """A context in which products have the digits of their dtype, unless JAX is told otherwise.

    By itself JAX multiplies single precision with 10 bits on NVIDIA's GPUs, and with 8 on TPUs.
    """
    told = _config.jax_default_matmul_precision
    return nullcontext() if told is not None else jax.default_matmul_precision("highest")


class JaxBackend:
    """Compiles graphs by XLA, once for each size of the named dimensions."""

    name = "jax"
    native = (np.ndarray, _ARRAY)

    @property
    def namespace(self) -> Namespace:
        return _NAMESPACE

    @property
    def capabilities(self) -> Capabilities:
        """All dtypes, on the devices that JAX has here."""
        kinds = dict.fromkeys([*[each.platform for each in jax.devices()], "cpu"])
        return Capabilities(devices=tuple(kinds))

    def compile(
        self,
        dag: Dag,
        *,
        numpy_out: bool | None = None,
        jit: bool = True,
        device: str | None = None,
        host: bool = False,
        donate: Sequence[str] = (),
    ) -> Compiled:
        """A jitted function of the graph.

        Parameters
        ----------
        dag : Dag
        numpy_out : bool, optional
            True gives NumPy arrays, False JAX arrays on the device that computed them. By default
            the results are JAX arrays if an input is one.
        jit : bool
            Compile the graph; else run operation by operation.
        device : str, optional
            The kind of device, such as `"cpu"` or `"gpu"`, to which NumPy arrays are moved. By
            default JAX chooses, and sharded inputs are computed with where they lie.
        host : bool
            Whether SciPy may compute on the host what JAX lacks where the device is another.
        donate : sequence of str
            Inputs whose memory XLA may use for results. JAX arrays given for them are gone after
            the call.
        """
        dag = program_graph(dag)
        order = [node for node in dag.nodes if not node.is_input]
        dims = sizes_read(dag)
        placed = None if device is None else self._device(device)
        donated = _places(dag, donate, jit)

        known = None if dims else _known_types(dag)
        program = _program(dag, order, dims, known)
        static = ("sizes",) if dims else None
        compiled: Callable[..., Any] = (
            jax.jit(program, static_argnames=static, donate_argnums=donated) if jit else program
        )
        count = len(dag.inputs)
        wide = _dtype_of_64_bits(dag)
        host = host or jax.default_backend() == "cpu"
        on_host = None if host else HostCalls(program, order)

        def call(*values: Any) -> Sequence[Any]:
            arrays: Sequence[Any] = values[:count]
            sizes = values[count:]
            as_numpy = not any(map(_ARRAYS.holds, arrays)) if numpy_out is None else numpy_out
            with _with_64_bits(arrays, wide):
                if placed is not None:
                    arrays = _moved(arrays, placed)
                if on_host is not None:
                    on_host.check(arrays, sizes)
                results = compiled(*arrays, sizes=sizes) if sizes else compiled(*arrays)
                # A copy, since JAX's memory is read-only and callers may write to results.
                return [np.array(each) for each in results] if as_numpy else results

        direct: SingleFunction | None = None
        if jit and known is not None and count > 0 and host and placed is None and not numpy_out:
            direct = SingleFunction(_usual(compiled, count))
        return Compiled(call, _source(dag), dims, own=_ARRAYS, direct=direct)

    def module_of(
        self,
        dag: Dag,
        order: Sequence[Node],
        sizes: Mapping[str, int],
        names: Sequence[str],
        platform: str,
    ) -> tuple[Any, list[int | None]]:
        """The MLIR module of a graph; or None, and the places of nodes that call the host.

        Parameters
        ----------
        dag : Dag
        order : sequence of Node
        sizes : mapping of str to int
            Of all named dimensions.
        names : sequence of str
            The names of the program's arguments.
        platform : str
            The platform that JAX lowers for.
        """

        def graph(*values: Any) -> tuple[Any, ...]:
            return evaluated(dag, order, values, sizes)

        kind = inspect.Parameter.POSITIONAL_ONLY
        signature = inspect.Signature([inspect.Parameter(name, kind) for name in names])
        graph.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess]
        specs = [
            jax.ShapeDtypeStruct(resolve(node.shape, sizes), node.dtype)
            for node in dag.inputs.values()
        ]
        with enable_x64(True):
            traced = jax.jit(graph, keep_unused=True).trace(*specs)
            on_host = list(host_calls(traced.jaxpr.jaxpr))
            if on_host:
                return None, on_host  # JAX lowers such calls for few platforms.
            lowered = traced.lower(lowering_platforms=(platform,))
            return lowered.compiler_ir("stablehlo"), on_host

    @staticmethod
    def place_in(name: str) -> int | None:
        """The place of the node in whose scope something was traced."""
        return place_in(name)

    def _device(self, kind: str) -> Any:
        check_device(self.name, self.capabilities, kind)
        return jax.devices(kind)[0]

    def to_numpy(self, value: Any) -> np.ndarray[Any, Any]:
        return np.asarray(value)


class _Others(Exception):
    """Arrays have other shapes or dtypes than a program."""


def _known_types(dag: Dag) -> list[tuple[Any, Any]] | None:
    """Shapes and dtypes of the inputs; None where a shape has a name."""
    types = [(node.shape, node.dtype) for node in dag.inputs.values()]
    fixed = all(isinstance(dim, int) for shape, _ in types for dim in shape)
    return types if fixed else None


def _program(
    dag: Dag, order: Sequence[Node], dims: Sequence[str], known: list[tuple[Any, Any]] | None
) -> Callable[..., Any]:
    """The graph as a function that JAX traces; of arrays of `known` types alone, if there are."""

    def program(*values: Any, sizes: tuple[int, ...] = ()) -> tuple[Any, ...]:
        # JAX calls this once for each combination of shapes and dtypes.
        if known is not None and [(each.shape, each.dtype) for each in values] != known:
            raise _Others
        with _all_digits():
            return evaluated(dag, order, values, dict(zip(dims, sizes, strict=True)))

    return program


_MOST_REFUSED = 3
"""Tracing takes a millisecond: after so many calls with others, all arrays are looked at first."""


def _usual(compiled: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A function of JAX arrays, with 64-bit types on; it gives None for inputs it does not take.

    Their shapes and dtypes are looked up in the cache of JAX, and compared where JAX traces.
    """
    names = [f"v{place}" for place in range(count)]
    source = f"""
def run({"".join([f"{name}=None, " for name in names])}*more):
    if more or not ({"".join([f"type({name}) is " for name in names])}array):
        return None
    if len(refused) == most or not config.jax_enable_x64:
        return None
    try:
        return compiled({", ".join(names)})
    except others:
        refused.append(None)
        return None
"""
    refused: list[None] = []
    known = {"compiled": compiled, "refused": refused, "config": _config}
    return of_arguments(source, 0, **known, most=_MOST_REFUSED, array=_ARRAY, others=_Others)


def _places(dag: Dag, names: Sequence[str], jit: bool) -> tuple[int, ...]:
    """The places of donated inputs."""
    known = list(dag.inputs)
    unknown = [name for name in names if name not in known]
    if unknown or (names and not jit):
        raise BackendError(
            f"There is no input {unknown[0]!r} to donate."
            if unknown
            else "Only compiled programs use the memory of donated inputs.",
            mend=f"Name some of {', '.join(known)}, with jit=True.",
        )
    return tuple([known.index(name) for name in names])


def _moved(arrays: Sequence[Any], device: Any) -> list[Any]:
    """NumPy arrays on the device; arrays of JAX must lie there."""
    for each in arrays:
        if isinstance(each, jax.Array) and not isinstance(each, TRACER):
            elsewhere = [own for own in each.devices() if own.platform != device.platform]
            if elsewhere:
                raise InputError(
                    f"An input is on {elsewhere[0]}, but the graph was lowered for {device}.",
                    mend="Move it first, as in jax.device_put(x, device).",
                )
    return [
        each if _ARRAYS.holds(each) else jax.device_put(np.asarray(each, order="C"), device)
        for each in arrays
    ]


def evaluated(
    dag: Dag, order: Sequence[Node], values: Sequence[Any], sizes: Mapping[str, int]
) -> tuple[Any, ...]:
    """The results of a graph by JAX's functions; the name of each scope has the node's place."""
    known: dict[Node, Any] = dict(zip(dag.inputs.values(), values, strict=True))
    for place, node in enumerate(order):
        with jax.named_scope(scope_name(place, node)):
            if _is_vector_by_columns(node):
                (matrix,), vector = node.operands[0].operands, node.operands[1]
                known[node] = _NAMESPACE.matmul(known[vector], known[matrix])
                continue
            operands = [known[operand] for operand in node.operands]
            known[node] = run(node, operands, sizes, _NAMESPACE)
    return tuple([_NAMESPACE.asarray(known[output]) for output in dag.outputs])


def _is_vector_by_columns(node: Node) -> bool:
    """Whether a node is X.T @ v of a matrix and a vector.

    It is written v @ X: on the CPU, XLA takes six times as long for a product whose first operand
    is transposed (100,000 rows of 100 numbers).
    """
    if node.op.name != "matmul":
        return False
    first, second = node.operands
    # A transpose may also keep the order of the axes.
    turned = first.op.name == "transpose" and first.params["axes"] == (-1, -2)
    return turned and second.ndim == 1


def _source(dag: Dag) -> str:
    try:
        return functional(dag)
    except BackendError:
        # Some kernel is not a plain expression: the NumPy program shows the same steps.
        return emit(program_of(dag, workspace=False)).source


BACKEND = JaxBackend()
