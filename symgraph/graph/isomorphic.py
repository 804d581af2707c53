"""Graphs built alike: what two graphs have in common, and a result carried from one to the other.

Two stages are alike if they differ in nothing that simplification can see: the same operations on
the same operands in the order of their making, inputs of the same names and facts, the same names
of values, and user's lines in the same places, whatever these lines are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias, cast

from ..array.handle import Array
from ..autodiff.derivations import Derivation
from ..ir.body import Body
from ..ir.interning import params_key
from ..ir.node import Node, Origin, copied, note
from ..ir.origins import noted
from ..ir.value_names import Name, give
from ..ir.walks import in_making_order, reachable
from ..ops.backward_rules import Backward
from ..records import record
from ..rewriting.log import Log, Pass, Step
from ..source import Frame
from .stage import Stage, lineage, nodes_in

__all__ = ["Blueprint", "Found", "as_it_was", "blueprint", "carried_over", "found"]

Key: TypeAlias = tuple[Hashable, ...]


@record
class Blueprint:
    """The part of a stage that stages built alike share, and the part that is its own.

    Parameters
    ----------
    key : tuple
        Equal for stages built alike.
    nodes : tuple of Node
        All nodes of the stage and of those it comes from, in order.
    frames : tuple of Frame
        The user's lines, in the order in which nodes refer to them.
    names : tuple
        The names of each node.
    """

    key: Key
    nodes: tuple[Node, ...]
    frames: tuple[Frame, ...]
    names: tuple[tuple[Name, ...], ...] = field(repr=False)


def blueprint(stage: Stage) -> Blueprint | None:
    """The blueprint of a stage; None if it holds loops, or was derived by a stranger's function.

    The steps of a loop are a graph within a node, with lines of their own.
    """
    line = lineage(stage)
    if not all(each.derive is None or isinstance(each.derive, Derivation) for each in line):
        return None
    roots = [node for each in line for node in _roots(each)]
    nodes = in_making_order(roots, roots)
    if any(isinstance(value, Body | Backward) for node in nodes for value in node.params.values()):
        return None
    place = {node: number for number, node in enumerate(nodes)}
    frames: dict[Frame, int] = {}

    def told(origin: Origin) -> Hashable:
        lines = tuple([frames.setdefault(each, len(frames)) for each in origin.frames])
        adjoint = -1 if origin.adjoint_of is None else place.get(origin.adjoint_of, -2)
        return (lines, adjoint, origin.rule, origin.scope)

    def row(node: Node) -> Hashable:
        operands = tuple([place[operand] for operand in node.operands])
        inside = params_key(node.params) if node.params else ()
        what = (node.op, operands, inside, node.copy, node.results)
        if node.origin.shared:
            return what  # Its notes tell of lines that the nodes they name have, too.
        names = tuple([(each.text, each.depth) for each in node.names])
        return (*what, told(node.origin), names)

    try:
        rows = tuple([row(node) for node in nodes])
        stages = tuple([_told_stage(each, line, place) for each in line])
        hash((rows, stages))
    except TypeError:  # A param or an option that cannot be compared.
        return None
    return Blueprint(
        (rows, stages),
        tuple(nodes),
        tuple(frames),
        tuple([() if n.origin.shared else n.names for n in nodes]),
    )


def as_it_was(now: Blueprint, then: Blueprint) -> Blueprint | None:
    """The blueprint of a stage before it was simplified; None if it was not `then`.

    Simplifying a stage gives names to some of its nodes, which a stage built alike has not yet.
    """
    (rows, stages), (rows_then, stages_then) = now.key, then.key
    pairs = zip(cast("Sequence[Key]", rows), cast("Sequence[Key]", rows_then), strict=False)
    if len(now.nodes) != len(then.nodes) or stages != stages_then:
        return None
    if any(one[:_BEFORE_NAMES] != other[:_BEFORE_NAMES] for one, other in pairs):
        return None
    names = [_had(*each) for each in zip(now.names, then.names, strict=True)]
    had = tuple([each for each in names if each is not None])
    return Blueprint(then.key, now.nodes, now.frames, had) if len(had) == len(names) else None


_BEFORE_NAMES = 6
"""What a blueprint tells of a node before its names, which come last."""


def _had(names: Iterable[Name], then: Iterable[Name]) -> tuple[Name, ...] | None:
    """Those of the names that a node had then, in other graphs; None if one is missing."""
    rest = iter(names)
    found = [next((each for each in rest if each[:2] == name[:2]), None) for name in then]
    had = tuple([each for each in found if each is not None])
    return had if len(had) == len(found) else None


def _roots(stage: Stage) -> Iterator[Node]:
    yield from stage.dag.inputs.values()
    yield from stage.dag.outputs
    yield from nodes_in(stage.derive)


def _told_stage(stage: Stage, line: Sequence[Stage], place: Mapping[Node, int]) -> Hashable:
    dag, derive = stage.dag, stage.derive
    numbers = {id(each): number for number, each in enumerate(line)}
    derivation = None
    if isinstance(derive, Derivation):
        derivation = (derive.name, _told_value(dict(sorted(derive.options.items())), place))
    return (
        tuple([(name, place[node]) for name, node in dag.inputs.items()]),
        tuple([place[node] for node in dag.outputs]),
        (dag.names, _told_value(dag.structure, place)),
        None if dag.schedule is None else tuple([place[node] for node in dag.schedule]),
        dag.small_blocks,
        derivation,
        *[None if each is None else numbers[id(each)] for each in (stage.forward, stage.before)],
        (stage.by, stage.kept),
    )


def _told_value(value: object, place: Mapping[Node, int]) -> Hashable:
    """A value as it can be compared: nodes by their place, numbers by their type, too."""
    if isinstance(value, Array):
        return (Array, place[value.node])
    if isinstance(value, Mapping):
        options = cast("Mapping[str, Any]", value)
        return (dict, *[(name, _told_value(each, place)) for name, each in options.items()])
    if isinstance(value, (tuple, list)):
        items = cast("Sequence[Any]", value)
        return (type(value), *[_told_value(each, place) for each in items])
    return params_key({"": value})


# -- carried from one to the other -----------------------------------------------------------------
@record
class Found:
    """The simplest graph of a stage, as it was found.

    Parameters
    ----------
    of : Blueprint
        Of the stage that was simplified.
    outputs : tuple of Node
    log : Log
    nodes : tuple of Node
        All nodes of the result and of the log, operands first.
    names : mapping
        Their names.
    """

    of: Blueprint
    outputs: tuple[Node, ...]
    log: Log
    nodes: tuple[Node, ...]
    names: Mapping[Node, tuple[Name, ...]] = field(repr=False)


def found(of: Blueprint, outputs: Sequence[Node], log: Log) -> Found | None:
    """The result for a stage; None if it cannot be carried to another."""
    told = [node for each in log.steps for node in (each.before, each.after)]
    told += [node for each in log.passes for node in (*each.before, *each.after)]
    known = set(of.nodes)
    nodes = _with_adjoints([*of.nodes, *outputs, *told], set(_elsewhere(of, of)))
    if any(node.is_input and node not in known for node in nodes):
        return None  # An input that only this result has.
    names = {node: node.names for node in nodes if node.names}
    kept = Log([*log.steps], log.tried.copy(), dict(log.seconds), [*log.passes])
    return Found(of, tuple(outputs), kept, tuple(nodes), names)


def _elsewhere(of: Blueprint, to: Blueprint) -> dict[Node, Node]:
    """Nodes of other graphs that nodes here are adjoints of: a gradient was part of the function.

    By those of one stage, those of another.
    """
    own = [each for each in zip(of.nodes, to.nodes, strict=True) if not each[0].origin.shared]
    pairs = [(a.origin.adjoint_of, b.origin.adjoint_of) for a, b in own]
    here = set(of.nodes)
    return {a: b for a, b in pairs if a is not None and b is not None and a not in here}


def _with_adjoints(roots: Iterable[Node], known: Collection[Node]) -> list[Node]:
    """All nodes below these, and the nodes whose adjoints they are, but for those known."""
    nodes = reachable(roots)
    while True:
        met = {*nodes, *known}
        more = [node.origin.adjoint_of for node in nodes if not node.origin.shared]
        missing = [each for each in more if each is not None and each not in met]
        if not missing:
            return nodes
        nodes = reachable([*nodes, *missing])


def carried_over(result: Found, to: Blueprint) -> tuple[list[Node], Log]:
    """The outputs and the log of a stage built alike."""
    new: dict[Node, Node] = dict(zip(result.of.nodes, to.nodes, strict=True))
    elsewhere = _elsewhere(result.of, to)
    lines = dict(zip(result.of.frames, to.frames, strict=True))

    def moved(origin: Origin) -> Origin:
        frames = tuple([lines.get(each, each) for each in origin.frames])
        adjoint = origin.adjoint_of
        if adjoint is not None:
            adjoint = new.get(adjoint) or elsewhere.get(adjoint)
        return Origin(frames, adjoint, origin.rule, origin.shared, origin.scope)

    for node in result.nodes:
        if node not in new:
            operands = [new[operand] for operand in node.operands]
            new[node] = copied(node, operands, moved(node.origin))
    for node in result.nodes:
        later = node.origin.adjoint_of
        if later is not None and later.serial > node.serial and not node.origin.shared:
            new[node].origin = moved(node.origin)
        if node.origin.shared:
            for each in noted(node, {**elsewhere, **new}):
                note(new[node], moved(each))
    holders = {node.serial: each.serial for node, each in {**elsewhere, **new}.items()}
    for had, has in zip(result.of.names, to.names, strict=True):
        holders |= {a.holder: b.holder for a, b in zip(had, has, strict=True)}
    for node, names in result.names.items():
        for each in names:
            give(new[node], each.text, each.depth, holders.get(each.holder, each.holder))
    return [new[output] for output in result.outputs], _moved_log(result.log, new, moved)


def _moved_log(log: Log, new: Mapping[Node, Node], moved: Callable[[Origin], Origin]) -> Log:
    def step(each: Step) -> Step:
        ends = new[each.before], new[each.after]
        more = (each.sound, each.by, each.grain, each.identities)
        return Step(each.rule, *ends, moved(each.where), *more)

    def stretch(each: Pass) -> Pass:
        before, after = (tuple([new[n] for n in side]) for side in (each.before, each.after))
        return Pass(each.what, each.start, each.stop, before, after, each.equal)

    steps = [step(each) for each in log.steps]
    passes = [stretch(each) for each in log.passes]
    return Log(steps, log.tried.copy(), dict(log.seconds), passes)
