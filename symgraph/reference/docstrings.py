"""Docstrings with all sections, for functions of `symgraph.numpy` and `symgraph.scipy`.

The summary is the record's, and the sections that a function has by hand stay. The others are
written from the signature, the record of the operation and the function's entry in the reference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from inspect import Parameter, Signature, cleandoc, signature, unwrap
from typing import Any, TypeVar

import numpy as np

from ..array import NUMPY_FUNCTIONS
from ..array.eager import leaves_complex_to_numpy
from ..errors import DTypeError
from ..ir.avals import Aval
from ..ir.op import Op
from .entries import Entry, elementwise_entry, entry

__all__ = [
    "are_put_off",
    "completed",
    "docstrings_put_off",
    "documented",
    "operand_signature",
    "sections",
]

F = TypeVar("F", bound=Callable[..., Any])

_put_off: ContextVar[bool] = ContextVar("put off", default=False)


@contextmanager
def docstrings_put_off() -> Generator[None]:
    """Functions met inside are documented when they are next asked for.

    The rules name ninety functions; to document these took a sixth of the time to load the rules.
    """
    token = _put_off.set(True)
    try:
        yield
    finally:
        _put_off.reset(token)


def are_put_off() -> bool:
    """Whether docstrings are to be written later."""
    return _put_off.get()


_ORDER = ("Parameters", "Returns", "Raises", "Notes", "Examples")
_HEADING = re.compile(r"(?m)^([A-Z][A-Za-z ]+)\n-{3,}\n")
_PARAMETER = re.compile(r"(?m)^(?=\S)")
_NONE = Entry((), {}, "", "", "")


def documented(function: F, name: str) -> F:
    """The function itself, with a docstring of all sections and with the names of its operands."""
    spelled = operand_signature(unwrap(function))
    if spelled is not None:
        function.__signature__ = spelled  # pyright: ignore[reportFunctionMemberAccess]
    function.__doc__ = completed(function, name)
    return function


def completed(function: Callable[..., Any], name: str) -> str:
    """The docstring of a public function, with the sections that it lacks.

    Parameters
    ----------
    function : callable
        A function of symbolic arrays.
    name : str
        Its public name, such as "sum", "linalg.norm" or "scipy.linalg.solve".

    Returns
    -------
    str
        Its own docstring if the reference has no entry for it and its record tells nothing.
    """
    told = sections(cleandoc(function.__doc__ or ""))
    op: Op | None = getattr(function, "op", None)
    known = entry(name) or entry(name.rpartition(".")[2]) or entry(function.__name__)
    if known is None:
        known = elementwise_entry() if op is not None and op.examples else _NONE
    examples = known.examples or ("" if op is None else op.examples)
    given = _signature(function)
    refused = given.return_annotation == "NoReturn"
    parameters = _parameters(given, known, told.pop("Parameters", ""), refused)
    made = {
        "Parameters": parameters,
        "Returns": "" if refused else known.returns or _returns(function, name, given),
        "Raises": _raises(function, given, parameters, known, refused),
        "Examples": _refusal(name, told[""]) if refused else examples,
    }
    for heading, text in made.items():
        if text:
            told.setdefault(heading, text)
    parts = [told.pop("")]
    for heading in sorted(told, key=lambda each: _ORDER.index(each) if each in _ORDER else 3):
        parts.append(f"{heading}\n{'-' * len(heading)}\n{told[heading]}")
    return "\n\n".join(parts) + "\n"


def sections(text: str) -> dict[str, str]:
    """The text under each heading of a docstring; the summary is under the empty heading."""
    parts = _HEADING.split(text)
    told = {"": parts[0].strip()}
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        told[heading] = body.strip("\n")
    return told


# -- parameters ------------------------------------------------------------------------------------
def operand_signature(function: Callable[..., Any]) -> Signature | None:
    """The signature of a function of a fixed number of operands, by their names in the record.

    None for a function that spells out its parameters itself.
    """
    code = function.__code__
    spelled = code.co_argcount + code.co_kwonlyargcount
    if spelled > 1 or code.co_varnames[spelled : spelled + 1] not in (
        ("operands",),
        ("arguments",),
    ):
        return None
    names = _operands(function)
    kinds = [Parameter(each, Parameter.POSITIONAL_ONLY, annotation="ArrayLike") for each in names]
    return Signature(kinds, return_annotation="Array") if kinds else None


def _operands(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's operands, by its entry or by the kernel of its operation."""
    known = entry(function.__name__)
    if known is not None and known.operands:
        return known.operands
    op: Op | None = getattr(function, "op", None)
    if op is None or not isinstance(op.vjp, tuple):
        return ()
    code = op.kernel.__code__
    named = code.co_varnames[1 : code.co_argcount]
    if len(named) == len(op.vjp):
        return named
    return ("x",) if len(op.vjp) == 1 else ()


def _signature(function: Callable[..., Any]) -> Signature:
    spelled = operand_signature(unwrap(function)) or signature(function)
    rest = [each for name, each in spelled.parameters.items() if name != "self"]
    return spelled.replace(parameters=rest)


