"""Libraries that derive gradients: each gives a call that computes the derivatives of a workload.

A call takes nothing and gives the results in one order: the value (of gradients alone), then a
result for each output and target. Data is handed over before the clock starts, in the arrays that
the library likes best; results stay in them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from .workloads import Workload

__all__ = ["LIBRARIES", "NotHere", "flat"]

Call = Callable[..., Any]


class NotHere(Exception):
    """A library does not have what a workload needs."""


class Names:
    """A library's functions under NumPy's names, with those that it writes otherwise."""

    def __init__(self, module: Any, **others: Any) -> None:
        self._module = module
        self._others = others

    def __getattr__(self, name: str) -> Any:
        return self._others[name] if name in self._others else getattr(self._module, name)


def flat(results: Any) -> list[np.ndarray[Any, Any]]:
    """All arrays of a result."""
    if isinstance(results, (tuple, list)):
        return [each for part in results for each in flat(part)]
    if hasattr(results, "detach"):
        results = results.detach().cpu()
    return [results.get() if hasattr(results, "get") else np.asarray(results)]


def _loop(step: Callable[..., Any], start: Any, xs: Any) -> Any:
    """A loop in Python, of libraries that record what they run."""
    h, c = start, start
    for each in xs:
        h, c = step(h, c, each)
    return h, c


# -- symgraph --------------------------------------------------------------------------------------
def by_symgraph(
    work: Workload, backend: str = "numpy", device: str = "cpu", compiled: bool = True
) -> Call:
    """The derived graph, simplified and lowered; of torch compiled, or operation by operation."""
    sg, snp = import_module("symgraph"), import_module("symgraph.numpy")
    special = import_module("symgraph.scipy.special")

    def scan(step: Callable[..., Any], start: Any, xs: Any) -> Any:
        def one(carry: Any, each: Any) -> Any:
            return step(*carry, each), None

        return sg.scan(one, (start, start), xs)[0]

    names = Names(snp, erf=special.erf, scan=scan, stop=snp.stop_gradient)
    data = work.data()
    specs: dict[str, Any] = {}
    for name, array in data.items():
        facts = (sg.simplex(axis=-1),) if name in work.simplex else ()
        specs[name] = sg.spec(array.shape, str(array.dtype), assume=facts)
    traced = sg.trace(lambda **given: work.f(names, **given), **specs)
    if work.kind == "gradient":
        graph = traced.gradient(*work.wrt)
    elif work.kind == "hvp":
        along = [np.ones_like(data[name]) for name in work.wrt]
        graph = traced.hvp(list(work.wrt), along, value=False)
    else:
        derive = traced.hessian if work.kind == "hessian" else traced.jacobian
        graph = derive(*work.wrt, value=False)
    options = {"compile": compiled} if backend == "torch" else {}
    lowered = graph.simplify().lower(backend, **options)
    if backend == "torch":
        torch = import_module("torch")
        torch.set_num_threads(1)
        inputs = [torch.tensor(data[name], device=device) for name in graph.inputs]
        return partial(lowered, *inputs)
    if backend == "cupy":
        cupy = import_module("cupy")
        return partial(lowered, *[cupy.asarray(data[name]) for name in graph.inputs])
    if backend == "jax":
        jax = import_module("jax")
        data = {name: jax.device_put(array) for name, array in data.items()}
        inputs = [data[name] for name in graph.inputs]
        return lambda: jax.block_until_ready(lowered(*inputs))
    inputs = [data[name] if data[name].ndim else float(data[name]) for name in graph.inputs]
    call = partial(lowered, *inputs)
    call.release = lowered.release  # pyright: ignore[reportAttributeAccessIssue]
    return call


# -- peers -----------------------------------------------------------------------------------------
def by_jax(work: Workload) -> Call:
    """JAX's own derivative, compiled, from and to its own arrays."""
    jax = import_module("jax")
    jax.config.update("jax_enable_x64", True)

    def conv(x: Any, w: Any) -> Any:
        return jax.lax.conv_general_dilated(x, w, (1, 1), "VALID")

    def scan(step: Callable[..., Any], start: Any, xs: Any) -> Any:
        return jax.lax.scan(lambda carry, each: (step(*carry, each), None), (start, start), xs)[0]

    erf = import_module("jax.scipy.special").erf
    names = Names(jax.numpy, erf=erf, conv=conv, scan=scan, stop=jax.lax.stop_gradient)
    data = {name: jax.device_put(array) for name, array in work.data().items()}
    at = tuple([list(data).index(name) for name in work.wrt])

    def f(*given: Any) -> Any:
        return work.f(names, *given)

    if work.kind == "gradient":
        derived = jax.value_and_grad(f, at)
    elif work.kind == "hessian":
        derived = jax.hessian(f, at)
    elif work.kind == "jacobian":
        derived = jax.jacrev(f, at)
    else:
        derived = _jax_hvp(jax, f, at)
    values = tuple(data.values())
    run = jax.jit(derived).lower(*values).compile()
    call = partial(_waited, jax.block_until_ready, run, values)
    # Its allocator keeps freed pages, so the compiler's own figure of a call is taken.
    told = run.memory_analysis()
    call.bytes = told.temp_size_in_bytes + told.output_size_in_bytes  # pyright: ignore[reportAttributeAccessIssue]
    return call


