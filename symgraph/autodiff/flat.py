"""Derivatives of graphs with flat outputs, stage by stage, for function transforms.

A graph traced for a transform has the outputs of the function, then its auxiliary outputs. Each
stage keeps them in front and appends its results, one for each leaf. The last stage may drop the
outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from ..array import Array
from ..errors import DTypeError, InputError, ShapeError
from ..ir.dag import Dag
from ..ops.creation import zeros
from ..records import record
from .directions import distinct
from .forward import tangents
from .jacobian_products import HvpMode
from .jacobians import JacobianMode, Record, jacobian
from .reverse import cotangents, gradients

__all__ = ["STAGES", "FlatPlan", "StageOf", "gradient", "hessian", "hvp", "jacobians", "jvp", "vjp"]


@record
class FlatPlan:
    """The inputs and outputs of a flat graph, by their part in a derivative.

    Parameters
    ----------
    targets : tuple of str
        Inputs to differentiate with respect to.
    directions : tuple of str
        Inputs that hold tangents, cotangents or vectors, one for each target or output.
    outputs, auxiliary : int
        The number of outputs of the function, and of auxiliary outputs.
    """

    targets: tuple[str, ...]
    directions: tuple[str, ...]
    outputs: int
    auxiliary: int

    def inputs(self, dag: Dag, names: Sequence[str]) -> list[Array]:
        """The inputs of these names."""
        return [Array(dag.inputs[name]) for name in names]

    def outs(self, dag: Dag) -> list[Array]:
        """The outputs of the function."""
        return [Array(node) for node in dag.outputs[: self.outputs]]

    def results(self, dag: Dag) -> list[Array]:
        """The results of the previous stage."""
        return [Array(node) for node in dag.outputs[self.outputs + self.auxiliary :]]

    def named(self, kind: str) -> list[str]:
        """A name for the result of each target."""
        return [f"{kind}_{name}" for name in self.targets]

    def finished(
        self, dag: Dag, results: Sequence[Array], value: bool, names: Sequence[str]
    ) -> Dag:
        """The graph with these results, with or without the outputs of the function."""
        front = 0 if value else self.outputs
        kept = slice(front, self.outputs + self.auxiliary)
        nodes = [*dag.outputs[kept], *[each.node for each in results]]
        every = distinct([*dag.names[kept], *names])
        return Dag(dag.inputs, nodes, every, tuple(range(len(nodes))))


StageOf: TypeAlias = Callable[[Dag, FlatPlan, bool, Record], Dag]
"""A stage: `stage(dag, plan, value, record)` gives the graph with its results."""


def gradient(dag: Dag, plan: FlatPlan, value: bool, record: Record) -> Dag:
    """Append the gradients of the only output."""
    if plan.outputs != 1:
        raise ShapeError(
            f"A gradient is taken of one scalar; this function has {plan.outputs} outputs.",
            mend="Return one scalar, and the rest with has_aux=True; or ask for a Jacobian. Of a "
            "complex number return np.abs(z), z.real or z.imag.",
        )
    targets = plan.inputs(dag, plan.targets)
    found = gradients(plan.outs(dag)[0], targets)
    return plan.finished(dag, _filled(found, targets), value, plan.named("grad"))


def jvp(dag: Dag, plan: FlatPlan, value: bool, record: Record) -> Dag:
    """Append the tangents of the outputs."""
    seeds = _paired(plan.inputs(dag, plan.targets), plan.inputs(dag, plan.directions))
    outs = plan.outs(dag)
    names = [f"tangent_{name}" for name in dag.names[: plan.outputs]]
    return plan.finished(dag, _filled(tangents(outs, seeds), outs), value, names)


def vjp(dag: Dag, plan: FlatPlan, value: bool, record: Record) -> Dag:
    """Append the cotangents of the targets."""
    pairs = _paired(plan.outs(dag), plan.inputs(dag, plan.directions))
    seeds = [(out, ct) for out, ct in pairs if out.dtype.kind == "f"]
    if not seeds:
        raise DTypeError("No output is floating: there is nothing to pull back.")
    targets = plan.inputs(dag, plan.targets)
    found = _filled(cotangents(seeds, targets), targets)
    return plan.finished(dag, found, value, plan.named("cotangent"))


def jacobians(mode: JacobianMode | None, diagonal: bool) -> StageOf:
    """The stage that appends Jacobians, by output, then by target."""
    return partial(_jacobians, mode=mode, diagonal=diagonal)


def _jacobians(
    dag: Dag,
    plan: FlatPlan,
    value: bool,
    record: Record,
    *,
    mode: JacobianMode | None,
    diagonal: bool,
) -> Dag:
    found = _blocks(plan.outs(dag), plan.inputs(dag, plan.targets), mode, diagonal, record)
    outputs = dag.names[: plan.outputs]
    kinds = ["jacobian"] if len(outputs) == 1 else [f"jacobian_{each}" for each in outputs]
    names = [name for kind in kinds for name in plan.named(kind)]
    return plan.finished(dag, found, value, names)


def hessian(mode: JacobianMode | None, diagonal: bool) -> StageOf:
    """The stage that replaces gradients by their Jacobians."""
    return partial(_hessian, mode=mode, diagonal=diagonal)


def _hessian(
    dag: Dag,
    plan: FlatPlan,
    value: bool,
    record: Record,
    *,
    mode: JacobianMode | None,
    diagonal: bool,
) -> Dag:
    targets = plan.inputs(dag, plan.targets)
    found = _blocks(plan.results(dag), targets, mode, diagonal, record)
    names = [f"{name}_{other}" for name in plan.named("hessian") for other in plan.targets]
    names = names if len(targets) > 1 else plan.named("hessian")
    return plan.finished(dag, found, value, names)


def hvp(mode: HvpMode) -> StageOf:
    """The stage that replaces gradients by Hessian-vector products; see `hessian_products`."""
    if mode not in ("reverse", "forward"):
        raise InputError(f"There is no mode {mode!r}.", mend='Use "reverse" or "forward".')
    return partial(_hvp, mode=mode)


def _hvp(dag: Dag, plan: FlatPlan, value: bool, record: Record, *, mode: HvpMode) -> Dag:
    targets = plan.inputs(dag, plan.targets)
    vectors = plan.inputs(dag, plan.directions)
    grads = plan.results(dag)
    found = (
        cotangents(_paired(grads, vectors), targets)
        if mode == "reverse"
        else tangents(grads, _paired(targets, vectors))
    )
    return plan.finished(dag, _filled(found, targets), value, plan.named("hvp"))


STAGES: Mapping[str, Callable[..., Any]] = {
    "gradient": gradient,
    "jvp": jvp,
    "vjp": vjp,
    "jacobians": _jacobians,
    "hessian": _hessian,
    "hvp": _hvp,
}
"""The stages by name; their options are keywords. Saved stages are looked up here."""


def _blocks(
    outputs: Sequence[Array],
    targets: Sequence[Array],
    mode: JacobianMode | None,
    diagonal: bool,
    record: Record,
) -> list[Array]:
    found: list[Array] = []
    for y in outputs:
        for x in targets:
            block, how = jacobian(y, x, mode=mode, diagonal=diagonal)
            record(f"jacobian by {how}", y.node, block.node)
            found.append(block)
    return found


def _paired(values: Sequence[Array], directions: Sequence[Array]) -> list[tuple[Array, Array]]:
    return list(zip(values, directions, strict=True))


def _filled(found: Sequence[Array | None], like: Sequence[Array]) -> list[Array]:
    return [
        zeros(each.shape, each.dtype if each.dtype.kind == "f" else "float64")
        if result is None
        else result
        for result, each in zip(found, like, strict=True)
    ]
