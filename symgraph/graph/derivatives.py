"""The derivatives of a graph: each function gives the graph with further outputs.

They are the methods of `Graph` of the same names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, Self, TypeVar

from ..array.handle import Array
from ..autodiff.connectivity import Connection
from ..autodiff.connectivity import connection as connection_of
from ..autodiff.derivations import Derivation
from ..autodiff.differentiate import Disconnected, output_of, target_of
from ..autodiff.directions import Direction
from ..autodiff.jacobian_products import HvpMode, cotangents_given, tangent_pairs, tangents_given
from ..autodiff.jacobians import JacobianMode
from ..autodiff.scalar import ScalarDerivatives
from ..autodiff.scalar import scalar_derivatives as derivatives_of_scalars
from ..ir.interpreter import given_inputs
from ..ir.node import Node
from ..pytrees import listed
from .measures import HasDag
from .stage import Derive

__all__ = [
    "connection",
    "gradient",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "scalar_derivatives",
    "vjp",
]


class Differentiable(HasDag, Protocol):
    """A graph to which a derivative can be appended."""

    def derived(self, wrt: Iterable[Any], derive: Derive) -> Self:
        """The graph with the outputs that `derive` gives."""
        ...


Graph = TypeVar("Graph", bound=Differentiable)
"""The user's graph, `graph.Graph`, whose module imports this one."""


def gradient(
    self: Graph,
    *wrt: str | Array | Node,
    value: bool = True,
    of: str | None = None,
    disconnected: Disconnected = "zero",
) -> Graph:
    """The same graph with gradients of its scalar output as further outputs.

    Reverse mode, symbol to symbol (Goodfellow et al., algorithms 6.5 and 6.6). A graph that was
    simplified with facts that tie elements together (`simplex`, `symmetric`, ...) is
    differentiated as it was before, for such facts do not hold in a neighbourhood.

    Parameters
    ----------
    *wrt : str, Array or Node
        Inputs by name, or intermediate values.
    value : bool
        Keep the output itself, as first output: results are grouped `value, (grad, grad, ...)`.
    of : str, optional
        Which output, if the graph has several.
    disconnected : "zero" or "raise"
        The gradient where no path leads from the target to the output: zeros, or an error.

    Returns
    -------
    Graph
        Each gradient has the shape and dtype of its target.

    Raises
    ------
    ShapeError
        If the output is not a scalar.
    DTypeError
        If the output or a target is not floating.
    InputError
        If there is no such target, or several outputs and `of` names none.
    NotDifferentiable
        If an operation on a path has no derivative, or none is met and `disconnected="raise"`.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> value, slope = graph.gradient("x").evaluate(x=[0.0, 0.0])
    >>> slope
    array([1., 1.])
    """
    options = {"wrt": wrt, "value": value, "of": of, "disconnected": disconnected}
    return self.derived(wrt, Derivation("gradient", options))


def jvp(
    self: Graph,
    tangents: Mapping[Any, Direction] | str | Sequence[Any],
    *,
    value: bool = True,
    of: str | None = None,
) -> Graph:
    """The same graph with tangents J v of its outputs as further outputs: forward mode.

    Parameters
    ----------
    tangents : mapping
        From inputs (or intermediate values) to their tangents: the name of a new input, numbers
        or a symbolic array, of the value's shape, possibly with extra leading axes, the same
        for all. Pairs (value, tangent) serve as well, for arrays cannot be keys; names of
        inputs alone give each a new input, `tangent_x`.
    value : bool
        Keep the outputs: results are grouped `outputs, tangents`, both as the outputs are.
    of : str, optional
        Which output; by default all.

    Returns
    -------
    Graph
        Tangents have the shapes of the outputs, behind the extra leading axes.

    Raises
    ------
    InputError, ShapeError, DTypeError
        If a tangent's name is taken or it does not fit.
    NotDifferentiable
        If an operation on a path has no derivative.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> graph.jvp({"x": "v"}, value=False).evaluate(x=[0.0, 0.0], v=[1.0, 2.0])
    array(3.)
    """
    pairs = tangent_pairs(tangents)
    wrt = [target for target, _ in pairs]
    given = tangents_given(self.dag, wrt, [each for _, each in pairs], "tangent")
    return self.derived(wrt, Derivation("jvp", {"given": given, "value": value, "of": of}))