def _waited(wait: Call, run: Call, values: tuple[Any, ...]) -> Any:
    return wait(run(*values))


def _jax_hvp(jax: Any, f: Callable[..., Any], at: tuple[int, ...]) -> Callable[..., Any]:
    def hvp(*given: Any) -> Any:
        def slopes(*targets: Any) -> Any:
            whole = list(given)
            for place, target in zip(at, targets, strict=True):
                whole[place] = target
            return jax.grad(f, at)(*whole)

        targets = tuple([given[place] for place in at])
        return jax.jvp(slopes, targets, tuple(map(jax.numpy.ones_like, targets)))[1]

    return hvp


class _TorchNames(Names):
    """PyTorch's functions take `dim`, and no numbers for tensors."""

    def sum(self, x: Any, axis: Any = (), keepdims: bool = False) -> Any:
        return self._module.sum(x, dim=axis, keepdim=keepdims)

    def amax(self, x: Any, axis: Any = (), keepdims: bool = False) -> Any:
        return self._module.amax(x, dim=axis, keepdim=keepdims)

    def maximum(self, x: Any, y: float) -> Any:
        return self._module.relu(x) if y == 0 else self._module.clamp(x, min=y)

    def transpose(self, x: Any, axes: Any) -> Any:
        return self._module.permute(x, axes)


def by_torch(work: Workload, compiled: bool = False, device: str = "cpu") -> Call:
    """PyTorch, eager or compiled."""
    torch = import_module("torch")
    torch.set_num_threads(1)
    names = _TorchNames(
        torch, conv=torch.nn.functional.conv2d, scan=_loop, stop=lambda x: x.detach()
    )
    data = {name: torch.tensor(array, device=device) for name, array in work.data().items()}
    at = tuple([list(data).index(name) for name in work.wrt])
    values = tuple(data.values())

    def f(*given: Any) -> Any:
        return work.f(names, *given)

    made = torch.compile if compiled else (lambda function: function)
    if work.kind in ("gradient", "jacobian"):
        targets = [data[name].requires_grad_() for name in work.wrt]
        run = made(f)

        def gradients() -> Any:
            found = run(*values)
            if work.kind == "gradient":
                return found, torch.autograd.grad(found, targets)
            first, *rest = found
            slopes = [torch.autograd.grad(first, targets, retain_graph=True, allow_unused=False)]
            return [*slopes, *[torch.autograd.grad(each, targets) for each in rest]]

        return gradients
    if work.kind == "hessian":
        derived = made(torch.func.hessian(f, at))
        return lambda: derived(*values)

    def hvp(*given: Any) -> Any:
        def slopes(*targets: Any) -> Any:
            whole = list(given)
            for place, target in zip(at, targets, strict=True):
                whole[place] = target
            return torch.func.grad(f, at)(*whole)

        targets = tuple([given[place] for place in at])
        return torch.func.jvp(slopes, targets, tuple(map(torch.ones_like, targets)))[1]

    derived = made(hvp)
    return lambda: derived(*values)


