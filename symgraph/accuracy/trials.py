"""Trials: the value of each node at all probes, in double precision and in single precision.

A graph is evaluated from its inputs, so that the operands of a spelling have realistic values: a
softmax sums to one, and an exp may have overflowed. Random numbers take the place of a computed
value only where its kernel cannot be run; they satisfy the facts of the value.

Each single-precision computation is repeated with perturbed roundings, which is Monte Carlo
arithmetic (see `symgraph.accuracy`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import prod
from typing import Any

import numpy as np

from ..ir.fact_inference import Knowledge
from ..ir.node import Node
from .draws import drawn
from .probes import Numbers, Places
from .roundings import Roundings
from .short_sizes import LONGEST, MOST_ELEMENTS, resolved, shortened
from .stacked_kernels import Params, kind_of, stacked
from .sums_of_products import sums_products, without_order
from .trial import Trial, drawn_below

__all__ = ["UNIT", "Trials"]

_REPEATED = 5
"""How often each computation is made: the first as it is, the others with perturbed roundings."""

UNIT = 2.0**-20
"""The largest relative perturbation of a rounded value: eight units in the last place.

One unit would leave too few different values, and errors would cancel to nothing too often."""

_MOST_BYTES = 1 << 27
"""Bytes of trials, beyond which those not asked for since the last time are dropped."""

_BYTES_A_VALUE = 5_000
"""More bytes are kept of a large graph: so many for each value of its longest sweep."""

_LONG = 1_000
"""The trials of a sweep, beyond which those that are not needed any more are dropped."""


_DOUBLE, _SINGLE = np.dtype(np.float64), np.dtype(np.float32)
_LAST = np.finfo(np.float32).smallest_subnormal

_SIZE_BITS = np.uint32(0x7FFFFFFF)
_LARGEST_SUBNORMAL = np.uint32(0x7FFFFF)
"""All bits of a number in single precision but its sign; the bits of the largest subnormal."""

_NOISE = (1.0 + UNIT * np.random.default_rng(1997).uniform(-1, 1, 1 << 16)).astype(np.float32)
"""Random factors near 1. Values to be perturbed are multiplied by a section of them."""


class Trials:
    """The trials of nodes, computed on demand and kept.

    Parameters
    ----------
    knowledge : Knowledge
        The facts that random numbers satisfy.
    places : "usual", "wide" or "positive"
        At which probes. At all but the usual ones each computation is made once, as it is.
    whole : bool
        Whether long dimensions keep their size, and each computation is made once. Where they are
        shortened some kernels cannot run.
    rough : bool
        Whether single precision stands for the reference, too, which takes half of the time.
    order : dict of Node to int, optional
        The order in which values got random numbers. Trials that share it have the same numbers.
    finer : Trials, optional
        For rough trials: those at the same probes that are not rough. What they know is taken.
    exponents : set of Node, optional
        Inputs that are exponents of powers.
    """

    def __init__(
        self,
        knowledge: Knowledge,
        places: Places = "usual",
        *,
        whole: bool = False,
        rough: bool = False,
        order: dict[Node, int] | None = None,
        finer: Trials | None = None,
        exponents: set[Node] | None = None,
    ) -> None:
        self.knowledge = knowledge
        self.places: Places = places
        self._repeated = _REPEATED if places == "usual" and not (whole or rough) else 1
        self._longest = MOST_ELEMENTS if whole else LONGEST
        self._rough = rough
        self._trials: dict[Node, Trial | None] = {}
        # Trials not asked for since `_trials` was last full.
        self._older: dict[Node, Trial | None] = {}
        self.order: dict[Node, int] = {} if order is None else order
        self.exponents: set[Node] = set() if exponents is None else exponents
        self._finer = finer
        self._at = 0
        self._roundings = Roundings()
        self._bytes, self._most = 0, _MOST_BYTES

    def of(self, node: Node) -> Trial | None:
        """The trial of a node; None if it has several results or too many elements."""
        if not self.has(node):
            self.learn([node])
        # A sweep may have left it among the older ones.
        return self._trials[node] if node in self._trials else self._older[node]

    def learn(self, nodes: Sequence[Node]) -> None:
        """Compute the trials of nodes in one sweep.

        In a long sweep a value that nothing else in it needs is dropped once memory is short.
        """
        missing = self._missing_below(nodes)
        users: Counter[Node] = Counter()
        if len(missing) > _LONG:
            self._most = max(self._most, _BYTES_A_VALUE * len(missing))
            users.update(nodes)
            users.update([each for node in missing for each in set(node.operands)])
        with np.errstate(all="ignore"):
            for node in missing:
                self._keep(node, self._trial(node))
                for each in set(node.operands) if users else ():
                    users[each] -= 1
                    if users[each] == 0 and self._bytes > self._most:
                        self._drop(each)
        if self._bytes > self._most:
            # Not all are dropped: of a large graph, every trial would be computed from the inputs.
            self._older, self._trials, self._bytes = self._trials, {}, 0

    def are_whole(self, *nodes: Node) -> bool:
        """Whether no dimension was shortened for them: a number may stand for a size, as 7 for it.

        The mean of 7 equal numbers is their sum by 7, and over 4 of them it is another value.
        """
        stack, seen = [*nodes], {*nodes}
        while stack:
            each = stack.pop()
            if any(isinstance(dim, int) and dim > self._longest for dim in each.shape):
                return False
            stack.extend([operand for operand in each.operands if operand not in seen])
            seen.update(each.operands)
        return True

    def _missing_below(self, nodes: Sequence[Node]) -> list[Node]:
        """The nodes whose trials are to be computed for these, operands first."""
        found: dict[Node, None] = {}
        stack = list(reversed(nodes))
        while stack:
            top = stack[-1]
            missing = [
                each
                for each in top.operands
                if each not in found and each not in self._trials and not self.has(each)
            ]
            if missing and top not in found:
                stack.extend(missing)
                continue
            stack.pop()
            if top not in found and top not in self._trials and not self.has(top):
                found[top] = None
        return list(found)

    def has(self, node: Node) -> bool:
        """Whether the trial of a node is kept; it then counts as asked for lately."""
        if node in self._trials:
            return True
        if node not in self._older:
            return False
        self._keep(node, self._older.pop(node))
        return True

    def _keep(self, node: Node, trial: Trial | None) -> None:
        self._trials[node] = trial
        if trial is not None:
            self._bytes += trial.right.nbytes + trial.found.nbytes

    def _drop(self, node: Node) -> None:
        trial = self._trials.pop(node)
        if trial is not None:
            self._bytes -= trial.right.nbytes + trial.found.nbytes

    def _trial(self, node: Node) -> Trial | None:
        shape = shortened(node.shape, self._longest)
        if prod(shape) > MOST_ELEMENTS or len(node.results) > 1:
            return None
        if self._finer is not None and self._finer.has(node):
            return _roughened(self._finer.of(node))
        if node.is_constant:
            return _of_constant(node, shape, self._repeated)
        return self._computed(node, shape) or self._random(node, shape)

    def _random(self, node: Node, shape: tuple[int, ...]) -> Trial:
        """A trial of random numbers that satisfy the facts of the node."""
        index = self.order.setdefault(node, len(self.order))
        known = self.knowledge.of(node)
        exponent = node in self.exponents
        right = drawn(shape, node.dtype, known, index, self.places, exponent=exponent)
        found = right.astype(np.float32) if node.dtype.kind == "f" else right
        drawn_here = 0 if node.is_input else 1 << index
        # A copy, not a broadcast view: every kernel would make the copy again.
        return Trial(right, np.repeat(found[None], self._repeated, axis=0), drawn_here)

    def _computed(self, node: Node, shape: tuple[int, ...]) -> Trial | None:
        """The trial computed from those of the operands; None if the kernel cannot be run."""
        below = self._trials_below(node)
        if below is None:
            return None
        if self._rough:
            return self._roughly(node, below, shape)
        op = node.op
        params = resolved(node.params, _DOUBLE, self._longest)
        rights = [each.right for each in below]
        kind = kind_of(op, rights, params, shape)
        right = stacked(op, rights, params, shape, kind)
        if right is None:
            return None
        is_float = node.dtype.kind == "f"
        repeated = [each.rows for each in below]
        lower = resolved(node.params, _SINGLE, self._longest) if params else params
        if lower != params:  # A dtype is among them.
            kind = kind_of(op, repeated, lower, shape)
        if op.conditioned:
            repeated = [self._with_noise(each) for each in repeated]
        found = stacked(op, repeated, lower, shape, kind)
        if found is None:
            return None
        if is_float:
            right = right.astype(np.float64, copy=False)
            found = found.astype(np.float32, copy=False)
            if len(below) > 1 and sums_products(op, len(below)):
                found = without_order(op, found, below, lower, shape)
            found = self._perturbed(node, found, repeated, (params, lower), shape, kind)
            if op.traits.exponential_sum is not None:
                right, found = _without_empty_rows(node, right), _without_empty_rows(node, found)
        count = len(right)
        if len(found) > 1:
            found = found.reshape(self._repeated, count, *shape)
        else:
            found = np.broadcast_to(
                found.reshape(1, count, *shape), (self._repeated, count, *shape)
            )
        return Trial(right, found, drawn_below(below))

    def _trials_below(self, node: Node) -> list[Trial] | None:
        """The trials of the operands; None if the node is not to be computed from them."""
        below = [self._trials[operand] for operand in node.operands]
        if node.is_input or node.op.custom:
            return None
        if node.params and any(hasattr(value, "at_sizes") for value in node.params.values()):
            return None  # A loop would take longer than everything else.
        known = [each for each in below if each is not None]
        return known if len(known) == len(below) else None

    def _roughly(self, node: Node, below: list[Trial], shape: tuple[int, ...]) -> Trial | None:
        """The trial of one computation in single precision."""
        params = resolved(node.params, _SINGLE, self._longest)
        operands = [each.found[0] for each in below]
        found = stacked(node.op, operands, params, shape)
        if found is None:
            return None
        if node.dtype.kind == "f":
            found = found.astype(np.float32, copy=False)
            if len(below) > 1 and sums_products(node.op, len(below)):
                found = without_order(node.op, found, below, params, shape)
            found = _without_empty_rows(node, found)
        return Trial(found, found[None], drawn_below(below))

    def _perturbed(
        self,
        node: Node,
        found: Numbers,
        operands: list[Numbers],
        params: tuple[Params, Params],
        shape: tuple[int, ...],
        kind: Hashable,
    ) -> Numbers:
        """The values with all repetitions but the first perturbed, if the operation rounds."""
        if node.op.count == 0 or len(found) == 1 or self._repeated == 1:
            return found
        if not self._roundings.has(node, operands, params, shape, kind):
            return found
        # A kernel may return an operand itself, or a view of it.
        flags = found.flags
        fresh = flags.owndata and flags.writeable
        for each in operands:
            fresh = fresh and found is not each
        return self._with_noise(found, fresh=fresh)

    def _with_noise(self, found: Numbers, *, fresh: bool = False) -> Numbers:
        """The numbers with all repetitions but the first perturbed.

        Numbers that are `fresh` belong to no one else and are perturbed in place.
        """
        if found.dtype.kind != "f" or len(found) == 1 or self._repeated == 1:
            return found
        first = len(found) // self._repeated
        rest = found[first:]
        self._at = (self._at + 4099) % (len(_NOISE) // 2)
        start = _NOISE[self._at : self._at + rest.size]
        flat = start if len(start) == rest.size else np.resize(start, rest.size)
        # For subnormal numbers one unit in the last place is the smallest subnormal.
        small = _subnormal_places(rest) if rest.dtype == np.float32 else ()
        noisy = np.multiply(rest, flat.reshape(rest.shape), out=rest if fresh else None)
        if len(small):
            # A kernel may keep the strides of its operands.
            target: Any = noisy.reshape(-1) if noisy.flags.c_contiguous else noisy.flat
            target[small] += _LAST * np.rint((flat[small] - 1) / UNIT)
        return found if fresh else np.concatenate([found[:first], noisy])


def _subnormal_places(numbers: Numbers) -> Numbers:
    """The places of subnormal numbers in single precision, counted row by row.

    They are told by their bits: some processors compare subnormal numbers slowly.
    """
    bits = numbers.reshape(-1).view(np.uint32) & _SIZE_BITS
    bits -= 1  # 0 becomes the largest number
    return (bits < _LARGEST_SUBNORMAL).nonzero()[0]


def _roughened(trial: Trial | None) -> Trial | None:
    """Of a trial the computation in single precision without perturbed roundings.

    It is a copy: a view would hold the memory of all repetitions.
    """
    if trial is None:
        return None
    found = trial.found[:1].copy()
    return Trial(found[0], found, trial.drawn)


def _without_empty_rows(node: Node, found: Numbers) -> Numbers:
    """A softmax with NaN for rows of zeros.

    It is 0 where all its row is -inf. Here scores have overflowed, for no input is infinite: the
    row is lost, as it is where exps are divided by their sum, and the zeros are no numbers of it.
    """
    form = node.op.traits.exponential_sum
    if form is None or form.logarithm or not form.over_axis or not found.size:
        return found
    lost = found.sum(axis=node.params["axis"], keepdims=True) == 0
    return np.where(lost, np.asarray(np.nan, found.dtype), found) if lost.any() else found


def _of_constant(node: Node, shape: tuple[int, ...], repeated: int) -> Trial:
    value = node.params["value"][tuple([slice(size) for size in shape])]
    is_float = value.dtype.kind == "f"
    right = np.asarray(value, np.float64 if is_float else value.dtype)[None]
    found = np.asarray(value, np.float32 if is_float else value.dtype)[None]
    return Trial(right, np.broadcast_to(found, (repeated, *found.shape)))
