"""Every way of showing a graph, on random programs with their gradients, before and after."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from randomgraphs import random_program, traced_program

import symgraph as sg
from symgraph.export import dot, graph_text, svg


def _traced(seed: int) -> sg.Graph:
    program = random_program(seed)
    graph = traced_program(program)
    return graph.gradient(*program.targets)


@pytest.mark.sampled(one_in=40)
@pytest.mark.parametrize("seed", range(20))
def test_every_program_is_shown(seed: int) -> None:
    joint = _traced(seed)
    for graph in (joint, joint.simplify()):
        dag = graph.dag
        listing = graph_text.render(dag)
        names = [line.split()[0].rstrip(":") for line in listing.splitlines()[1:]]
        assert len(names) == len(set(names))
        # What a row uses stands in a row above.
        for line in graph_text.render(dag, lines=False).splitlines()[1:]:
            own, _, expression = line.strip().partition(" = ")
            used = re.findall(r"\b[vc]\d+\b", expression.split("   ")[0])
            assert all(names.index(each) < names.index(own) for each in used)
        assert 300 < float(ET.fromstring(svg.render(dag)).attrib["width"]) < 4_000
        assert dot.render(dag).count("\n  n") >= len(dag)
        assert graph_text.tree(dag)
        assert graph_text.formula(dag)
