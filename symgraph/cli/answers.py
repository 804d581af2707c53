"""The answers of the page of `symgraph serve`: all that `symgraph derive` finds."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InputError, SymgraphError
from ..export import graph_text, svg
from ..export.latex import latex
from ..graph import Graph
from ..ir.cost import op_count
from ..ir.dag import Dag
from ..page.mathml import mathematics
from .arguments import differentiable, differentiated_by, numeric_check
from .derive import gradients_of

__all__ = ["answer"]

_TRUST = ("exact", "rounding", "domain")


def answer(question: Mapping[str, str]) -> dict[str, Any]:
    """The graphs, closed forms, source, check and derivation of a question.

    Parameters
    ----------
    question : mapping of str to str
        `expression`; `wrt`, names with commas, by default the only one; `shapes`, `facts`,
        `dtypes` and `sizes`, one a line as the options of `symgraph derive` take them; `trust`.

    Returns
    -------
    dict
        Texts and numbers that JSON can hold.

    Raises
    ------
    SymgraphError
        As `symgraph derive` does.

    Examples
    --------
    >>> answer({"expression": "sum(log(exp(x)) * x)", "wrt": "x"})["formulas"]
    [['x', 'x + x']]
    """
    options = _options(question)
    forward = Graph(differentiable(options))
    wrt = differentiated_by([question.get("wrt", "")], forward)
    joint = forward.gradient(*wrt)
    result = joint.simplify(trust=options.trust)
    gradients = gradients_of(result.dag, len(wrt))
    named = gradients.with_outputs(gradients.outputs, [f"grad_{name}" for name in wrt])
    formula, with_indices = latex(named), latex(named, "index")
    return {
        "formulas": [
            [name, graph_text.formula(gradients.with_outputs([node], ["out"], 0))]
            for name, node in zip(wrt, gradients.outputs, strict=True)
        ],
        "latex": formula,
        "mathematics": mathematics(formula),
        "latex_index": with_indices,
        "mathematics_index": mathematics(with_indices),
        "operations": op_count(gradients.outputs),
        "operations_before": op_count(gradients_of(joint.dag, len(wrt)).outputs),
        "check": _check(forward.dag, gradients, wrt, options),
        "source": Graph(named).to_python(),
        "steps": str(result.explain()),
        "pictures": [
            ["forward", svg.render(forward.dag, "forward")],
            ["gradient as derived", svg.render(joint.dag, "gradient as derived")],
            ["simplified", svg.render(result.dag, "simplified")],
        ],
        "explorer": result.explore().html,
    }


def _options(question: Mapping[str, str]) -> argparse.Namespace:
    """The question as the options of `symgraph derive`."""
    trust = question.get("trust") or "rounding"
    if trust not in _TRUST:
        raise InputError(f"There is no trust {trust[:40]!r}.", mend=f"Use {', '.join(_TRUST)}.")
    return argparse.Namespace(
        expression=question.get("expression", ""),
        shape=_lines(question.get("shapes", "")),
        given=_lines(question.get("facts", "")),
        dtype=_lines(question.get("dtypes", "")),
        size=_lines(question.get("sizes", "")),
        trust=trust,
        seed=0,
    )


def _lines(given: str) -> list[str]:
    return [line.strip() for line in given.splitlines() if line.strip()]


def _check(
    forward: Dag, gradients: Dag, wrt: Sequence[str], options: argparse.Namespace
) -> dict[str, Any]:
    """The verdict of the numeric check, or why there is none."""
    try:
        check = numeric_check(forward, gradients, wrt, options)
    except SymgraphError as error:
        error.frame = None
        return {"ok": False, "text": f"{type(error).__name__}: {error}"}
    return {"ok": check.ok, "text": str(check)}
