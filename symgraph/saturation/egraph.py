"""An e-graph of nodes, held by egglog: congruence closure, and matching of patterns modulo it.

Every e-node is a node of ours, which egglog knows by a number. egglog finds which numbers are equal
and where the left sides of rules match. Guards, params, shapes and right sides are checked here,
and egglog never makes a value. So its graph grows only by the nodes added here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import SymgraphError
from ..ir.interning import params_key
from ..ir.node import Node, Params
from ..ir.op import Op
from ..rewriting.guards import uniform_value
from ..rewriting.pattern import Literal, OpPattern, Pattern, Variable, subterms
from ..rewriting.rule import Rule

__all__ = ["EGraph", "Match"]

_PROGRAM = """
(sort E)
(constructor Leaf (i64) E)
(function node (i64) E :no-merge)
(function least (E) i64 :merge (min old new))
(function number (E) i64 :merge (min old new))
(function class (i64) i64 :merge (min old new))
(relation leaf (i64))
(relation uniform (i64))
(relation equal (i64 i64))
(ruleset load)
(ruleset read)
(ruleset match)
(rule ((leaf i)) ((let e (Leaf i)) (set (node i) e) (set (least e) i)) :ruleset load)
(rule ((uniform i) (= e (node i))) ((set (number e) i)) :ruleset load)
(rule ((equal i j) (= e (node i)) (= f (node j))) ((union e f)) :ruleset load)
(rule ((= e (node i)) (= r (least e))) ((set (class i) r)) :ruleset read)
"""
_LOAD = "(run-schedule (saturate (run load)))"


@dataclass(frozen=True, slots=True, order=True)
class Match:
    """A place where the left side of a rule matches.

    Parameters
    ----------
    rule : int
        The place of the rule among the rules.
    root : int
        The class that the left side is in.
    parts : tuple of int
        One for each part of the pattern, in preorder: the kind of an operation, else a node.
    """

    rule: int
    root: int
    parts: tuple[int, ...]


class EGraph:
    """Classes of equal nodes.

    Parameters
    ----------
    rules : sequence of Rule
    leaves : iterable of Node
        Values whose operands stay outside.

    Raises
    ------
    SymgraphError
        If egglog is not installed.
    """

    def __init__(self, rules: Sequence[Rule], leaves: Iterable[Node] = ()) -> None:
        self.rules = tuple(rules)
        self.leaves = frozenset(leaves)
        self.nodes: list[Node] = []
        self.place: dict[Node, int] = {}
        self._engine = _engine()
        self._program: list[str] = [_PROGRAM]
        # By table the rows that egglog has not read yet. Written as statements they took a second.
        self._rows: dict[str, list[tuple[int, ...]]] = {}
        self._ops: dict[Op, int] = {}
        self._present: set[Op] = set()
        self._kinds: dict[tuple[Any, ...], int] = {}
        self._kind_nodes: list[Node] = []
        self._arities: set[int] = set()
        self._lengths: set[int] = set()
        self._seen: set[Match] = set()
        # As egglog last found: for each node the least equal node, and e-nodes by their shape.
        self._classes: list[int] = []
        self._shapes: dict[object, int] = {}
        # Rules whose operations are not all in the graph yet: nearly always these are most rules.
        self._dormant: dict[int, set[Op]] = {
            index: {part.op for part in subterms(rule.lhs) if isinstance(part, OpPattern)}
            for index, rule in enumerate(self.rules)
        }

    def __len__(self) -> int:
        return len(self.nodes)

    # -- growing -----------------------------------------------------------------------------------
    def add(self, node: Node) -> int:
        """The number of the node; it is added with all nodes that it is computed from."""
        stack = [node]
        while stack:
            top = stack[-1]
            missing = [] if self.is_leaf(top) else [e for e in top.operands if e not in self.place]
            if top in self.place:
                stack.pop()
            elif missing:
                stack.extend(reversed(missing))
            else:
                self._enter(top)
                stack.pop()
        return self.place[node]

    def is_leaf(self, node: Node) -> bool:
        """Whether the operands of a node stay outside, as those of a recomputed value do."""
        return node in self.leaves or not node.operands or node.copy > 0

    def unite(self, one: Node, other: Node) -> None:
        """Note that two nodes of the graph are equal."""
        self._add_row("equal", self.place[one], self.place[other])

    def shape(self, node: Node) -> object:
        """The key of an e-node: an operation with its params on classes; or a leaf itself."""
        if self.is_leaf(node):
            return node
        below = [self._classes[self.place[each]] for each in node.operands]
        if node.op.traits.commutative and len(below) == 2:
            below.sort()
        return (node.op, *params_key(node.params), *below)

    def _enter(self, node: Node) -> None:
        shape = self.shape(node)
        known = self._shapes.get(shape)
        if known is not None:
            # Another node with equal operands is this e-node already.
            self.place[node] = known
            return
        place = self.place[node] = self._shapes[shape] = len(self.nodes)
        self.nodes.append(node)
        self._classes.append(place)
        if self.is_leaf(node):
            self._add_row("leaf", place)
        else:
            operands = [self.place[each] for each in node.operands]
            self._present.add(node.op)
            self._arity(len(operands))
            kind = (self._op(node.op), self._kind(node))
            self._add_row(f"node{len(operands)}", place, *kind, *operands)
            if node.op.traits.commutative and len(operands) == 2:
                self._add_row("swapped", place, *kind, *operands[::-1])
        if uniform_value(node) is not None:
            self._add_row("uniform", place)

    def _add_row(self, table: str, *values: int) -> None:
        self._rows.setdefault(table, []).append(values)

    def _arity(self, count: int) -> str:
        """The constructor of operations with so many operands; a new one is declared."""
        if count not in self._arities:
            self._arities.add(count)
            numbers = [f"i{each}" for each in range(count)]
            found = " ".join(f"(= e{each} (node {each}))" for each in numbers)
            term = f"(N{count} op kind {' '.join(f'e{each}' for each in numbers)})"
            ints = "i64 " * count
            self._program += [
                f"(constructor N{count} (i64 i64 {'E ' * count}) E)",
                f"(relation node{count} (i64 i64 i64 {ints}))",
                f"(rule ((node{count} i op kind {' '.join(numbers)}) {found})"
                f" ((let e {term}) (set (node i) e) (set (least e) i)) :ruleset load)",
            ]
            if count == 2:
                self._program += [
                    f"(relation swapped (i64 i64 i64 {ints}))",
                    f"(rule ((swapped i op kind i0 i1) {found} (= e (node i)))"
                    f" ((union e {term})) :ruleset load)",
                ]
        return f"N{count}"

    def _op(self, op: Op) -> int:
        return self._ops.setdefault(op, len(self._ops))

    def _kind(self, node: Node) -> int:
        """The number of the node's kind: its operation with its params."""
        key = (node.op, *params_key(node.params))
        if key not in self._kinds:
            self._kinds[key] = len(self._kind_nodes)
            self._kind_nodes.append(node)
        return self._kinds[key]

    def params_of(self, kind: int) -> Params:
        """The params of a kind of operation."""
        return self._kind_nodes[kind].params

    # -- asking ------------------------------------------------------------------------------------
    def classes(self) -> Sequence[int]:
        """For each node the least node that is equal to it."""
        self._run(f"{_LOAD} (run read 1)")
        self._read_classes()
        return self._classes

    def _read_classes(self) -> Any:
        """Read the classes that egglog has found; gives its tables."""
        functions = self._engine.freeze().functions
        for row in functions["class"].rows:
            self._classes[self._number(row.inputs[0])] = self._number(row.output)
        self._shapes = {}
        for place, node in enumerate(self.nodes):
            self._shapes.setdefault(self.shape(node), place)
        return functions

    def matches(self) -> list[Match]:
        """The new matches of rules, in order."""
        for index, ops in list(self._dormant.items()):
            if ops <= self._present:
                del self._dormant[index]
                self._program.append(self._query(index, self.rules[index].lhs))
        self._run(f"{_LOAD} (run read 1) (run match 1)")
        functions = self._read_classes()
        found: list[Match] = []
        for length in self._lengths:
            for row in functions[f"match{length}"].rows:
                rule, root, *parts = map(self._number, row.inputs)
                match = Match(rule, root, tuple(parts))
                if match not in self._seen:
                    self._seen.add(match)
                    found.append(match)
        return sorted(found)

    def _number(self, value: object) -> int:
        return self._engine.value_to_i64(value)

    def _run(self, command: str) -> None:
        from tempfile import TemporaryDirectory  # Only a run of egglog pays for the import.

        with TemporaryDirectory() as place:
            for table, rows in self._rows.items():
                path = Path(place, f"{table}.tsv")
                path.write_text("\n".join("\t".join(map(str, row)) for row in rows))
                # The path is quoted and escaped, for it may hold any character.
                self._program.append(f"(input {table} {_quoted(str(path))})")
            program = "\n".join([*self._program, command])
            self._program.clear()
            self._rows.clear()
            self._engine.run_program(*self._engine.parse_program(program))

    # -- patterns ----------------------------------------------------------------------------------
    def _query(self, index: int, lhs: OpPattern) -> str:
        """The rule of egglog that notes where the left side matches, with the parts that match."""
        conditions: list[str] = []
        parts: list[str] = []
        counter = iter(range(1_000_000))

        def part(pattern: Pattern) -> str:
            if isinstance(pattern, Variable):
                name = f"v_{pattern.name}"
                least = "number" if any(g.constant for g in pattern.guards) else "least"
                conditions.append(f"(= i_{pattern.name} ({least} {name}))")
                parts.append(f"i_{pattern.name}")
                return name
            name = f"e{next(counter)}"
            if isinstance(pattern, Literal):
                conditions.append(f"(= n_{name} (number {name}))")
                parts.append(f"n_{name}")
                return name
            assert isinstance(pattern, OpPattern)  # Only right sides have opaque parts.
            op, arity = self._op(pattern.op), self._arity(len(pattern.operands))
            parts.append(f"k_{name}")
            operands = " ".join([part(each) for each in pattern.operands])
            conditions.append(f"(= {name} ({arity} {op} k_{name} {operands}))")
            return name

        root = part(lhs)
        length = len(parts)
        if length not in self._lengths:
            self._lengths.add(length)
            self._program.append(f"(relation match{length} (i64 i64 {'i64 ' * length}))")
        return (
            f"(rule ({' '.join(conditions)} (= root (least {root}))) "
            f"((match{length} {index} root {' '.join(parts)})) :ruleset match)"
        )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _engine() -> Any:
    try:
        engine: Any = import_module("egglog.bindings").EGraph
    except ImportError as error:
        raise SymgraphError(
            'strategy="saturate" needs egglog, which is not installed.',
            mend='Install it with: pip install "symgraph[saturate]"; strategy="greedy" needs none.',
        ) from error
    return engine()
