"""Pickling of graphs: the pickle holds the graph's saved text, which is validated when it is read.

`Dag` and `Body` know nothing of files, so their pickling is registered here.
"""

from __future__ import annotations

import copyreg
from typing import Any

from ..ir.body import Body
from ..ir.dag import Dag
from ..ir.walks import substituted
from ..ops.creation import input as symbolic_input
from .document import dag_of, text_of

__all__: list[str] = []


def _reduced(dag: Dag) -> tuple[Any, ...]:
    return dag_of, (text_of(dag),)


def _reduced_body(body: Body) -> tuple[Any, ...]:
    # A body is sent as a graph, whose inputs must have the names they are declared under.
    fresh = [
        symbolic_input(f"i{place}", node.shape, node.dtype).node
        for place, node in enumerate(body.inputs)
    ]
    outputs = substituted(body.outputs, dict(zip(body.inputs, fresh, strict=True)))
    dag = Dag({node.params["name"]: node for node in fresh}, outputs)
    return _body_of, (text_of(dag),)


def _body_of(text: str) -> Body:
    dag = dag_of(text)
    return Body(tuple(dag.inputs.values()), dag.outputs)


copyreg.pickle(Dag, _reduced)
copyreg.pickle(Body, _reduced_body)
