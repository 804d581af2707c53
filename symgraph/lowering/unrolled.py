"""A program of small arrays on Python's floats: an element of an array is a value by itself.

A function of a few numbers that are read from a vector, and a matrix whose entries are written one
by one, are arithmetic on floats between a read and a join. Statements that only move elements are
run on arrays of numbers that name the elements; so what they do need not be known. Elementwise
statements become one line an element. What makes a number of vectors, such as a sum or an inner
product, is NumPy's call on arrays of floats. Others, such as products of matrices, need arrays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..ir.dims import fixed
from ..namespace import NUMPY
from .floats import FloatLine, constant_text, elementwise_text
from .source_pieces import Pieces, Tabled
from .statements import Filled, Program, Statement

__all__ = ["Unrolled", "unrolled"]

_LARGEST = 128
"""The most elements of an array."""

_MOST_LINES = 4_000

_LINES_AT_FIRST = 400
"""Lines after which arrays are given up for which no lines on floats can make up."""

_FILLED = ("np.ones_like(", "np.zeros_like(")
"""Calls whose results are constants, whatever the numbers of the operands."""

# Nanoseconds, measured: what a statement on small arrays takes, and on floats a line, an element
# that is read from an array or put into one, and an array besides.
_STATEMENT, _LINE, _ELEMENT, _ARRAY = 600.0, 45.0, 30.0, 400.0

_FLOAT, _BOOL = np.dtype("float64"), np.dtype("bool")
_NAME = re.compile(r"\bv[0-9]+\b")


class Unrolled:
    """The lines on floats.

    Attributes
    ----------
    elements : mapping of str to tuple of str
        For each input that is an array, a name for each element.
    lines : list of FloatLine
    results : list of (tuple of int, list of str)
        The shape of each result, and its elements.
    dense_inputs : dict of str to None
        Inputs whose elements must lie beside each other.
    nanoseconds : float
        What arrays of floats take, and the calls on them.
    """

    def __init__(self, program: Program) -> None:
        self.elements: dict[str, tuple[str, ...]] = {}
        self.lines: list[FloatLine] = []
        self.results: list[tuple[tuple[int, ...], list[str]]] = []
        # Each element has a mark, a random number of its own; 0.0 is its own.
        self._marks: dict[str, float] = {"0.0": 0.0}
        self._texts: dict[float, str] = {0.0: "0.0"}
        self._random = np.random.default_rng(1)
        self._arrays: dict[str, np.ndarray[Any, Any]] = {}
        """The marks of the elements of each array."""
        self._computed_as: dict[str, str] = {}
        self._seen = 0
        # Vectors whose elements lie beside each other: BLAS rounds others differently.
        self._dense: set[str] = set()
        self.dense_inputs: dict[str, None] = {}
        self.nanoseconds = 0.0
        self._dtypes: dict[str, np.dtype[Any]] = {}
        self._next = 1 + max(
            [int(name[1:]) for name in self._names(program) if _NAME.fullmatch(name)], default=0
        )

    @staticmethod
    def _names(program: Program) -> Iterable[str]:
        yield from program.inputs
        for statement in program.statements:
            yield statement.target

    def read(self, program: Program) -> bool:
        """Take in the inputs and the constants; whether floats can stand for them."""
        for name, node in zip(program.inputs, program.dag.inputs.values(), strict=True):
            shape = _small(node.shape)
            if shape is None or node.dtype != _FLOAT:
                return False
            names = [self._fresh() for _ in range(int(np.prod(shape)))] if shape else [name]
            if shape:
                self.elements[name] = tuple(names)
                self._dense.add(name)
            self._put(name, names, shape, _FLOAT)
        for name, node in program.constants.items():
            shape = _small(node.shape)
            texts = _numbers(node.params["value"])
            if shape is None or texts is None:
                return False
            self._put(name, texts, shape, node.dtype)
            self._dense.add(name)
        return True

    def add(self, statement: Statement) -> bool:
        """Take in a statement; whether it can be one of floats."""
        if len(statement.avals) != 1 or statement.named or not statement.target:
            return False
        if statement.filled is not Filled.WHOLE:
            return False  # Of an array that is filled in part after part no element is known.
        (aval,) = statement.avals
        shape = _small(aval.shape)
        if shape is None or aval.dtype not in (_FLOAT, _BOOL):
            return False
        found = None if statement.elementwise else self._moved(statement, shape)
        if found is None:
            found = self._computed(statement, shape)
        if found is None and aval.dtype == _FLOAT and int(np.prod(shape)) == 1:
            found = self._called(statement)
        self._seen += 1
        most = min(_MOST_LINES, _LINES_AT_FIRST + self._seen * _STATEMENT / _LINE)
        if found is None or len(self.lines) > most:
            return False
        self._put(statement.target, found, shape, aval.dtype)
        return True

    def give(self, results: Sequence[str]) -> None:
        """Note the results."""
        for name in results:
            found = self._arrays[name]
            self.results.append((found.shape, [self._texts[each] for each in found.ravel()]))

    def _put(
        self, name: str, texts: Sequence[str], shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> None:
        """Note an array by the names of its elements."""
        marks = [self._mark(each) for each in texts]
        self._arrays[name] = np.array(marks, np.float64).reshape(shape)
        self._dtypes[name] = dtype

    def _mark(self, text: str) -> float:
        mark = self._marks.get(text)
        if mark is None:
            mark = self._marks[text] = float(self._random.uniform(1, 2))
            self._texts[mark] = text
        return mark

    def _fresh(self) -> str:
        self._next += 1
        return f"v{self._next - 1}"

    def _moved(self, statement: Statement, shape: tuple[int, ...]) -> Sequence[str] | None:
        """The elements of a statement that only moves elements, or gives constants; else None.

        It is run on the marks of the elements: what it does to them, it does to any numbers.
        """
        if any(self._dtypes[name] != _FLOAT for name in statement.operands):
            return None
        operands = {name: self._arrays[name] for name in statement.operands}
        found = _run(statement, operands)
        if found is None or found.shape != shape or found.dtype != _FLOAT:
            return None
        if found.flags.c_contiguous and self._dense.issuperset(statement.operands):
            self._dense.add(statement.target)
        if statement.node.op.traits.movement:
            texts = [self._texts.get(each) for each in found.ravel().tolist()]
            known = [each for each in texts if each is not None]
            return known if len(known) == len(texts) else None
        given = not operands or statement.pieces[0] in _FILLED
        return _numbers(found) if given else None

    def _computed(self, statement: Statement, shape: tuple[int, ...]) -> list[str] | None:
        """The elements of an elementwise statement; None for other statements."""
        plain = replace(statement, pieces=_without_place(statement))
        whole = elementwise_text(plain, {}, self._dtypes)
        if whole is None:
            return None
        names = list(dict.fromkeys(_NAME_OR_CONSTANT.findall(whole)))
        if any(name not in self._arrays for name in names):
            return None
        try:
            spread = np.broadcast_arrays(np.empty(shape), *[self._arrays[name] for name in names])
        except ValueError:
            return None
        if spread[0].shape != shape:
            return None
        if len(shape) <= 1:
            self._dense.add(statement.target)
        found: list[str] = []
        rows = [each.ravel().tolist() for each in spread[1:]]
        for marks in zip(*rows, strict=True) if rows else [()] * int(np.prod(shape)):
            operands = [_operand(self._texts[each]) for each in marks]
            found.append(self._line(_written(whole, names, operands), statement))
        return found

    def _called(self, statement: Statement) -> list[str] | None:
        """NumPy's call that makes a number of vectors; None for another statement."""
        text, table = _source(_without_place(statement))
        names = dict.fromkeys(_NAME_OR_CONSTANT.findall(text))
        if table or not text.startswith("np.") or not self._dense.issuperset(names):
            return None
        arrays: list[str] = []
        for name in names:
            elements = self._arrays[name]
            if elements.ndim != 1 or self._dtypes[name] != _FLOAT:
                return None
            if name in self.elements:
                self.dense_inputs[name] = None
                arrays.append(name)
                continue
            listed = ", ".join([self._texts[each] for each in elements.tolist()])
            arrays.append(self._line(f"array([{listed}])", statement))
            self.nanoseconds += _ARRAY + _ELEMENT * elements.size
        self.nanoseconds += _STATEMENT
        written = _written(text, list(names), arrays)
        item = ".item()" if statement.avals[0].shape else ""
        return [self._line(f"float({written}{item})", statement)]

    def _line(self, text: str, statement: Statement) -> str:
        """The name of the value that this expression has."""
        name = self._computed_as.get(text)
        if name is None:
            name = self._computed_as[text] = self._fresh()
            self.lines.append((name, text, statement))
        return name


