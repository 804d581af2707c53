"""Operands for a rule, made from its guards: shapes, dtypes, axes, and values, awkward ones too.

An `Instance` is a rule's left side built on symbolic inputs of chosen shapes and dtypes, together
with what the rule made of it; `values` then draws numbers for the inputs, as the facts of the
guards allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from math import prod
from typing import Any, cast

import numpy as np

from ..array import Array, constant
from ..dag import Node
from ..dims import parse_shape
from ..errors import SymgraphError
from ..facts import Fact, consistent
from ..ops.creation import input as symbolic_input
from ..propagation import Knowledge
from .guards import Guard, Kind
from .pattern import Bindings, Literal, Term, instantiated, subterms
from .rule import Rule, Soundness

__all__ = ["FLOATS", "INTEGERS", "SIZES", "Instance", "instances"]

FLOATS = ("float64", "float32", "float16")
INTEGERS = ("int64", "int8", "bool", "uint8")
SIZES: dict[str, int] = {"n": 2}
"""Sizes of the named dimensions that some instances have."""

_SHAPES: tuple[tuple[int | str, ...], ...] = (
    (),
    (3,),
    (2, 3),
    (1,),
    (3, 3),
    (2, 2, 2),
    (1, 3),
    (2, 1),
    (0,),
    (2, 1, 3),
    (0, 3),
    ("n", 3),
    (2, 3, 2),
)
_WIDE = 48
"""Room for every awkward value once."""
_ALL = (None, None, 1)
_INDICES: tuple[Any, ...] = (
    (_ALL,),
    (_ALL, _ALL),
    (-1,),
    (-1, _ALL),
    (-2, _ALL, _ALL),
    (_ALL, -1),
    (_ALL, (0, 2, 1)),
    ((1, 3, 1),),
    ((0, 3, 1),),
    ((2, None, -1),),
    (None, _ALL),
    (),
)


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """A left side, what the rule made of it, and the inputs both are built on."""

    rule: Rule
    lhs: Node
    rhs: Node
    inputs: tuple[Node, ...]
    guards: tuple[tuple[Guard, ...], ...]
    facts: tuple[tuple[Fact, ...], ...]
    sound: Soundness
    kind: Any
    """Equal for instances that would show the same: params, ranks, dtypes, shapes."""

    def __str__(self) -> str:
        shown = ", ".join(f"{node.params['name']}: {node.aval}" for node in self.inputs)
        return f"{shown or 'constants'} → {self.lhs.aval}"


def instances(
    rule: Rule,
    sound: Soundness,
    extra: Mapping[str, tuple[Guard, ...]],
    rng: np.random.Generator,
    wanted: int,
    attempts: int,
) -> Iterator[Instance]:
    """Up to `wanted` instances of `rule` on different operands, found in `attempts` tries.

    Four times as many are made while there are fewer than four.
    `extra` are the further guards that earn the grade `sound`.
    """
    maker = _Maker(rule, sound, extra, rng)
    seen: set[Any] = set()
    wanted *= 1 + len(rule.statics)
    kinds = maker.dtypes()
    for attempt in range(4 * attempts):
        if attempt >= attempts and len(seen) >= 4:
            return
        wide = attempt < len(kinds)  # each dtype once, with every awkward value
        dtype = kinds[0] if attempt % 2 and not wide else kinds[attempt // (2 - wide) % len(kinds)]
        shape = (_WIDE,) if wide else maker.pick(_SHAPES)
        made = maker.attempt(dtype, shape, uniform=wide or attempt % 3 == 0)
        if made is not None and made.kind not in seen:
            seen.add(made.kind)
            yield made
            if len(seen) >= wanted:
                return


class _Maker:
    def __init__(
        self,
        rule: Rule,
        sound: Soundness,
        extra: Mapping[str, tuple[Guard, ...]],
        rng: np.random.Generator,
    ) -> None:
        self.rule = rule
        self.sound: Soundness = sound
        self.rng = rng
        self.guards = {
            each.name: (*each.guards, *extra.get(each.name, ())) for each in rule.variables
        }
        parts = list(subterms(rule.lhs))
        self.literals = [part for part in parts if isinstance(part, Literal)]
        self.commutative = [
            part for part in parts if isinstance(part, Term) and part.op.algebra.commutative
        ]

    def pick(self, options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def dtypes(self) -> tuple[str, ...]:
        """Dtypes to try, the usual one first."""
        allowed = set("fiub")
        for guards in self.guards.values():
            for guard in guards:
                if allowed & set(guard.kinds):
                    allowed &= set(guard.kinds)
        return tuple(name for name in (*FLOATS, *INTEGERS) if np.dtype(name).kind in allowed) or (
            "float64",
        )

    def attempt(self, dtype: str, shape: tuple[Any, ...], *, uniform: bool) -> Instance | None:
        """One instance, or None where the choice does not fit the rule."""
        found: Bindings = {}
        env: dict[str, Any] = {}
        for static in self.rule.statics:
            alike = [env[each.name] for each in self.rule.statics if each.name in env]
            fresh = not alike or self.rng.integers(4)
            env[static.name] = (
                self._static(static.kind, len(shape), shape) if fresh else self.pick(alike)
            )
        try:
            self._operands(env, shape, dtype, uniform=uniform)
        except (SymgraphError, ValueError, IndexError, TypeError):
            return None  # the facts asked for do not fit the shape
        for literal in self.literals:
            self._bind(literal, shape, dtype, found)
        for term in self.commutative:
            if self.rng.integers(2):
                found[term] = True
        return self._built(env, found)

    def _operands(
        self, env: dict[str, Any], shape: tuple[Any, ...], dtype: str, *, uniform: bool
    ) -> None:
        """An array for each variable; now and then one for two."""
        shared: Array | None = None
        for name, guards in self.guards.items():
            if self.rng.integers(6) == 0 and shared is not None:
                env[name] = shared
                continue
            own = shape if uniform else self._broadcasting(shape)
            env[name] = shared = self._operand(name, guards, own, dtype, env)

    def _broadcasting(self, shape: tuple[Any, ...]) -> tuple[Any, ...]:
        """A shape that broadcasts with `shape`, or now and then any other."""
        if self.rng.integers(5) == 0:
            return self.pick(_SHAPES)
        kept = shape[int(self.rng.integers(len(shape) + 1)) :] if self.rng.integers(2) else shape
        return tuple(1 if self.rng.integers(3) == 0 else dim for dim in kept)

    def _operand(
        self,
        name: str,
        guards: tuple[Guard, ...],
        shape: tuple[Any, ...],
        dtype: str,
        env: Mapping[str, Any],
    ) -> Array:
        if any(guard.scalar for guard in guards):
            shape = ()
        kinds = [guard.kinds for guard in guards if guard.kinds != "biuf"]
        wanted = np.dtype(dtype)
        for kind in kinds:
            if wanted.kind not in kind:
                wanted = np.dtype({"b": "bool", "i": "int64", "f": "float64"}[kind[0]])
        if any(guard.constant for guard in guards):
            return self._constant(guards, shape, wanted)
        return symbolic_input(name, shape, wanted, self._facts(name, guards, env))

    def _facts(
        self, name: str, guards: tuple[Guard, ...], env: Mapping[str, Any]
    ) -> tuple[Fact, ...]:
        stated = [fact for guard in guards for fact in guard.facts]
        stated += [fact(env) for wanted, fact in self.rule.needed_facts if wanted == name]
        return tuple(stated)

    def _constant(
        self, guards: tuple[Guard, ...], shape: tuple[Any, ...], dtype: np.dtype[Any]
    ) -> Array:
        options = [
            value
            for value in (2, -1, 3, 0.5, -2.5, 1, 0, -0.0, 1e-3, -7)
            if (dtype.kind == "f" or value == int(value))
            and (dtype.kind not in "ub" or value >= 0)
            and all(guard.values is None or guard.values(value) for guard in guards)
        ]
        value = self.pick(options or [1])
        fixed = tuple(dim if isinstance(dim, int) else SIZES[dim] for dim in shape)
        # Zeros stand for blocks of a matrix: a number would not do.
        shaped = self.rng.integers(2) or any(guard.name == "zeros" for guard in guards)
        return constant(np.full(fixed if shaped else (), value, dtype), dtype)

    def _bind(self, literal: Literal, shape: tuple[Any, ...], dtype: str, found: Bindings) -> None:
        """Now and then a uniform array in place of a number."""
        if self.rng.integers(3) == 0 and np.ndim(literal.value) == 0:
            fixed = tuple(dim if isinstance(dim, int) else SIZES[dim] for dim in shape)
            with np.errstate(all="ignore"):
                found[literal] = constant(np.full(fixed, literal.value, dtype), dtype).node

    def _static(self, kind: Kind, ndim: int, shape: tuple[Any, ...]) -> Any:
        axes = [i for i in range(-ndim, 0) if self.rng.integers(2)]
        match kind.name:
            case "axes":
                return tuple(axes)
            case "axis":
                return -1 - int(self.rng.integers(max(ndim, 1)))
            case "permutation":
                return self.pick([tuple(each) for each in permutations(range(-ndim, 0))])
            case "shape":
                return parse_shape(self._shape_near(shape))
            case "dtype":
                return np.dtype(self.pick(("float32", "float64", "float16", "int64", "int8")))
            case "flag":
                return bool(self.rng.integers(2))
            case _:
                return self.pick(_INDICES)

    def _shape_near(self, shape: tuple[Any, ...]) -> tuple[Any, ...]:
        """A shape that a reshape or a broadcast of `shape` may have."""
        choice = int(self.rng.integers(4))
        if choice == 0:
            return shape
        if choice == 1:
            return (int(self.rng.integers(1, 3)), *shape)
        if choice == 2:
            return tuple(3 if dim == 1 else dim for dim in shape)
        sizes = [dim for dim in shape if dim != 1]
        if "n" not in sizes and self.rng.integers(2):
            return (prod(cast("list[int]", sizes)),)
        return (*sizes, 1)

    def _built(self, env: dict[str, Any], found: Bindings) -> Instance | None:
        try:
            lhs: Node = instantiated(self.rule.lhs, env, found).node
            knowledge = Knowledge()
            for name in self.guards:
                consistent(knowledge.of(env[name].node).facts)
        except (SymgraphError, ValueError, IndexError, TypeError, OverflowError):
            return None
        fired = self.rule.apply(lhs, knowledge, self.sound)
        if fired is None or fired.sound != self.sound:
            return None
        chosen: dict[Node, tuple[Guard, ...]] = {}
        for name, guards in self.guards.items():
            node = env[name].node
            if node.is_input:
                chosen[node] = (*chosen.get(node, ()), *guards)
        return Instance(
            rule=self.rule,
            lhs=lhs,
            rhs=fired.node,
            inputs=tuple(chosen),
            guards=tuple(chosen.values()),
            facts=tuple(
                (*node.params["assume"], *[fact for guard in guards for fact in guard.facts])
                for node, guards in chosen.items()
            ),
            sound=self.sound,
            kind=self._kind(env, lhs, tuple(chosen)),
        )

    def _kind(self, env: Mapping[str, Any], lhs: Node, inputs: tuple[Node, ...]) -> Any:
        statics = repr([env[each.name] for each in self.rule.statics])
        if not self.rule.statics:
            return statics, lhs.aval, tuple(node.aval for node in inputs)
        return statics, tuple((node.ndim, node.dtype) for node in inputs)
