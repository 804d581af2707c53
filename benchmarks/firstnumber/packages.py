"""Packages that derive gradients: the namespace each gives, and the gradients of all arguments."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

__all__ = ["NO_MATRICES", "PACKAGES", "by_autograd", "ours"]

Arrays: TypeAlias = dict[str, Any]
Gradients: TypeAlias = Callable[[Callable[..., Any], Arrays], list[Any]]


class Names:
    """A package's functions, with those that packages write unlike."""

    def __init__(self, module: Any, erf: Callable[[Any], Any]) -> None:
        self._module = module
        self.erf = erf

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def rows(self, x: Any) -> Any:
        """The sums along the last axis."""
        return self._module.sum(x, -1)

    def column(self, sums: Any, like: Any) -> Any:
        """Sums of rows, to be combined with the rows."""
        return sums.reshape(-1, 1)


class CasadiNames(Names):
    """Its matrices have two axes, and do not broadcast."""

    def sum(self, x: Any) -> Any:
        """The sum of all elements."""
        return self._module.sum1(self._module.sum2(x))

    def rows(self, x: Any) -> Any:
        """The sums of the rows, a column."""
        return self._module.sum2(x)

    def column(self, sums: Any, like: Any) -> Any:
        """The column, repeated."""
        return self._module.repmat(sums, 1, like.shape[1])


def ours() -> Names:
    """The functions of symgraph."""
    special = import_module("symgraph.scipy.special")
    return Names(import_module("symgraph.numpy"), special.erf)


def by_symgraph(effort: str) -> Gradients:
    """By symgraph with this effort."""

    def gradients(f: Callable[..., Any], at: Arrays) -> list[Any]:
        sg = import_module("symgraph")
        names = ours()
        made = sg.grad(lambda **given: f(names, **given), wrt=list(at), effort=effort)
        return list(made(**at))

    return gradients


def by_jax(f: Callable[..., Any], at: Arrays) -> list[Any]:
    """By jax.jit of jax.grad, compilation included."""
    jax = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    names = Names(jax.numpy, import_module("jax.scipy.special").erf)
    given = {name: jax.numpy.asarray(value) for name, value in at.items()}
    found = jax.jit(jax.grad(lambda given: f(names, **given)))(given)
    return [np.asarray(found[name]) for name in at]


def by_torch(f: Callable[..., Any], at: Arrays) -> list[Any]:
    """By torch without its compiler."""
    torch = import_module("torch")
    given = {name: torch.tensor(value, requires_grad=True) for name, value in at.items()}
    f(Names(torch, torch.erf), **given).backward()
    return [given[name].grad.numpy() for name in at]


def by_autograd(f: Callable[..., Any], at: Arrays) -> list[Any]:
    """By autograd, which runs what it derives."""
    autograd = import_module("autograd")
    special = import_module("autograd.scipy.special")
    names = Names(import_module("autograd.numpy"), special.erf)
    found = autograd.grad(lambda given: f(names, **given))(at)
    return [found[name] for name in at]


def by_casadi(f: Callable[..., Any], at: Arrays) -> list[Any]:
    """By graphs of matrices."""
    casadi = import_module("casadi")
    given = {name: casadi.MX.sym(name, *np.shape(value)) for name, value in at.items()}
    value = f(CasadiNames(casadi, casadi.erf), **given)
    slopes = [casadi.gradient(value, each) for each in given.values()]
    run = casadi.Function("f", list(given.values()), slopes)
    found = run(*at.values())
    found = found if isinstance(found, tuple) else (found,)
    pairs = zip(found, at.values(), strict=True)
    return [np.asarray(each).reshape(np.shape(value)) for each, value in pairs]


NO_MATRICES = ("HMM", "RNN, 50 steps", "LSTM, 50 steps", "mixture")
"""Workloads that read rows or have three axes: CasADi has matrices alone."""

OURS = ("symgraph", "symgraph.numpy", "symgraph.scipy.special")

PACKAGES: dict[str, tuple[tuple[str, ...], Gradients]] = {
    "symgraph": (OURS, by_symgraph("normal")),
    "symgraph, low": (OURS, by_symgraph("low")),
    "jax": (("jax", "jax.scipy.special"), by_jax),
    "torch, eager": (("torch",), by_torch),
    "autograd": (("autograd", "autograd.numpy", "autograd.scipy.special"), by_autograd),
    "casadi": (("casadi",), by_casadi),
}
"""By column: modules, which are imported before the clock starts, and the gradients by them."""
