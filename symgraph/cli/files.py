"""`symgraph simplify`, `export`, `explore` and `check`: an expression or a saved graph in.

Each takes an expression, the .json file of a graph or an .onnx model, and may take a gradient of it
first.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..export import graph_text
from ..graph import Graph
from ..graph.formats import WRITERS, writer_of
from ..ir.cost import op_count
from .arguments import (
    add_input_arguments,
    add_simplify_arguments,
    as_data,
    differentiated_by,
    graph_of,
    names_of,
    numeric_check,
)
from .derive import gradients_of

__all__ = ["add_arguments"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of one of the commands, which the parser's name ends with."""
    command = parser.prog.rpartition(" ")[2]
    parser.epilog = "Exit code: 0, or 1 if a check fails, or 2 if the input is not valid."
    add = parser.add_argument
    what = "an expression, a graph saved as .json, or an .onnx model"
    add("expression", metavar="EXPR|FILE", help=what)
    checked = "check the gradient by these; by default the only name"
    wrt = checked if command == "check" else "take a gradient by these first"
    add("--wrt", action="append", default=[], metavar="NAME[,NAME]", help=wrt)
    add_input_arguments(parser)
    add_simplify_arguments(parser)
    add("--json", action="store_true", help="print the result as JSON, and nothing else")
    if command == "check":
        add("--size", action="append", default=[], metavar="DIM=N", help="size of a dimension")
        add("--seed", type=int, default=0, help="seed of the random point")
    else:
        add("--keep", action="append", default=[], metavar="NAME", help="values that stay as named")
    if command in ("export", "explore"):
        add("--no-simplify", action="store_true", help="the graph as given or derived")
        what = " ".join(WRITERS) if command == "export" else "the page, by default graph.html"
        needed = command == "export"
        add("-o", "--output", type=Path, metavar="FILE", required=needed, help=what)
    parser.set_defaults(run={"simplify": _simplify, "check": _check}.get(command, _write))


def _simplified(options: argparse.Namespace) -> tuple[Graph, Graph]:
    """The graph as given or derived, and simplified."""
    graph = graph_of(options)
    wrt = names_of(options.wrt)
    if wrt:
        graph = graph.gradient(*wrt)
    if getattr(options, "no_simplify", False):
        return graph, graph
    keep = names_of(options.keep) or None  # By default the names that the graph remembers.
    return graph, graph.simplify(trust=options.trust, effort=options.effort, keep=keep)


def _simplify(options: argparse.Namespace) -> int:
    """Print the simplified graph and the operations that it has lost."""
    graph, small = _simplified(options)
    before, after = op_count(graph.dag.outputs), op_count(small.dag.outputs)
    if options.json:
        found = {"formula": graph_text.formula(small.dag), "latex": small.to_latex()}
        rules = dict(small.history.log.fired)
        _printed({**found, "operations": after, "operations_before": before, "rules": rules})
        return 0
    print(f"{graph_text.render(small.dag, lines=False)}\n")
    print(f"{graph_text.formula(small.dag)}\n\n{before} operations before, {after} now")
    return 0


def _write(options: argparse.Namespace) -> int:
    """Write the graph, or its page, to a file."""
    path: Path = options.output or Path("graph.html")
    writer_of(path)  # An unknown format is refused before the work is done.
    _, small = _simplified(options)
    small.save(path)
    if options.json:
        _printed({"wrote": str(path), "bytes": path.stat().st_size, "nodes": len(small)})
    else:
        print(f"wrote {path}")
    return 0


def _check(options: argparse.Namespace) -> int:
    """Compare the simplified gradient with differences; 1 if they differ."""
    graph = graph_of(options)
    if options.expression.strip().endswith((".json", ".onnx")):
        raise InputError(
            "The check draws its point for an expression.", mend="Give the expression itself."
        )
    wrt = differentiated_by(options.wrt, graph)
    result = graph.gradient(*wrt).simplify(trust=options.trust, effort=options.effort)
    gradients = gradients_of(result.dag, len(wrt))
    check = numeric_check(graph.dag, gradients, wrt, options)
    if options.json:
        _printed(as_data(check))
    else:
        print(check)
    return 0 if check.ok else 1


def _printed(found: dict[str, Any]) -> None:
    print(json.dumps(found, ensure_ascii=False, indent=1))
