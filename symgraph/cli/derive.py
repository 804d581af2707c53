"""`symgraph derive`: the gradient of an expression, derived, simplified, explained and checked."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..errors import InputError, ShapeError
from ..export import dot, svg, text
from ..export.latex import latex
from ..expression import parse
from ..graph import Graph
from ..ir.cost import op_count
from ..ir.dag import Dag
from ..passes.simplify import EFFORTS
from ..rewriting.log import Step
from .check import Check, checked

__all__ = ["add_arguments", "run"]

_SIZES = (5, 3, 4, 6, 2, 7)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `symgraph derive`."""
    parser.description = "Names without a shape are vectors of one common length n."
    parser.epilog = "Exit code: 0 if the check passes, 1 if it fails, 2 if the input is not valid."
    add = parser.add_argument
    add("expression", metavar="EXPR", help='such as "-sum(p*log(softmax(z)))"')
    add(
        "--wrt",
        action="append",
        required=True,
        metavar="NAME[,NAME]",
        help="differentiate by these",
    )
    add("--given", action="append", default=[], metavar="FACT", help='such as "p: simplex"')
    add("--shape", action="append", default=[], metavar="NAME=SHAPE", help='"z=n,10"; "a=" is 0-d')
    add("--dtype", action="append", default=[], metavar="[NAME=]DTYPE", help="default float64")
    add("--size", action="append", default=[], metavar="DIM=N", help="a dimension in the check")
    add("--trust", choices=("exact", "rounding", "domain"), default="rounding")
    add("--effort", choices=EFFORTS, default="normal", help="how long to simplify")
    add("--svg", type=Path, metavar="FILE", help="draw the gradient graph")
    add("--dot", type=Path, metavar="FILE", help="write the gradient graph for Graphviz")
    add("--explain", action="store_true", help="show both sides and the license of each step")
    add("--latex", action="store_true", help="show the gradient as LaTeX, too")
    add("--no-simplify", action="store_true", help="show the gradient as derived")
    add("--no-check", action="store_true", help="skip the numeric check")
    add("--seed", type=int, default=0, help="seed of the random point of the check")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Derive, print, draw and check the gradient; 1 if the check fails."""
    wrt = [name.strip() for each in options.wrt for name in each.split(",") if name.strip()]
    forward = Graph(_scalar(_parsed(options)))
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
    gradients = _gradients(result.dag, len(wrt))
    derived, left = (op_count(_gradients(each.dag, len(wrt)).outputs) for each in (joint, result))
    title = "as derived" if options.no_simplify else f"closed form, {derived} operations before"
    print(f"\n{title}, {left} now" if result is not joint else f"\n{title}, {left} operations")
    for name, node in zip(wrt, gradients.outputs, strict=True):
        print(f"  d/d{name} = {text.formula(gradients.with_outputs([node], ['out'], 0))}")
    if options.latex:
        named = gradients.with_outputs(gradients.outputs, [f"grad_{name}" for name in wrt])
        print(f"\nLaTeX\n{latex(named)}")
    _drawn(result.dag, options)
    if options.no_check:
        return 0
    check = _check(forward.dag, gradients, wrt, options)
    print(f"\ncheck  {check}")
    return 0 if check.ok else 1


def _scalar(dag: Dag) -> Dag:
    """The graph, if a gradient can be taken of it."""
    output = dag.outputs[0]
    if output.shape:
        names = " ".join(f"--shape {name}=" for name in dag.inputs)
        raise ShapeError(
            f"A gradient needs a scalar; this expression gives {output.aval}.",
            mend=f"Reduce it, as in sum(...), or make its names scalars: {names}",
        )
    return dag


def _parsed(options: argparse.Namespace, *, double: bool = False) -> Dag:
    """The expression's graph; `double` makes its floating inputs float64."""
    default, dtypes = "float64", dict[str, str]()
    for name, dtype in _pairs(options.dtype):
        wide = "float64" if double and dtype.startswith("float") else dtype
        if name:
            dtypes[name] = wide
        else:
            default = wide
    shapes = dict(_pairs(options.shape, "--shape z=3,4"))
    return parse(
        options.expression, shapes=shapes, dtypes=dtypes, dtype=default, facts=options.given
    )


def _pairs(given: Iterable[str], form: str = "") -> list[tuple[str, str]]:
    """The pairs of `NAME=VALUE`; a `form` makes the name mandatory, and is shown as an example."""
    pairs: list[tuple[str, str]] = []
    for each in given:
        name, sign, value = each.partition("=")
        if not sign and form:
            raise InputError(f"{each!r} has no name.", mend=f"Write {form}.")
        pairs.append((name.strip(), value.strip()) if sign else ("", each.strip()))
    return pairs


def _section(title: str, dag: Dag) -> None:
    print(f"\n{title}: {text.render(dag, lines=False)}")


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
        change = text.equation(step.before, step.after)
        print(f"  {fired[name]:3} × {name:{width}}  [{step.sound}]  {change}")


def _gradients(dag: Dag, count: int) -> Dag:
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


def _check(forward: Dag, gradients: Dag, wrt: Sequence[str], options: argparse.Namespace) -> Check:
    sizes = {name: _SIZES[i % len(_SIZES)] for i, name in enumerate(forward.dims)}
    for name, value in _pairs(options.size, "--size n=5"):
        if name not in sizes or not value.isdecimal():
            known = ", ".join(sizes) or "none"
            raise InputError(f"--size {name}={value}: the named dimensions are {known}.")
        sizes[name] = int(value)
    return checked(_parsed(options, double=True), gradients, wrt, sizes, options.seed)