def by_autograd(work: Workload) -> Call:
    """Autograd, which records at every call."""
    anp, autograd = import_module("autograd.numpy"), import_module("autograd")
    special, signal = (
        import_module("autograd.scipy.special"),
        import_module("autograd.scipy.signal"),
    )

    def conv(x: Any, w: Any) -> Any:
        flipped = w[:, :, ::-1, ::-1]
        return signal.convolve(x, flipped, axes=([2, 3], [2, 3]), dot_axes=([1], [1]), mode="valid")

    def stop(x: Any) -> Any:
        return import_module("autograd.tracer").getval(x)

    names = Names(anp, erf=special.erf, scan=_loop, conv=conv, stop=stop)
    data = work.data()
    at = tuple([list(data).index(name) for name in work.wrt])
    values = tuple(data.values())

    def f(*given: Any) -> Any:
        return work.f(names, *given)

    def on_targets(*targets: Any) -> Any:
        whole = list(values)
        for place, target in zip(at, targets, strict=True):
            whole[place] = target
        return f(*whole)

    targets = tuple([values[place] for place in at])
    if work.kind == "gradient":
        run = autograd.value_and_grad(f, at)
        return lambda: run(*values)
    if work.kind == "jacobian":
        run = [autograd.grad(lambda *given, k=k: f(*given)[k], at) for k in range(2)]
        return lambda: [each(*values) for each in run]
    if work.kind == "hessian":
        run = autograd.hessian(on_targets)
        return lambda: run(*targets)
    every = tuple(range(len(targets)))
    slopes = autograd.grad(on_targets, every)
    ones = [np.ones_like(each) for each in targets]

    def along(*given: Any) -> Any:
        return sum([anp.sum(s * o) for s, o in zip(slopes(*given), ones, strict=True)])

    run = autograd.grad(along, every)
    return lambda: run(*targets)


def by_pytensor(work: Workload, mode: str) -> Call:
    """PyTensor, compiled to C or by numba."""
    pytensor, pt = import_module("pytensor"), import_module("pytensor.tensor")
    gradient = import_module("pytensor.gradient")
    if work.f.__name__ == "convolution":
        raise NotHere("no convolution of batches")

    def scan(step: Callable[..., Any], start: Any, xs: Any) -> Any:
        found = pytensor.scan(
            lambda each, h, c: step(h, c, each),
            sequences=[xs], outputs_info=[start, start], return_updates=False,
        )  # fmt: skip
        return found[0][-1], found[1][-1]

    names = Names(
        pt, scan=scan, stop=gradient.disconnected_grad,
        amax=pt.max, reshape=lambda x, shape: x.reshape(shape),
        transpose=lambda x, axes: x.transpose(*axes),
    )  # fmt: skip
    data = work.data()
    symbols = {
        name: pt.tensor(name, dtype=str(array.dtype), shape=array.shape)
        for name, array in data.items()
    }
    value = work.f(names, **symbols)
    targets = [symbols[name] for name in work.wrt]
    if work.kind == "gradient":
        outputs = [value, *pytensor.grad(value, targets)]
    elif work.kind == "jacobian":
        outputs = [slope for each in value for slope in pytensor.grad(each, targets)]
    elif work.kind == "hessian":
        (target,) = targets
        slope = pytensor.grad(value, target)
        rows = gradient.jacobian(slope.flatten(), target)
        outputs = [rows.reshape((*data[work.wrt[0]].shape, *data[work.wrt[0]].shape))]
    else:
        slopes = pytensor.grad(value, targets)
        along = [pt.ones_like(each) for each in targets]
        outputs = gradient.hessian_vector_product(value, targets, along)
        del slopes
    run = pytensor.function(list(symbols.values()), outputs, mode=mode, on_unused_input="ignore")
    run.trust_input = True
    values = [np.asarray(array) for array in data.values()]
    return lambda: run(*values)


class _CasadiNames(Names):
    """Matrices with two axes."""

    def sum(self, x: Any) -> Any:
        return self._module.sum1(self._module.sum2(x))


