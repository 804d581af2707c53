"""Names that users of other libraries look for in `symgraph` and in graphs, and what to write."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["INSTEAD", "INSTEAD_IN_GRAPHS"]

_COMPILED = "Functions of sg.grad and its kin are compiled; sg.trace(f, x=...).lower() compiles f."
_IMPORTED = "Import it: import symgraph.{}"

INSTEAD: Mapping[str, str] = {
    "jit": _COMPILED,
    "compile": _COMPILED,
    "function": _COMPILED,
    "lambdify": _COMPILED,
    "jacfwd": 'Write sg.jacobian(f, mode="forward").',
    "jacrev": 'Write sg.jacobian(f, mode="reverse").',
    "elementwise_grad": "Write sg.jacobian(f, diagonal=True).",
    "hessian_vector_product": "Write sg.hvp(f).",
    "make_jvp": "Write sg.jvp(f).",
    "make_vjp": "Write sg.vjp(f).",
    "custom_jvp": "sg.custom_vjp serves forward mode, too.",
    "stop_gradient": "Import it from symgraph.numpy.",
    "checkpoint": 'A graph has it: graph.checkpoint("64 MB").',
    "remat": 'A graph has it: graph.checkpoint("64 MB").',
    "simplify": "A graph has it: graph.simplify().",
    "egrad": "Write sg.jacobian(f, diagonal=True).",
    **dict.fromkeys(
        ("Symbol", "Variable", "symbols", "tensor"),
        'sg.trace(f, x="n, 3") makes symbols of arguments, sg.input("x", "n, 3") one by hand.',
    ),
    "shared": "What a function reads is watched: a new value is noticed at the next call.",
    "tree_util": "Nested dicts, lists, tuples and dataclasses are taken as they are; "
    "symgraph.pytrees.register adds a type.",
    "lax": "Loops and choices are sg.scan, sg.fori_loop, sg.while_loop and sg.cond.",
    "nn": "Activations and losses are functions of symgraph.numpy.",
    **{room: _IMPORTED.format(room) for room in ("scipy", "testing")},
}

_RUNS = "graph.lower() is a function that computes it, graph.evaluate(x=...) one of its values."
_SHOWN = 'Notebooks show it by themselves; graph.save("g.svg") draws it, graph.explore() is a page.'

INSTEAD_IN_GRAPHS: Mapping[str, str] = {
    **dict.fromkeys(("grad", "derivative", "differentiate", "backward"), 'Write gradient("x").'),
    **dict.fromkeys(("call", "compile", "eval", "jit", "numpy", "run"), _RUNS),
    **dict.fromkeys(("display", "draw", "plot", "render", "show", "view", "visualize"), _SHOWN),
    **dict.fromkeys(("optimize", "optimise", "rewrite", "simplified"), "Write simplify()."),
    **dict.fromkeys(("remat", "rematerialize"), 'Write checkpoint("64 MB").'),
    **dict.fromkeys(("parameters", "params"), "graph.inputs has them by their names."),
    "source": "The function that lower() gives has it: graph.lower().source.",
    **{name: f"Write to_{name}()." for name in ("dot", "json", "latex", "networkx", "onnx", "svg")},
}