_NAME_OR_CONSTANT = re.compile(r"\b[vc][0-9]+\b")


def _operand(text: str) -> str:
    """A negative number stands in parentheses: - -2.0 is hard to read."""
    return f"({text})" if text.startswith("-") else text


def _written(whole: str, names: Sequence[str], operands: Sequence[str]) -> str:
    """An expression with these operands in the place of names."""
    texts = dict(zip(names, operands, strict=True))
    return _NAME_OR_CONSTANT.sub(lambda match: texts[match[0]], whole)


def _numbers(values: object) -> list[str] | None:
    """Numbers as source; None if one is not finite."""
    texts = [constant_text(each) for each in np.ravel(np.asarray(values))]
    known = [each for each in texts if each is not None]
    return known if len(known) == len(texts) else None


def _run(statement: Statement, operands: Mapping[str, Any]) -> np.ndarray[Any, Any] | None:
    """The result of a statement for these operands; None if it takes more than arrays."""
    text, table = _source(_without_place(statement))
    names = {"__builtins__": {}, "np": np, "xp": NUMPY, **table, **operands}
    try:
        with np.errstate(all="ignore"):
            return np.asarray(eval(text, names))
    except Exception:  # A kernel that is called by name, or one that refuses these numbers.
        return None


def _small(shape: Sequence[Any]) -> tuple[int, ...] | None:
    """A shape of numbers with few elements, and not without any; else None."""
    if not fixed(tuple(shape)) or not 0 < int(np.prod(shape)) <= _LARGEST:
        return None
    return tuple(map(int, shape))


