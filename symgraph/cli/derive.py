"""`symgraph derive`: the gradient of an expression, derived, simplified, explained and checked."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..export import dot, graph_text, svg
from ..export.latex import latex
from ..graph import Graph
from ..ir.cost import op_count
from ..ir.dag import Dag
from ..rewriting.log import Step
from .arguments import (
    add_input_arguments,
    add_simplify_arguments,
    as_data,
    differentiable,
    differentiated_by,
    numeric_check,
)

__all__ = ["add_arguments", "gradients_of", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `symgraph derive`."""
    parser.description = (
        "Names without a shape are vectors of one common length n, or numbers where the expression "
        "is one element by element, as x**2 / (1 + x) is."
    )
    parser.epilog = "Exit code: 0 if the check passes, 1 if it fails, 2 if the input is not valid."
    add = parser.add_argument
    add("expression", metavar="EXPR", help='such as "-sum(p*log(softmax(z)))"')
    add(
        "--wrt",
        action="append",
        default=[],
        metavar="NAME[,NAME]",
        help="differentiate by these; by default the only name",
    )
    add_input_arguments(parser)
    add("--size", action="append", default=[], metavar="DIM=N", help="a dimension in the check")
    add_simplify_arguments(parser)
    add("--svg", type=Path, metavar="FILE", help="draw the gradient graph")
    add("--dot", type=Path, metavar="FILE", help="write the gradient graph for Graphviz")
    add("--explain", action="store_true", help="show both sides and the license of each step")
    shown = "show the gradient as LaTeX, too"
    add("--latex", action="store_const", const="matrix", help=shown)
    indices = f"{shown}, with an index for each axis"
    add("--latex-index", dest="latex", action="store_const", const="index", help=indices)
    add("--no-simplify", action="store_true", help="show the gradient as derived")
    add("--no-check", action="store_true", help="skip the numeric check")
    add("--seed", type=int, default=0, help="seed of the random point of the check")
    add("--json", action="store_true", help="print the result as JSON, and nothing else")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Derive, print, draw and check the gradient; 1 if the check fails."""
    forward = Graph(differentiable(options))
    wrt = differentiated_by(options.wrt, forward)
    if options.json:
        return _as_json(forward, wrt, options)
    joint = forward.gradient(*wrt)
    _section("forward", forward.dag)
    _section(f"gradient with respect to {', '.join(wrt)}", joint.dag)
    result = joint
    if not options.no_simplify:
        result = joint.simplify(trust=options.trust, effort=options.effort)
        _section("simplified", result.dag)
        if options.explain:
            print(f"\nexplanation\n{result.explain()}")
        else:
            _rules(result.history.steps)
    gradients = gradients_of(result.dag, len(wrt))
    derived, left = (op_count(gradients_of(each.dag, len(wrt)).outputs) for each in (joint, result))
    title = "as derived" if options.no_simplify else f"closed form, {derived} operations before"
    print(f"\n{title}, {left} now" if result is not joint else f"\n{title}, {left} operations")
    _closed_forms(wrt, gradients)
    if not options.no_simplify and options.trust == "rounding" and left <= _FEW:
        _by_domain(joint, left, wrt, options)
    if options.latex:
        named = gradients.with_outputs(gradients.outputs, [f"grad_{name}" for name in wrt])
        print(f"\nLaTeX\n{latex(named, options.latex)}")
    _drawn(result.dag, options)
    if options.no_check:
        return 0
    check = numeric_check(forward.dag, gradients, wrt, options)
    print(f"\ncheck  {check}")
    return 0 if check.ok else 1


_FEW = 40
"""Operations of a gradient that is simplified a second time, to tell what more trust would give."""


def _closed_forms(wrt: Sequence[str], gradients: Dag) -> None:
    for name, node in zip(wrt, gradients.outputs, strict=True):
        print(f"  d/d{name} = {graph_text.formula(gradients.with_outputs([node], ['out'], 0))}")


def _by_domain(joint: Graph, before: int, wrt: Sequence[str], options: argparse.Namespace) -> None:
    """Print the closed forms with x / x = 1 and its like, if they are shorter."""
    wider = joint.simplify(trust="domain", effort=options.effort)
    gradients = gradients_of(wider.dag, len(wrt))
    left = op_count(gradients.outputs)
    if left < before:
        print(f"\nwith --trust domain, {left}: a number may stand where the above is NaN")
        _closed_forms(wrt, gradients)


def _as_json(forward: Graph, wrt: Sequence[str], options: argparse.Namespace) -> int:
    """Print the result of `run` as one JSON object; 1 if the check fails."""
    joint = result = forward.gradient(*wrt)
    if not options.no_simplify:
        result = joint.simplify(trust=options.trust, effort=options.effort)
    gradients = gradients_of(result.dag, len(wrt))
    found: dict[str, Any] = {
        "gradients": {
            name: graph_text.formula(gradients.with_outputs([node], ["out"], 0))
            for name, node in zip(wrt, gradients.outputs, strict=True)
        },
        "latex": latex(gradients.with_outputs(gradients.outputs, [f"grad_{name}" for name in wrt])),
        "operations": op_count(gradients.outputs),
        "operations_before": op_count(gradients_of(joint.dag, len(wrt)).outputs),
        "rules": dict(result.history.log.fired),
    }
    check = None
    if not options.no_check:
        check = numeric_check(forward.dag, gradients, wrt, options)
        found["check"] = as_data(check)
    print(json.dumps(found, ensure_ascii=False, indent=1))
    return 0 if check is None or check.ok else 1


def _section(title: str, dag: Dag) -> None:
    print(f"\n{title}: {graph_text.render(dag, lines=False)}")


def _rules(steps: Sequence[Step]) -> None:
    """Print each rule that fired, how often, and its first use."""
    if not steps:
        print("\nrules: none fired")
        return
    first: dict[str, Step] = {}
    fired: dict[str, int] = {}
    for step in steps:
        first.setdefault(step.rule, step)
        fired[step.rule] = fired.get(step.rule, 0) + 1
    width = max(map(len, first))
    print("\nrules that fired, and the first use of each")
    for name, step in first.items():
        change = graph_text.equation(step.before, step.after)
        print(f"  {fired[name]:3} × {name:{width}}  [{step.sound}]  {change}")


def gradients_of(dag: Dag, count: int) -> Dag:
    """The graph with the gradients only, which are its last outputs."""
    return dag.with_outputs(dag.outputs[-count:], dag.names[-count:], tuple(range(count)))


def _drawn(dag: Dag, options: argparse.Namespace) -> None:
    title = options.expression.strip()
    for path, drawn in (
        (options.svg, lambda: svg.render(dag, title)),
        (options.dot, lambda: dot.render(dag)),
    ):
        if path is not None:
            path.write_text(drawn(), encoding="utf-8")
            print(f"\nwrote {path}")
