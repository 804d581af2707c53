"""Graphs as documents: all stages of one, how each was derived, and the history that led to it.

What `simplify` and `gradient` do next depends on what a graph was before (`stages`), so that is
saved with it: a loaded graph goes on as the one that was saved would.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from ..array.handle import Array
from ..autodiff.derivations import DERIVATIONS, Derivation
from ..autodiff.flat import STAGES, FlatPlan
from ..errors import FormatError, InputError
from ..ir.collector import collector_paused
from ..ir.dag import Dag
from ..ir.node import Node
from ..passes.simplify import EFFORTS, Effort
from ..rewriting import default_rules
from ..rewriting.log import Grain, Log, Pass, Step
from ..rewriting.rule import SOUNDNESS, Soundness
from ..saving.document import dag_at, laid_out, opened, written_dag
from ..saving.encoding import Nodes, value_at
from ..saving.json_paths import Place
from ..saving.node_table import ReadNodes, WrittenNodes
from .stage import Kept, Stage, lineage, nodes_in

__all__ = ["document", "fingerprint", "read"]


# -- writing ---------------------------------------------------------------------------------------
@collector_paused()
def document(stage: Stage, log: Log) -> str:
    """The text of a graph: the same for the same graph.

    Raises
    ------
    InputError
        If a function of the user's is part of it: a derivation, or a param.
    """
    table, parts = _written(stage, log)
    return laid_out(table, parts)


def fingerprint(stage: Stage) -> str:
    """The same text for stages that are written alike but for the user's lines.

    Raises
    ------
    InputError
        If the stage cannot be written.
    """
    table, parts = _written(stage, Log())
    told = json.dumps([table.nodes, parts], ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(told.encode(), digest_size=16).hexdigest()


def _written(stage: Stage, log: Log) -> tuple[WrittenNodes, dict[str, Any]]:
    stages = lineage(stage)
    for each in stages:
        _check_derivation(each)
    roots = [node for each in stages for node in each.dag.nodes]
    roots += [node for each in stages for node in nodes_in(each.derive)]
    roots += [node for step in log.steps for node in (step.before, step.after)]
    roots += [node for each in log.passes for node in (*each.before, *each.after)]
    table = WrittenNodes(_inputs(stages), roots, stage.dag.nodes)
    place = {id(each): number for number, each in enumerate(stages)}
    parts: dict[str, Any] = {"stages": [_written_stage(each, place, table) for each in stages]}
    if log.steps or log.passes:
        parts["steps"] = [_written_step(each, table) for each in log.steps]
        parts["passes"] = [_written_pass(each, table) for each in log.passes]
    return table, parts


def _inputs(stages: Sequence[Stage]) -> list[Node]:
    return list(dict.fromkeys([node for each in stages for node in each.dag.inputs.values()]))


def _check_derivation(stage: Stage) -> None:
    if stage.derive is not None and not isinstance(stage.derive, Derivation):
        raise InputError(
            f"This graph was derived by a function of your own, {stage.derive!r}, which cannot be "
            "saved.",
            mend="Save sg.Graph(graph.dag): the same graph, which forgets how it was derived.",
        )


def _written_stage(stage: Stage, place: Mapping[int, int], table: WrittenNodes) -> dict[str, Any]:
    said = written_dag(stage.dag, table)
    if stage.forward is not None and isinstance(stage.derive, Derivation):
        said["forward"] = place[id(stage.forward)]
        options = {name: _plain(each) for name, each in stage.derive.options.items()}
        said["derive"] = {"name": stage.derive.name} | {
            name: table.value(options[name]) for name in sorted(options)
        }
    if stage.before is not None:
        said["before"] = place[id(stage.before)]
    if stage.by is not None and stage.by[1] is default_rules():
        said["trust"] = stage.by[0]
        if stage.by[2] != "normal":
            said["effort"] = stage.by[2]
    if stage.kept:
        said["keep"] = True if stage.kept is True else list(stage.kept)
    return said


def _plain(value: object) -> Any:
    """An option as tuples; a plan by its parts."""
    if isinstance(value, FlatPlan):
        return (value.targets, value.directions, value.outputs, value.auxiliary)
    return value


def _written_step(step: Step, table: WrittenNodes) -> dict[str, Any]:
    said: dict[str, Any] = {
        "rule": step.rule,
        "before": table.number[step.before],
        "after": table.number[step.after],
        "sound": step.sound,
        "grain": step.grain,
    }
    if step.identities:
        said["identities"] = list(step.identities)
    return said | table.origin(step.where)


def _written_pass(each: Pass, table: WrittenNodes) -> dict[str, Any]:
    return {
        "what": each.what,
        "start": each.start,
        "stop": each.stop,
        "before": [table.number[node] for node in each.before],
        "after": [table.number[node] for node in each.after],
        "equal": each.equal,
    }


# -- reading ---------------------------------------------------------------------------------------
@collector_paused()
def read(source: str | bytes) -> tuple[Stage, Log]:
    """The graph of a document, and the history behind it.

    Raises
    ------
    FormatError
        If anything in it is not as `document` writes it; the message gives the path.
    """
    try:
        fields = opened(source, ("steps", "passes"))
        made = ReadNodes(fields["frames"], fields["nodes"], fields["notes"])
        stages: list[Stage] = []
        for place in fields["stages"].items():
            stages.append(_stage_at(place, made.nodes, stages))
        if not stages:
            fields["stages"].refuse("there is no graph")
        return stages[-1], _log_at(fields, made)
    except RecursionError:
        raise FormatError("This is no saved graph: it is nested too deeply.") from None


def _stage_at(place: Place, nodes: Nodes, stages: Sequence[Stage]) -> Stage:
    more = ("forward", "derive", "before", "trust", "effort", "keep")
    dag = dag_at(place, nodes, more)
    fields = place.fields((), ("inputs", "outputs", "structure", "schedule", "small_blocks", *more))
    forward = _earlier(fields, "forward", stages)
    if (forward is None) != ("derive" not in fields):
        place.refuse("forward and derive belong together")
    derive = None
    if forward is not None:
        derive = _derivation_at(fields["derive"], nodes, forward.dag)
    by = None
    if "trust" in fields:
        trust = cast("Soundness", fields["trust"].one_of(*SOUNDNESS))
        effort: Effort = "normal"
        if "effort" in fields:
            effort = cast("Effort", fields["effort"].one_of(*EFFORTS))
        by = (trust, default_rules(), effort)
    before = _earlier(fields, "before", stages)
    if before is not None and not _same_signature(before.dag, dag):
        fields["before"].refuse("that graph has other inputs or outputs than this one")
    return Stage(dag, forward, derive, before, by, _kept_at(fields))


def _kept_at(fields: Mapping[str, Place]) -> Kept:
    """The names of values that `simplify` keeps: `true`, or a list of names."""
    if "keep" not in fields:
        return ()
    if not isinstance(fields["keep"].value, bool):
        names = tuple([each.text() for each in fields["keep"].items()])
        if not names:
            fields["keep"].refuse("a stage that keeps nothing has no field of it")
        return names
    if not fields["keep"].boolean():
        fields["keep"].refuse("keep is true, or a list of names")
    return True


def _same_signature(one: Dag, other: Dag) -> bool:
    """Whether two graphs have the same inputs, and outputs of the same names and kinds."""
    avals = [[node.aval for node in dag.outputs] for dag in (one, other)]
    return one.inputs == other.inputs and one.names == other.names and avals[0] == avals[1]


def _earlier(fields: Mapping[str, Place], name: str, stages: Sequence[Stage]) -> Stage | None:
    if name not in fields:
        return None
    if not stages:
        fields[name].refuse("there is no stage before this one")
    return stages[fields[name].integer(0, len(stages) - 1)]


# -- derivations -----------------------------------------------------------------------------------
Test = Callable[[Any, Dag], bool]


def _is_name(value: object, dag: Dag) -> bool:
    return value is None or value in dag.names


def _are_targets(value: object, dag: Dag) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(each, str) and each in dag.inputs for each in cast("tuple[Any, ...]", value)
    )


def _is_bool(value: object, dag: Dag) -> bool:
    return type(value) is bool


def _is_mode(value: object, dag: Dag) -> bool:
    return value in (None, "reverse", "forward", "mixed")


def _are_directions(value: object, dag: Dag) -> bool:
    """Pairs of an input's name, or an output's position, and an array."""
    return isinstance(value, tuple) and all(
        isinstance(pair, tuple)
        and len(cast("tuple[Any, ...]", pair)) == 2
        and (_are_targets((pair[0],), dag) or _is_position(pair[0], dag))
        and isinstance(pair[1], Array)
        for pair in cast("tuple[Any, ...]", value)
    )


def _is_position(value: object, dag: Dag) -> bool:
    return type(value) is int and 0 <= value < len(dag.outputs)


def _is_plan(value: object, dag: Dag) -> bool:
    if not isinstance(value, tuple) or len(cast("tuple[Any, ...]", value)) != 4:
        return False
    targets, directions, outputs, auxiliary = cast("tuple[Any, ...]", value)
    return (
        _are_targets(targets, dag)
        and _are_targets(directions, dag)
        and type(outputs) is int
        and type(auxiliary) is int
        and outputs >= 0
        and auxiliary >= 0
        and outputs + auxiliary <= len(dag.outputs)
    )


_TESTS: Mapping[str, Test] = {
    "wrt": _are_targets,
    "value": _is_bool,
    "diagonal": _is_bool,
    "single": _is_bool,
    "of": _is_name,
    "mode": _is_mode,
    "disconnected": lambda value, dag: value in ("zero", "raise"),
    "given": _are_directions,
    "plan": _is_plan,
    "stage": lambda value, dag: isinstance(value, str) and value in STAGES,
}
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "gradient": ("disconnected", "of", "value", "wrt"),
    "jvp": ("given", "of", "value"),
    "vjp": ("given", "value", "wrt"),
    "jacobian": ("diagonal", "mode", "of", "value", "wrt"),
    "hessian": ("diagonal", "mode", "value", "wrt"),
    "hvp": ("given", "mode", "single", "value"),
    "stage": ("plan", "stage", "value"),
}
_OF_STAGES: Mapping[str, tuple[str, ...]] = {
    "jacobians": ("diagonal", "mode"),
    "hessian": ("diagonal", "mode"),
    "hvp": ("mode",),
}


def _derivation_at(place: Place, nodes: Nodes, dag: Dag) -> Derivation:
    fields = place.named()
    if "name" not in fields:
        place.refuse("the field 'name' is missing")
    name = fields["name"].one_of(*DERIVATIONS)
    needed = _OPTIONS[name]
    if name == "stage" and "stage" in fields:
        needed = (*needed, *_OF_STAGES.get(fields["stage"].text(), ()))
    place.fields(("name", *needed))
    options = {each: value_at(fields[each], nodes) for each in needed}
    for option, value in options.items():
        if not _TESTS[option](value, dag):
            fields[option].refuse("this does not fit the graph that is differentiated")
    if "plan" in options:
        options["plan"] = FlatPlan(*options["plan"])
    return Derivation(name, options)


# -- the history -----------------------------------------------------------------------------------
_GRAINS: tuple[Grain, ...] = ("rule", "region", "choice")


def _log_at(fields: Mapping[str, Place], made: ReadNodes) -> Log:
    log = Log()
    if ("steps" in fields) != ("passes" in fields):
        fields["stages"].refuse("steps and passes belong together")
    if "steps" not in fields:
        return log
    places = fields["steps"].items()
    known = {rule.name: rule for rule in default_rules()} if places else {}
    for place in places:
        said = place.fields(
            ("rule", "before", "after", "sound", "grain"),
            ("identities", "lines", "gradient_of", "by"),
        )
        names = said["identities"].items() if "identities" in said else ()
        rule, grain = said["rule"].text(), cast("Grain", said["grain"].one_of(*_GRAINS))
        log.steps.append(
            Step(
                rule,
                made.nodes.at(said["before"]),
                made.nodes.at(said["after"]),
                made.origin(said),
                cast("Soundness", said["sound"].one_of(*SOUNDNESS)),
                known.get(rule) if grain == "rule" else None,
                grain,
                tuple([each.text() for each in names]),
            )
        )
    for place in fields["passes"].items():
        log.passes.append(_pass_at(place, made.nodes, log))
    return log


def _pass_at(place: Place, nodes: Nodes, log: Log) -> Pass:
    said = place.fields(("what", "start", "stop", "before", "after", "equal"))
    start = said["start"].integer(0, len(log.steps))
    return Pass(
        said["what"].text(),
        start,
        said["stop"].integer(start, len(log.steps)),
        tuple([nodes.at(each) for each in said["before"].items()]),
        tuple([nodes.at(each) for each in said["after"].items()]),
        said["equal"].boolean(),
    )
