"""The subscripts of einsum: read both of NumPy's forms, write our normal form."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters, ascii_lowercase, ascii_uppercase
from typing import Any

from ..errors import ShapeError
from ..ir.dims import Dim, Shape, known_equal

__all__ = ["check_diagonals", "parsed", "spelled", "written"]


def parsed(subscripts: str, ndims: Sequence[int]) -> tuple[list[list[Any]], list[Any]]:
    """Labels of each operand and of the result; axes of the ellipsis are (-k,) tuples."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ndims):
        raise ShapeError(f"subscripts {subscripts!r} name {len(terms)} operands of {len(ndims)}.")
    operands = [_labels(term, ndim, subscripts) for term, ndim in zip(terms, ndims, strict=True)]
    present = {label for labels in operands for label in labels}
    dots = sorted([label for label in present if isinstance(label, tuple)])
    if not arrow:
        flat = [label for labels in operands for label in labels if isinstance(label, str)]
        return operands, [*dots, *sorted([label for label in set(flat) if flat.count(label) == 1])]
    result = _labels(right, len(right.replace("...", "")) + len(dots), subscripts)
    if len(set(result)) != len(result) or not set(result) <= present:
        raise ShapeError(f"subscripts {subscripts!r}: the result repeats or invents an index.")
    if dots and "..." not in right:
        raise ShapeError(f"subscripts {subscripts!r}: the ellipsis is missing in the result.")
    return operands, result


def _labels(term: str, ndim: int, subscripts: str) -> list[Any]:
    before, dots, after = term.partition("...")
    letters = before + after
    wrong = [each for each in letters if each not in ascii_letters]
    if (
        wrong
        or "..." in after
        or (dots and ndim < len(letters))
        or (not dots and ndim != len(letters))
    ):
        raise ShapeError(
            f"subscripts {subscripts!r}: {term!r} does not name the {ndim} axes of its operand."
        )
    spread = ndim - len(letters)
    return [*before, *[(-k,) for k in range(spread, 0, -1)], *after]


def written(operands: Sequence[Sequence[Any]], result: Sequence[Any]) -> str:
    """Subscripts in plain letters, in order of appearance."""
    letters = iter(ascii_letters)
    names: dict[Any, str] = {}
    for labels in operands:
        for label in labels:
            if label not in names:
                try:
                    names[label] = next(letters)
                except StopIteration:
                    raise ShapeError("an einsum has 52 indices at most.") from None
    spelled = [",".join("".join(names[label] for label in labels) for labels in operands)]
    return f"{spelled[0]}->{''.join(names[label] for label in result)}"


_NUMBERED = ascii_uppercase + ascii_lowercase


def spelled(*given: Any) -> tuple[str, tuple[Any, ...]]:
    """NumPy's other form, `einsum(x, [0, 1], y, [1, 2], [0, 2])`, as text and operands."""
    operands, lists = given[: len(given) // 2 * 2 : 2], list(given[1::2])
    if len(given) % 2:
        lists.append(given[-1])
    try:
        terms = [
            "".join("..." if each is Ellipsis else _NUMBERED[each] for each in labels)
            for labels in lists
        ]
    except (TypeError, IndexError):
        raise ShapeError(
            "einsum: subscripts are text, or lists of numbers below 52 behind each operand."
        ) from None
    inputs = ",".join(terms[: len(operands)])
    return (f"{inputs}->{terms[-1]}" if len(given) % 2 else inputs), operands


def check_diagonals(subscripts: str, row: Sequence[Any], shape: Shape) -> None:
    """Check repeated indices of an operand: they take a diagonal, whose lengths must agree."""
    if len(set(row)) == len(row):
        return
    sizes: dict[Any, Dim] = {}
    for label, dim in zip(row, shape, strict=True):
        if not known_equal(sizes.setdefault(label, dim), dim):
            raise ShapeError(
                f"{subscripts!r}: index {label!r} is {sizes[label]} long and {dim} long."
            )