def vjp(
    self: Graph,
    *wrt: str | Array | Node,
    cotangent: Direction | Mapping[str, Direction] = "cotangent",
    value: bool = True,
    of: str | None = None,
) -> Graph:
    """The same graph with cotangents Jᵀ u of inputs as further outputs: reverse mode.

    Parameters
    ----------
    *wrt : str, Array or Node
        Inputs by name, or intermediate values, of floating dtypes.
    cotangent : str, array_like or Array; or a mapping from names of outputs
        The name of a new input, numbers or a symbolic array, of the output's shape, possibly
        with extra leading axes.
    value, of
        As `jvp`.

    Returns
    -------
    Graph
        Cotangents have the shapes of the targets, behind the extra leading axes.

    Raises
    ------
    InputError, ShapeError, DTypeError
        If the cotangent's name is taken or it does not fit.
    NotDifferentiable
        If an operation on a path has no derivative.

    Examples
    --------
    >>> graph = sg.trace(np.cumsum, "n")
    >>> name = next(iter(graph.inputs))
    >>> graph.vjp(name, cotangent="u", value=False).evaluate([1.0, 2.0], [1.0, 10.0])
    array([11., 10.])
    """
    given = cotangents_given(self.dag, of, cotangent)
    return self.derived(wrt, Derivation("vjp", {"wrt": wrt, "given": given, "value": value}))


def jacobian(
    self: Graph,
    *wrt: str | Array | Node,
    value: bool = True,
    of: str | None = None,
    mode: JacobianMode | None = None,
    diagonal: bool = False,
) -> Graph:
    """The same graph with Jacobians, of shape (*output.shape, *input.shape), as outputs.

    The mode of fewest operations is taken, and named in `history`; along axes that output and
    input share elementwise a Jacobian is diagonal and found by one seed.

    Parameters
    ----------
    *wrt : str, Array or Node
        Inputs by name, or intermediate values, of floating dtypes.
    value, of
        As `jvp`; results are grouped by output, then by target.
    mode : "reverse", "forward" or "mixed", optional
        Instead of the cheapest: seeds for all elements of the output, of the input, or of the
        narrowest value between them.
    diagonal : bool
        Only the diagonal: axes of the input that are tied to axes of the output do not come
        again, so an elementwise map of shape (n,) has n numbers and not n × n.

    Returns
    -------
    Graph
        Blocks of shape (*output.shape, *input.shape).

    Raises
    ------
    InputError
        If there is no diagonal; it names the operation that mixes.
    DTypeError, NotDifferentiable
        As `gradient`.

    Examples
    --------
    >>> graph = sg.trace(lambda x: x**2 + x[0], x=(2,))
    >>> graph.jacobian("x", value=False).evaluate(x=[1.0, 3.0])
    array([[3., 0.],
           [1., 6.]])
    """
    options = {"wrt": wrt, "value": value, "of": of, "mode": mode, "diagonal": diagonal}
    return self.derived(wrt, Derivation("jacobian", options))


