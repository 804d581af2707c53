"""Derivations: how a graph is derived from another one, by name and options.

A graph of derivatives is derived again whenever it is simplified, so it keeps its derivation. A
`Derivation` is data: it can be compared, written to a file and read from one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ..ir.dag import Dag
from ..records import record
from .differentiate import differentiated
from .flat import STAGES, FlatPlan, StageOf
from .jacobian_products import hessian_products, pulled_back, pushed_forward
from .jacobians import JacobianMode, Record, jacobians

__all__ = ["DERIVATIONS", "Derivation", "staged"]


@record(eq=False)
class Derivation:
    """A derivative that can be taken of a graph.

    Parameters
    ----------
    name : str
        A key of `DERIVATIONS`.
    options : mapping
        Keywords of its function there: names, numbers, symbolic arrays, and pairs of these.
    """

    name: str
    options: Mapping[str, Any]

    def __call__(self, dag: Dag, record: Record) -> Dag:
        """The derivative of `dag`; `record` notes the choices made."""
        return DERIVATIONS[self.name](dag, record, **self.options)


def _hessian(
    dag: Dag,
    record: Record,
    *,
    wrt: Sequence[Any],
    value: bool,
    mode: JacobianMode | None = None,
    diagonal: bool = False,
) -> Dag:
    """Second derivatives of a graph whose outputs are a scalar and its gradients."""
    return jacobians(
        dag,
        wrt,
        outputs=range(1, 1 + len(wrt)),
        kept=(0,),
        single=len(wrt) == 1,
        name="hessian",
        symmetric=True,
        record=record,
        value=value,
        mode=mode,
        diagonal=diagonal,
    )


def _stage(
    dag: Dag, record: Record, *, stage: str, plan: FlatPlan, value: bool, **options: object
) -> Dag:
    return STAGES[stage](dag, plan, value, record, **options)


DERIVATIONS: Mapping[str, Callable[..., Dag]] = {
    "gradient": lambda dag, _record, **options: differentiated(dag, **options),
    "jvp": lambda dag, _record, **options: pushed_forward(dag, **options),
    "vjp": lambda dag, _record, **options: pulled_back(dag, **options),
    "jacobian": lambda dag, record, **options: jacobians(dag, record=record, **options),
    "hessian": _hessian,
    "hvp": lambda dag, _record, **options: hessian_products(dag, **options),
    "stage": _stage,
}


def staged(stage: StageOf, plan: FlatPlan, value: bool) -> Callable[[Dag, Record], Dag]:
    """A stage of a transform as a `Derivation`; any other callable stays a plain function."""
    function: Any = stage.func if isinstance(stage, partial) else stage
    options = stage.keywords if isinstance(stage, partial) else {}
    for name, known in STAGES.items():
        if known is function:
            return Derivation("stage", {"stage": name, "plan": plan, "value": value, **options})
    return lambda dag, record: stage(dag, plan, value, record)
