"""Random programs as graphs."""

from __future__ import annotations

from typing import Any

import symgraph as sg
from symgraph.array import Array
from symgraph.autodiff.reverse import gradients
from symgraph.ir.dag import Dag
from symgraph.ops.creation import input

from .generate import random_program
from .namespaces import SYMGRAPH
from .program import Program

__all__ = ["closed", "random_gradient", "traced_program"]


def traced_program(program: Program) -> sg.Graph:
    """The graph of a program, with the facts that its inputs are stated to have."""
    specs = {
        each.name: sg.spec(
            each.value.shape, each.value.dtype, eval(each.assume, {"sg": sg}) if each.assume else ()
        )
        for each in program.inputs
    }
    return sg.trace(lambda **arrays: program.function(SYMGRAPH.np, SYMGRAPH.sp, **arrays), **specs)


def closed(inputs: dict[str, Array], *outputs: Any) -> Dag:
    """The graph from named inputs to outputs."""
    return Dag({name: each.node for name, each in inputs.items()}, [each.node for each in outputs])


def random_gradient(seed: int) -> Dag:
    """A random program beside its gradients."""
    program = random_program(seed)
    inputs = {name: input(name, each.shape, each.dtype) for name, each in program.values.items()}
    value = program.function(SYMGRAPH.np, SYMGRAPH.sp, *inputs.values())
    found = gradients(value, [inputs[name] for name in program.targets])
    return closed(inputs, value, *[each for each in found if each is not None])