def hessian(
    self: Graph,
    *wrt: str | Array | Node,
    value: bool = True,
    of: str | None = None,
    mode: JacobianMode | None = None,
    diagonal: bool = False,
) -> Graph:
    """The same graph with second derivatives of its scalar output: the gradient's Jacobian.

    One target gives a block of shape (*x.shape, *x.shape); several give nested tuples, block
    [i][j] of shape (*xi.shape, *xj.shape); [j][i] is the transpose of [i][j]. Where
    derivatives of a user's or clipped gradients are met both are computed.

    Parameters
    ----------
    *wrt : str, Array or Node
        Inputs by name, or intermediate values, of floating dtypes.
    value, of, mode, diagonal
        As `jacobian`.

    Returns
    -------
    Graph
        Blocks of shape (*x.shape, *x.shape).

    Raises
    ------
    ShapeError, DTypeError, InputError, NotDifferentiable
        As `gradient` and `jacobian`.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(x**3), x=(2,))
    >>> graph.hessian("x", value=False).evaluate(x=[1.0, 2.0])
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    options = {"wrt": wrt, "value": value, "mode": mode, "diagonal": diagonal}
    return gradient(self, *wrt, of=of).derived(wrt, Derivation("hessian", options))


def hvp(
    self: Graph,
    wrt: str | Array | Node | Sequence[str | Array | Node],
    v: Direction | Sequence[Direction] = "v",
    *,
    value: bool = True,
    of: str | None = None,
    mode: HvpMode = "reverse",
) -> Graph:
    r"""The same graph with Hessian-vector products $\nabla(\nabla f \cdot v)$ as outputs.

    No Hessian is built: the graph grows by a multiple of its own size, however large x is.

    Parameters
    ----------
    wrt : str, Array or Node, or a sequence of them
    v : str, array_like or Array, or a sequence of as many
        The name of a new input, numbers or a symbolic array; it is not differentiated through.
    value, of
        As `gradient`.
    mode : "reverse" or "forward"
        Reverse over reverse, or forward over reverse: the same numbers.

    Returns
    -------
    Graph
        Products have the shapes and dtypes of the targets.

    Raises
    ------
    InputError, ShapeError, DTypeError, NotDifferentiable
        As `gradient`, or if `v` does not fit.

    Examples
    --------
    Newton's step by conjugate gradients, without a Hessian:

    >>> import numpy as np, symgraph as sg
    >>> from scipy.sparse.linalg import LinearOperator, cg
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x) + (x - 1) ** 4), x=(3,))
    >>> product = graph.hvp("x", "v", value=False).simplify().lower()
    >>> slope = graph.gradient("x", value=False).simplify().lower()
    >>> x = np.array([0.0, 0.5, 2.0])
    >>> hessian = LinearOperator((3, 3), matvec=lambda v: product(x=x, v=v), dtype=float)
    >>> step, _ = cg(hessian, -slope(x=x), rtol=1e-12)
    >>> step.round(4)
    array([ 0.2308, -0.2471, -0.5874])
    """
    single = isinstance(wrt, (str, Array, Node))
    targets = [wrt] if single else list(wrt)
    vectors = [v] if single else listed(v)
    if not single and isinstance(v, str):
        vectors = [f"{v}_{i}" for i in range(len(targets))]
    given = tangents_given(self.dag, targets, vectors, "vector")
    options = {"given": given, "single": single, "value": value, "mode": mode}
    return gradient(self, *targets, of=of).derived(targets, Derivation("hvp", options))


def scalar_derivatives(
    self: HasDag, /, *args: object, of: str | None = None, **named: object
) -> ScalarDerivatives:
    """The textbooks' tables of a graph of scalars, with numbers: forward, backward, naive.

    Inputs are given as for `evaluate`; `of` says which output.

    Parameters
    ----------
    *args, **named : number
        Inputs as `evaluate` takes them.
    of : str, optional
        Which output, if the graph has several.

    Returns
    -------
    ScalarDerivatives
        Values, tangents and partials by node; `side_by_side()` prints the tables.

    Raises
    ------
    InputError, ShapeError
        If inputs do not fit, or a value of the graph is no scalar.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sin(x) * x, x=())
    >>> graph.scalar_derivatives(x=0.0).partials[graph.nodes[-1], 1]
    0.0
    """
    given = given_inputs(self.dag.inputs, args, named, ("of",))
    return derivatives_of_scalars(self.dag, output_of(self.dag, of), given)


def connection(self: HasDag, wrt: str | Array | Node, of: str | None = None) -> Connection:
    """Whether the derivative is connected, zero, disconnected or undefined, and the path.

    Parameters
    ----------
    wrt : str, Array or Node
        An input by name, or a value.
    of : str, optional
        Which output, if the graph has several.

    Returns
    -------
    Connection
        Its `kind` is the answer, `path` the nodes.

    Raises
    ------
    InputError
        If there is no such target or output.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> graph.connection("x").kind
    'connected'
    """
    return connection_of(output_of(self.dag, of), target_of(self.dag, wrt))
