"""Products with Jacobians that are never built: forward (J v), reverse (Jᵀ u), Hessian (H v)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

from ..array import Array
from ..errors import InputError
from ..ir.dag import Dag, Structure
from ..ops.creation import zeros
from ..pytrees import listed
from .differentiate import label_of, target_of
from .directions import direction, positions, with_results
from .forward import tangents
from .reverse import cotangents

__all__ = [
    "HvpMode",
    "cotangents_given",
    "hessian_products",
    "pulled_back",
    "pushed_forward",
    "tangent_pairs",
    "tangents_given",
]

HvpMode: TypeAlias = Literal["reverse", "forward"]
Given: TypeAlias = "list[tuple[Any, Array]]"


def tangent_pairs(given: object) -> list[tuple[Any, Any]]:
    """Pairs of targets and tangents, from a mapping, from pairs, or from names alone."""
    if isinstance(given, Mapping):
        return list(cast("Mapping[Any, Any]", given).items())
    return [
        each if isinstance(each, tuple) else (each, f"tangent_{each}") for each in listed(given)
    ]


def tangents_given(dag: Dag, wrt: Sequence[Any], given: Sequence[Any], what: str) -> Given:
    """Each target with the value of its tangent.

    Raises
    ------
    InputError, ShapeError, DTypeError
        If the numbers of targets and tangents differ, or a tangent does not fit its target.
    """
    if not wrt:
        raise InputError(
            f"Nothing to differentiate along: no {what} is given.",
            mend=f"Name at least one input and its {what}.",
        )
    if len(wrt) != len(given):
        raise InputError(
            f"There are {len(wrt)} targets, but {len(given)} {what}s.",
            mend=f"Give one {what} for each target.",
        )
    return [
        (each, direction(dag, target_of(dag, each), tangent, what))
        for each, tangent in zip(wrt, given, strict=True)
    ]


def cotangents_given(dag: Dag, of: str | None, given: object) -> list[tuple[int, Array]]:
    """Positions of outputs, each with the value of its cotangent.

    `given` is a cotangent for a single output, or a mapping by the names of outputs. A name given
    for several outputs is completed with their names.

    Raises
    ------
    InputError, ShapeError, DTypeError
    """
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in dag.names]
        if unknown or not given:
            raise InputError(
                f"There is no output {unknown[0]!r}; the outputs are {', '.join(dag.names)}."
                if unknown
                else "No cotangent is given."
            )
        return [
            (i, direction(dag, dag.outputs[i], given[name], "cotangent"))
            for i, name in enumerate(dag.names)
            if name in given
        ]
    chosen = positions(dag, of)
    if len(chosen) > 1 and not isinstance(given, str):
        raise InputError(
            f"The graph has {len(chosen)} outputs: {', '.join(dag.names)}.",
            mend="Give a cotangent for each by name, as in vjp('x', cotangent={'loss': 1.0}).",
        )
    return [
        (
            i,
            direction(
                dag,
                dag.outputs[i],
                f"{given}_{dag.names[i]}" if len(chosen) > 1 else given,
                "cotangent",
            ),
        )
        for i in chosen
        if dag.outputs[i].dtype.kind == "f" or len(chosen) == 1
    ]


def pushed_forward(dag: Dag, given: Given, *, value: bool, of: str | None) -> Dag:
    """The graph with the tangents of its outputs, which are grouped as the outputs are."""
    chosen = positions(dag, of)
    seeds = [(Array(target_of(dag, wrt)), tangent) for wrt, tangent in given]
    lead = _lead(seeds)
    outputs = [Array(dag.outputs[i]) for i in chosen]
    results = [
        (f"tangent_{dag.names[i]}", _or_zeros(each, output, lead))
        for i, output, each in zip(chosen, outputs, tangents(outputs, seeds), strict=True)
    ]
    structure: Structure = dag.structure if len(chosen) == len(dag.outputs) else 0
    along = [tangent for _, tangent in given]
    return with_results(dag, chosen, results, structure, value=value, directions=along)


def pulled_back(
    dag: Dag, wrt: Sequence[Any], given: Sequence[tuple[int, Array]], *, value: bool
) -> Dag:
    """The graph with the cotangents of targets, given the cotangents of its outputs."""
    if not wrt:
        raise InputError("Nothing to differentiate with respect to: name at least one input.")
    seeds = [(Array(dag.outputs[i]), ct) for i, ct in given]
    targets = [target_of(dag, each) for each in wrt]
    found = cotangents(seeds, [Array(target) for target in targets])
    lead = _lead(seeds)
    results = [
        (f"cotangent_{label_of(target, each, i)}", _or_zeros(ct, Array(target), lead))
        for i, (target, each, ct) in enumerate(zip(targets, wrt, found, strict=True))
    ]
    structure: Structure = 0 if len(results) == 1 else tuple(range(len(results)))
    kept, along = [i for i, _ in given], [ct for _, ct in given]
    return with_results(dag, kept, results, structure, value=value, directions=along)


def hessian_products(dag: Dag, given: Given, *, single: bool, value: bool, mode: HvpMode) -> Dag:
    r"""Hessian-vector products, from a graph whose outputs are a scalar and its gradients.

    Reverse mode gives $\nabla(\nabla f \cdot v)$, where $v$ is not differentiated through
    (Goodfellow et al., equation 6.59; Pearlmutter 1994): the cotangents of the gradients are the
    $v$. Forward mode pushes $v$ through the gradient instead. The size of the appended graph is
    linear in that of $f$.

    Raises
    ------
    InputError
        If there is no such mode.
    """
    gradients = [Array(node) for node in dag.outputs[1:]]
    targets = [Array(target_of(dag, wrt)) for wrt, _ in given]
    seeds = [v for _, v in given]
    if mode == "reverse":
        found = cotangents(list(zip(gradients, seeds, strict=True)), targets)
    elif mode == "forward":
        found = tangents(gradients, list(zip(targets, seeds, strict=True)))
    else:
        raise InputError(f"There is no mode {mode!r}.", mend='Use "reverse" or "forward".')
    lead = seeds[0].shape[: seeds[0].ndim - targets[0].ndim]
    results = [
        (f"hvp_{label_of(target.node, wrt, i)}", _or_zeros(each, target, lead))
        for i, ((wrt, _), target, each) in enumerate(zip(given, targets, found, strict=True))
    ]
    structure: Structure = 0 if single else tuple(range(len(results)))
    return with_results(dag, [0], results, structure, value=value, directions=seeds)


def _lead(seeds: Sequence[tuple[Array, Array]]) -> tuple[Any, ...]:
    """The extra leading axes of the directions, the same for all.

    Raises
    ------
    InputError
        If the directions differ in them.
    """
    leads = [seed.shape[: seed.ndim - value.ndim] for value, seed in seeds]
    if any(lead != leads[0] for lead in leads):
        raise InputError(
            "Directions have different leading axes.",
            [f"{value!r}: {seed.shape}" for value, seed in seeds],
        )
    return leads[0]


def _or_zeros(found: Array | None, like: Array, lead: tuple[Any, ...]) -> Array:
    if found is not None:
        return found
    return zeros((*lead, *like.shape), like.dtype if like.dtype.kind == "f" else "float64")