def _without_place(statement: Statement) -> Pieces:
    """The right-hand side without the array that the result is written to, marked by ""."""
    pieces = statement.pieces
    if not (statement.out or statement.place) or "" not in pieces:
        return pieces
    at = pieces.index("")
    return (*pieces[:at], *pieces[at + 3 :])


def _source(pieces: Pieces) -> tuple[str, dict[str, Any]]:
    """The text of a right-hand side, and its tables by name."""
    table: dict[str, Any] = {}
    texts: list[str] = []
    for piece in pieces:
        if isinstance(piece, Tabled):
            name = f"t{len(table)}"
            table[name] = piece.value
            texts.append(name)
        else:
            texts.append(str(piece))
    return "".join(texts), table


def unrolled(program: Program) -> Unrolled | None:
    """The program on floats, if it has arrays, needs no more than floats, and is faster by them."""
    if program.bodies or program.loops or not program.statements:
        return None
    avals = [node.aval for node in program.dag.inputs.values()]
    if not any(each.shape for each in avals) and all(
        not each.shape for statement in program.statements for each in statement.avals
    ):
        return None  # It needs nothing of this.
    found = Unrolled(program)
    if not found.read(program) or not all(map(found.add, program.statements)):
        return None
    found.give(program.results)
    return found if _is_faster(found, program) else None


def _is_faster(found: Unrolled, program: Program) -> bool:
    ends = [len(each) for each in found.elements.values()]
    ends += [len(elements) for shape, elements in found.results if shape]
    on_floats = (
        found.nanoseconds
        + _LINE * len(found.lines)
        + sum([_ARRAY + _ELEMENT * each for each in ends])
    )
    return on_floats < _STATEMENT * len(program.statements)