def _parameters(given: Signature, known: Entry, told: str, refused: bool) -> str:
    """The section: what the docstring tells by hand, else what the reference tells."""
    parts: list[str] = []
    by_hand = _by_hand(told)
    for name, parameter in given.parameters.items():
        stars = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        if refused:
            parts.append(f"{stars}{name}\n    The arguments of NumPy's function; none is read.")
        elif name in by_hand:
            parts.append(by_hand[name])
        else:
            kind, description = known.parameters.get(name, ("object", ""))
            parts.append(f"{stars}{name} : {kind}{_default(parameter)}\n{description}")
    return "\n".join(dict.fromkeys(parts))


def _by_hand(told: str) -> dict[str, str]:
    """The text on each parameter of a section; several that share a line share the text."""
    return {
        name.strip(" *"): part.rstrip()
        for part in _PARAMETER.split(told)
        for name in part.partition("\n")[0].partition(" : ")[0].split(",")
        if part
    }


def _default(parameter: Parameter) -> str:
    """The default of a parameter, as numpydoc shows it."""
    value = parameter.default
    if value is Parameter.empty:
        return ""
    if isinstance(value, (bool, int, float, str)):
        return f", default {value!r}"
    return ", optional"


# -- result ----------------------------------------------------------------------------------------
def _returns(function: Callable[..., Any], name: str, given: Signature) -> str:
    """The result by the rule of the operation, or as NumPy's function of the same name has it."""
    operands = [each for each in given.parameters.values() if each.default is Parameter.empty]
    shape = "The shape of the operands, broadcast." if len(operands) > 1 else "The operand's shape."
    op: Op | None = getattr(function, "op", None)
    if op is not None and op.traits.elementwise and (dtype := _dtype(op, len(operands))):
        return f"Array, {dtype}\n    {shape}"
    twin = _numpy_function(name)
    if twin is not None:
        kind = _kind(given.return_annotation)
        return f"{kind}\n    With the shape and the dtype that NumPy's function gives."
    return f"Array\n    {shape}"


def _kind(annotation: Any) -> str:
    text = str(annotation)
    if text.startswith("list"):
        return "list of Array"
    return "tuple of Array" if text.startswith("tuple") else "Array"


def _dtype(op: Op, count: int) -> str:
    """The dtype of an elementwise result in words."""
    floating, whole = _result(op, "float32", count), _result(op, "int64", count)
    if "bool" in (floating, whole):
        return "boolean"
    if floating is None:
        return "of integers or truth values"
    if whole is not None and whole.startswith("float"):
        return "of floats, which integers become"
    return "of the dtype that NumPy promotes the operands to"


def _result(op: Op, dtype: str, count: int) -> str | None:
    """The dtype of the result for operands of one dtype; None if that is refused."""
    try:
        kind = np.dtype(dtype) if op.promote is None else op.promote(np.dtype(dtype))
        made = op.infer(*[Aval(kind, ())] * count)
    except DTypeError:
        return None
    return None if isinstance(made, tuple) else made.dtype.name


def _numpy_function(name: str) -> Any:
    """NumPy's function of a public name, if it takes symbolic arrays."""
    home, _, last = name.rpartition(".")
    found = getattr(getattr(np, home, None) if home else np, last, None)
    return found if found in NUMPY_FUNCTIONS else None


# -- errors ----------------------------------------------------------------------------------------
_NOT_REAL = "is complex, or holds no numbers"


def _raises(
    function: Callable[..., Any], given: Signature, parameters: str, known: Entry, refused: bool
) -> str:
    if refused:
        return "TraceError\n    Always; its text says what to write instead."
    op: Op | None = getattr(function, "op", None)
    lines: list[str] = []
    if op is not None and op.traits.elementwise and len(given.parameters) > 1:
        lines += ["ShapeError", "    If the operands cannot be broadcast."]
    if "axis" in given.parameters:
        lines += ["ShapeError", "    If `axis` is out of range."]
    if op is not None and op.traits.elementwise:
        lines += ["DTypeError", "    If the function is not defined for an operand's dtype."]
    elif re.search(r"(?m) : array_like(?!.*(default|optional))", parameters):
        refusal = "holds no numbers" if leaves_complex_to_numpy(function) else _NOT_REAL
        lines += ["DTypeError", f"    If an operand {refusal}."]
    if "out" in given.parameters:
        lines += ["TraceError", "    If `out` is given."]
    return "\n".join([*lines, *([known.raises] if known.raises else [])])


def _refusal(name: str, summary: str) -> str:
    """An example of a function that is always refused."""
    why = summary.removeprefix("Refused: ").partition(". ")[0]
    shown = f"{name}: {why}."
    return (
        f">>> snp.{name}(sg.input('x', (3,)))  # doctest: +ELLIPSIS\n"
        "Traceback (most recent call last):\n    ...\n"
        f"symgraph.errors.TraceError: {shown}..."
    )
