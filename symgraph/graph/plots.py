"""Plots of memory and cost, by matplotlib. The functions are methods of `View`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .. import memory as plans
from ..errors import InputError, SymgraphError
from ..ir.cost import cost as cost_of
from ..ir.dims import is_named
from ..ir.origins import origins
from ..notation.node_text import escaped, shortened
from ..passes.program_graph import program_graph
from .measures import HasDag

__all__ = ["axes_of", "plot_cost", "plot_memory"]


def axes_of(ax: object) -> Any:
    """The axes to draw on: those given, or new ones.

    Raises
    ------
    SymgraphError
        If matplotlib is not installed.
    """
    if ax is not None:
        return ax
    try:
        pyplot = import_module("matplotlib.pyplot")
    except ImportError:
        raise SymgraphError(
            "Plots are drawn by matplotlib, which is not installed.",
            mend="Install it: pip install matplotlib.",
        ) from None
    return pyplot.subplots()[1]


def _plain(label: str) -> str:
    """A label in which matplotlib sees no mathematics."""
    return shortened(escaped(label)).replace("$", r"\$")


def plot_memory(
    self: HasDag, /, ax: object = None, *, budget: int | float | str | None = None, **dims: int
) -> Any:
    """The bytes that live at each step of a run, its peak, and a line for the budget.

    Parameters
    ----------
    ax : matplotlib.axes.Axes, optional
        To draw on; new ones by default. A second graph may be drawn on the same axes.
    budget : int, float or str, optional
        As for `checkpoint`, such as `"64 MB"`.
    **dims : int
        A size for each named dimension.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    SymgraphError
        If matplotlib is not installed.
    InputError
        If a size is missing, or the budget is no size.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> graph.plot_memory(budget="8 kB", n=1000)  # doctest: +SKIP
    """
    limit = None
    if budget is not None:
        limit = plans.bytes_of(budget, plans.program_peak(plans.without_copies(self.dag), dims))
    found = plans.memory(program_graph(self.dag), dims)
    axes = axes_of(ax)
    sizes = [size / 1024 for _, size in found.timeline]
    label = f"peak {plans.readable_bytes(found.peak_bytes)}"
    axes.step(range(1, len(sizes) + 1), sizes, where="mid", label=label)
    if limit is not None:
        told = f"budget {_plain(str(budget))}"
        axes.axhline(limit / 1024, color="tab:red", linestyle="--", label=told)
    axes.set_xlabel("step")
    axes.set_ylabel("KiB live")
    axes.set_ylim(bottom=0)
    axes.legend()
    return axes


def plot_cost(
    self: HasDag, /, ax: object = None, *, of: str = "flops", most: int = 15, **dims: int
) -> Any:
    """The flops or the bytes moved by each of the user's lines, the largest first.

    A line's gradient has a bar of its own.

    Parameters
    ----------
    ax : matplotlib.axes.Axes, optional
        To draw on; new ones by default.
    of : "flops" or "bytes"
    most : int
        The largest number of lines.
    **dims : int
        A size for each named dimension.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    SymgraphError
        If matplotlib is not installed.
    InputError
        If a size is missing.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> graph.plot_cost(n=1000)  # doctest: +SKIP
    """
    if of not in ("flops", "bytes"):
        raise InputError(f"There is no cost {of!r}.", mend='Use "flops" or "bytes".')
    totals: dict[str, int] = {}
    known = origins(self.dag.nodes)
    for node, share in cost_of(self.dag.outputs, dims, self.dag.dims).by_node.items():
        amount = getattr(share, of)
        if is_named(amount):
            raise InputError(
                f"The {of} depend on {amount}, which has no size.",
                mend="Give a size for each named dimension, as in plot_cost(n=1000).",
            )
        origin = known[node]
        line = str(origin.frames[0]) if origin.frames else "no line"
        name = f"gradient of {line}" if origin.adjoint_of is not None else line
        totals[name] = totals.get(name, 0) + int(amount)
    largest = sorted(totals.items(), key=lambda each: -each[1])[:most][::-1]
    axes = axes_of(ax)
    axes.barh([_plain(name) for name, _ in largest], [amount for _, amount in largest])
    axes.set_xlabel(of)
    return axes