def by_casadi(work: Workload) -> Call:
    """CasADi's graphs of numbers, where a graph of numbers can be had."""
    casadi = import_module("casadi")
    data = work.data()
    if work.f.__name__ not in ("scalar", "logistic", "factorisation"):
        raise NotHere("arrays of three axes, or too large for a graph of numbers")
    if sum(array.size for array in data.values()) > 10**6:
        raise NotHere("too large for a graph of numbers")
    names = _CasadiNames(casadi)
    symbols = {name: casadi.MX.sym(name, *np.shape(array)) for name, array in data.items()}
    value = work.f(names, **symbols)
    targets = [symbols[name] for name in work.wrt]
    if work.kind == "gradient":
        outputs = [value, *[casadi.gradient(value, each) for each in targets]]
    else:
        outputs = [casadi.hessian(value, targets[0])[0]]
    outputs = [casadi.densify(each) for each in outputs]
    function = casadi.Function("f", list(symbols.values()), outputs)
    buffer, run = function.buffer()
    # Its matrices go by columns.
    values: list[Any] = [np.array(array, "float64").ravel("F") for array in data.values()]
    results: list[Any] = [np.zeros(each.numel()) for each in outputs]
    for place, array in enumerate(values):
        buffer.set_arg(place, memoryview(array))
    for place, array in enumerate(results):
        buffer.set_res(place, memoryview(array))
    shape = np.shape(data[work.wrt[0]])
    shapes = [(), *[np.shape(data[name]) for name in work.wrt]]

    def call() -> Any:
        run()
        if work.kind == "hessian":
            square = results[0].reshape(*shape[::-1], *shape[::-1])
            return [np.transpose(square, _by_columns(len(shape)))]
        return [each.reshape(s, order="F") for each, s in zip(results, shapes, strict=True)]

    call.kept = buffer, values  # pyright: ignore[reportFunctionMemberAccess]
    return call


def _by_columns(ndim: int) -> tuple[int, ...]:
    return (*reversed(range(ndim)), *reversed(range(ndim, 2 * ndim)))


def by_symengine(work: Workload) -> Call:
    """SymEngine's expressions of numbers, compiled by LLVM."""
    symengine = import_module("symengine")
    if work.f.__name__ not in ("scalar", "bundle"):
        raise NotHere("expressions of numbers alone")
    data = work.data()
    columns = {n: 1 if array.ndim == 0 else array.shape[1] for n, array in data.items()}
    symbols = {n: [symengine.Symbol(f"{n}{i}") for i in range(k)] for n, k in columns.items()}
    names = Names(symengine, sum=lambda x: x)
    given = {n: s[0] if data[n].ndim == 0 else _Columns(s) for n, s in symbols.items()}
    found = work.f(names, **given)
    values = found if isinstance(found, tuple) else (found,)
    targets = [each for name in work.wrt for each in symbols[name]]
    outputs = [] if work.kind == "jacobian" else [*values]
    outputs += [symengine.diff(value, each) for value in values for each in targets]
    arguments = [each for group in symbols.values() for each in group]
    run = symengine.Lambdify(arguments, outputs, backend="llvm", cse=True)
    if work.kind == "gradient":
        vector = np.array([float(array) for array in data.values()])
        return lambda: [*run(vector)]
    rows = np.concatenate([*data.values()], axis=1)
    ends = np.cumsum([0, *[columns[name] for name in work.wrt]])

    def jacobians() -> Any:
        found = np.reshape(run(rows), (len(rows), len(values), len(targets)))
        pairs = [*pairwise(ends)]
        return [found[:, k, start:stop] for k in range(len(values)) for start, stop in pairs]

    return jacobians


class _Columns:
    """An observation, read by the columns of a table."""

    def __init__(self, symbols: list[Any]) -> None:
        self._symbols = symbols

    def __getitem__(self, key: tuple[slice, int]) -> Any:
        return self._symbols[key[1]]


_KNOWN: dict[str, tuple[str, Callable[[Workload], Call]]] = {
    "numpy": ("symgraph", by_symgraph),
    "native": ("llvmlite", partial(by_symgraph, backend="native")),
    "jax backend": ("jax", partial(by_symgraph, backend="jax")),
    "torch backend": ("torch", partial(by_symgraph, backend="torch")),
    "JAX": ("jax", by_jax),
    "torch": ("torch", by_torch),
    "torch.compile": ("torch", partial(by_torch, compiled=True)),
    "PyTensor C": ("pytensor", partial(by_pytensor, mode="CVM")),
    "PyTensor numba": ("pytensor", partial(by_pytensor, mode="NUMBA")),
    "autograd": ("autograd", by_autograd),
    "CasADi": ("casadi", by_casadi),
    "SymEngine": ("symengine", by_symengine),
}
"""By column: the module that must be there, and the call by it; the first four are symgraph's."""

LIBRARIES = {name: each for name, each in _KNOWN.items() if find_spec(each[0])}
