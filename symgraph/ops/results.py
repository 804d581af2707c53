"""One result of an operation that has several."""

from __future__ import annotations

from collections.abc import Iterable

from ..facts import Fact
from ..ir.avals import Aval
from ..ir.fact_inference import Known
from ..ir.op import Op, no_flops, register
from ..notation import array_formulas, node_text

__all__ = ["PROJECT"]


def _infer_project(results: tuple[Aval, ...], *, index: int) -> Aval:
    return results[index]


def _facts_project(x: Known, *, index: int) -> Iterable[Fact]:
    """The facts of one result of several: `Fact("result", (index, fact))`."""
    for fact in list(x.facts):
        if fact.name == "result" and fact.args[0] == index and x.has(fact):
            yield fact.args[1]


PROJECT = register(
    Op(
        "project",
        total=True,
        infer=_infer_project,
        kernel=lambda xp, values, *, index: values[index],
        flops=no_flops,
        count=0,
        facts=_facts_project,
        view=True,
        latex=array_formulas.projection_formula,
        text=node_text.projection_text,
    )
)
