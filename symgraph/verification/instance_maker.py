"""Instances of a rule: operands are made from its guards, params drawn, and both sides built."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, TypeVar

import numpy as np

from ..array import Array, constant
from ..errors import RuleError, SymgraphError
from ..facts import Fact, consistent
from ..ir.dims import parse_shape, resolve
from ..ir.fact_inference import Knowledge
from ..ir.node import Node
from ..ops.creation import input as symbolic_input
from ..records import record
from ..rewriting.guards import Guard
from ..rewriting.pattern import Bindings, Literal, OpPattern, instantiated, subterms
from ..rewriting.rule import Rule, Soundness
from .random_params import CAST_DTYPES, draw_params, shape_of_part

__all__ = [
    "FLOATS",
    "INTEGERS",
    "SHAPES",
    "SIZES",
    "Instance",
    "InstanceMaker",
    "admitted_numbers",
]

T = TypeVar("T")

FLOATS = ("float64", "float32", "float16")
INTEGERS = ("int64", "int8", "bool", "uint8")
_TRIES = 4
SIZES: dict[str, int] = {"n": 2}
"""Sizes of the named dimensions in some instances."""

SHAPES: tuple[tuple[int | str, ...], ...] = (
    (),
    (3,),
    (2,),
    (2, 3),
    (1,),
    (3, 3),
    (2, 2, 2),
    (2, 3, 3),
    (1, 3),
    (2, 1),
    (0,),
    (2, 1, 3),
    (0, 3),
    ("n", 3),
    (2, 3, 2),
    (2, 1, 2, 3),
    (0, 2, 1, 2),
)
"""Shapes to draw from, the plainest first."""
_WIDE, _WIDER = 48, 196
"""Lengths with room for every awkward value once, and for all combinations of the worst ones."""
_MOST_PAIRS = 1 << 18
"""The most elements of a left side: pairs of pairs of a long vector are too many."""
_ROWS = (24, 3)
"""A shape whose rows have few awkward values each: the sum of all of them is NaN, no evidence."""


@record(eq=False)
class Instance:
    """A left side, the right side that the rule made from it, and the inputs of both."""

    rule: Rule
    lhs: Node
    rhs: Node
    inputs: tuple[Node, ...]
    guards: tuple[tuple[Guard, ...], ...]
    facts: tuple[tuple[Fact, ...], ...]
    sound: Soundness
    kind: Hashable
    """Equal for instances that would test the same: params, ranks, dtypes, shapes."""
    small: bool = False
    """Whether it tests axes only, for which ordinary numbers are enough."""

    def __str__(self) -> str:
        shown = ", ".join(f"{node.params['name']}: {node.aval}" for node in self.inputs)
        return f"{shown or 'constants'} → {self.lhs.aval}"


class InstanceMaker:
    """Makes instances of one rule."""

    small = False
    """Whether all lengths of axes are 1 and 2."""

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
        # Shapes and indices are drawn for operands of one shape, and seldom fit smaller ones.
        self.prefers_uniform = any(each.kind.name in ("shape", "index") for each in rule.statics)
        self.literals = [part for part in parts if isinstance(part, Literal)]
        self.commutative = [
            part for part in parts if isinstance(part, OpPattern) and part.op.traits.commutative
        ]
        terms = [part for part in parts if isinstance(part, OpPattern)]
        self.of_matrices = any(term.op.traits.matrices is not None for term in terms)
        self.has_axes = bool(rule.statics) or self.of_matrices or any(t.params for t in terms)
        self.has_constants = any(
            guard.constant for guards in self.guards.values() for guard in guards
        )
        self.indices = [each.name for each in rule.statics if each.kind.name == "index"]
        self.has_places = any(
            guard.constant and guard.kinds == "i"
            for guards in self.guards.values()
            for guard in guards
        )

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self.rng.integers(len(options)))]

    def wide(self) -> Iterator[Instance]:
        """An instance with room for awkward values for each dtype, where one can be found."""
        varying = [
            guards
            for guards in self.guards.values()
            if not any(guard.constant or guard.scalar for guard in guards)
        ]
        shapes: list[tuple[int, ...]] = [(_WIDE if len(varying) < 2 else _WIDER,)]
        if self.rule.statics:
            shapes.append(_ROWS)
        casts = [each.name for each in self.rule.statics if each.kind.name == "dtype"]
        for dtype in self.dtypes():
            for shape in shapes[: 1 if casts else None]:
                for chosen in product(CAST_DTYPES, repeat=len(casts)):
                    given = dict(zip(casts, map(np.dtype, chosen), strict=True))
                    for _ in range(_TRIES):
                        made = self.attempt(dtype, shape, uniform=True, given=given)
                        if made is not None:
                            size = made.lhs.aval.size
                            if not isinstance(size, int) or size <= _MOST_PAIRS:
                                yield made
                            break

    def of_every_shape(self, seen: set[Any]) -> Iterator[Instance]:
        """Instances of each rank up to 4 with lengths 0 to 3, on equal and on mixed shapes."""
        dtype = self.dtypes()[0]
        for rank in range(5):
            for shape in product(range(4), repeat=rank):
                for uniform in (True, False):
                    made = self.attempt(dtype, shape, uniform=uniform)
                    if made is not None and (shape, made.kind) not in seen:
                        seen.add((shape, made.kind))
                        yield made

    def dtypes(self) -> tuple[str, ...]:
        """Dtypes to try, the usual one first; bool only if no other dtype is admitted."""
        allowed = set("fiub")
        for guards in self.guards.values():
            for guard in guards:
                if allowed & set(guard.kinds) and (guard.kinds != "b" or len(self.guards) == 1):
                    allowed &= set(guard.kinds)
        return tuple(name for name in (*FLOATS, *INTEGERS) if np.dtype(name).kind in allowed) or (
            "float64",
        )

    def attempt(
        self,
        dtype: str,
        shape: tuple[Any, ...],
        *,
        uniform: bool,
        given: Mapping[str, Any] | None = None,
    ) -> Instance | None:
        """One instance, or None where the drawn operands do not fit the rule.

        If params are `given`, no array stands for two variables.
        """
        found: Bindings = {}
        env: dict[str, Any] = dict(given or {})
        draw_params(self.rule.statics, env, shape, self.rng)
        if self.rng.integers(4):
            shape = shape_of_part(self.rule.statics, env, shape)
        try:
            self._operands(env, shape, dtype, uniform=uniform, apart=given is not None)
        except (SymgraphError, ValueError, IndexError, TypeError):
            return None  # the facts of the guards do not fit the shape
        for literal in self.literals:
            self._bind(literal, shape, dtype, found)
        for term in self.commutative:
            if self.rng.integers(2):
                found[term] = True
        return self._built(env, found)

    def _operands(
        self,
        env: dict[str, Any],
        shape: tuple[Any, ...],
        dtype: str,
        *,
        uniform: bool,
        apart: bool,
    ) -> None:
        """Put an array for each variable into `env`; now and then the same for two variables."""
        shared: Array | None = None
        orders = [env[each.name] for each in self.rule.statics if each.kind.name == "permutation"]
        fitted = len(orders) == len(self.guards) and self.rng.integers(2)
        for i, (name, guards) in enumerate(self.guards.items()):
            if not apart and self.rng.integers(6) == 0 and shared is not None:
                env[name] = shared
                continue
            own = shape if uniform else self.broadcasting(shape, env)
            if fitted:
                own = shape[len(shape) - len(orders[i]) :]
            env[name] = shared = self._operand(name, guards, own, dtype, env)

    def broadcasting(self, shape: tuple[Any, ...], _env: Mapping[str, Any]) -> tuple[Any, ...]:
        """A shape that broadcasts with `shape`, or now and then any other."""
        if self.rng.integers(5) == 0:
            return self.pick(SHAPES)
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
            return self.constant(guards, shape, wanted, env)
        return symbolic_input(name, shape, wanted, self._facts(name, guards, env))

    def _facts(
        self, name: str, guards: tuple[Guard, ...], env: Mapping[str, Any]
    ) -> tuple[Fact, ...]:
        stated = [fact for guard in guards for fact in guard.facts]
        stated += [fact(env) for wanted, fact in self.rule.needed_facts if wanted == name]
        return tuple(stated)

    def constant(
        self,
        guards: tuple[Guard, ...],
        shape: tuple[Any, ...],
        dtype: np.dtype[Any],
        env: Mapping[str, Any],
    ) -> Array:
        """A constant that the guards admit: of one value, or one-hot along an axis."""
        value = self.pick(admitted_numbers(guards, dtype) or [1])
        fixed = resolve(parse_shape(shape), SIZES)
        single = [fact for each in guards for fact in each.facts if fact.name == "one_hot"]
        if single:
            (axis,) = single[0].args
            chosen = np.argmax(self.rng.random(fixed), axis=axis, keepdims=True)
            ones = np.zeros(fixed, dtype)
            np.put_along_axis(ones, chosen, 1, axis=axis)
            return constant(ones, dtype)
        # The zeros of a block matrix must have a shape: a number does not fit.
        shaped = self.rng.integers(2) or any(guard.name == "zeros" for guard in guards)
        return constant(np.full(fixed if shaped else (), value, dtype), dtype)

    def _bind(self, literal: Literal, shape: tuple[Any, ...], dtype: str, found: Bindings) -> None:
        """Now and then put a uniform array in place of a number."""
        if self.rng.integers(3) == 0 and np.ndim(literal.value) == 0:
            fixed = resolve(parse_shape(shape), SIZES)
            with np.errstate(all="ignore"):
                found[literal] = constant(np.full(fixed, literal.value, dtype), dtype).node

    def _built(self, env: dict[str, Any], found: Bindings) -> Instance | None:
        try:
            lhs: Node = instantiated(self.rule.lhs, env, found).node
            knowledge = Knowledge()
            for name in self.guards:
                consistent(knowledge.of(env[name].node).facts)
        except (SymgraphError, ValueError, IndexError, TypeError, OverflowError):
            return None
        fired = self.rule.apply(lhs, knowledge, self.sound)
        if fired is None:
            self._refuse_misfit(env, found, lhs, knowledge)
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
            small=self.small and self.has_axes,
        )

    def _refuse_misfit(
        self, env: Mapping[str, Any], found: Bindings, lhs: Node, knowledge: Knowledge
    ) -> None:
        """Refuse a rule whose sides differ in shape or dtype on operands of one shape and kind.

        On operands of several shapes, a side that lacks an operand may be smaller: then the rule
        declines.

        Raises
        ------
        RuleError
        """
        operands = [env[name] for name in self.guards]
        arrays = [each for each in operands if each.node.is_input]
        numbers = [*found.values(), *(each.node for each in operands if not each.node.is_input)]
        alike = len({each.shape for each in arrays}) == 1
        floats = {each.dtype.kind for each in arrays} == {"f"}
        if not alike or not floats or any(isinstance(n, Node) and n.ndim for n in numbers):
            return
        right = self.rule.misfit(lhs, knowledge)
        if right is not None:
            raise RuleError(
                f"The sides of rule {self.rule.name} are {lhs.aval} and {right.aval}.",
                mend="State with provided(...) when they have one shape.",
            )

    def _kind(self, env: Mapping[str, Any], lhs: Node, inputs: tuple[Node, ...]) -> Hashable:
        statics = repr([env[each.name] for each in self.rule.statics])
        if not self.rule.statics:
            return statics, lhs.aval, tuple(node.aval for node in inputs)
        return statics, tuple((node.ndim, node.dtype) for node in inputs)


def admitted_numbers(guards: tuple[Guard, ...], dtype: np.dtype[Any]) -> list[float]:
    """Numbers of a dtype that the guards of a constant admit."""
    return [
        value
        for value in (2, -1, 3, 0.5, -2.5, 1, 0, -0.0, 1e-3, -7)
        if (dtype.kind == "f" or value == int(value))
        and (dtype.kind not in "ub" or value >= 0)
        and all(guard.values is None or guard.values(value) for guard in guards)
    ]
