"""JSON that is checked while it is read, and places in it, so that errors name the path of a fault.

Anybody may have written the file. Duplicate keys, NaN tokens, numbers too large for a float, and
deep nesting are refused before anything is made of them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, NoReturn, cast

from ..errors import FormatError

__all__ = ["Place", "parsed"]

_DEEPEST = 200
"""The most levels of nesting, the user's own containers included."""
_SHOWN = 60
LARGEST = 2**63 - 1


def parsed(source: str | bytes) -> Place:
    """The place of the whole document.

    Raises
    ------
    FormatError
        If the text is not valid JSON, or breaks one of the rules above.
    """
    try:
        text = source.decode("utf-8") if isinstance(source, bytes) else source
        value = json.loads(
            text,
            object_pairs_hook=_distinct,
            parse_float=_finite,
            parse_constant=_refuse_constant,
        )
    except FormatError:
        raise
    except UnicodeDecodeError as error:
        raise _not_json(f"byte {error.start} is not UTF-8") from None
    except RecursionError:
        raise _not_json("it is nested too deeply") from None
    except ValueError as error:  # A number with too many digits raises it, too.
        raise _not_json(str(error)) from None
    _check_depth(value)
    return Place(value)


def _not_json(why: str) -> FormatError:
    return FormatError(
        f"This is not a saved graph: {why}.",
        mend='Load a file that graph.save("g.json") has written. sg.from_onnx reads ONNX models.',
    )


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _not_json(f"an object has the key {_shown(twice)} twice")
    return found


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _not_json(f"{text[:_SHOWN]} is too large for a float")
    return value


def _refuse_constant(text: str) -> NoReturn:
    raise _not_json(f"{text} is not JSON")


def _check_depth(value: object) -> None:
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                inner.extend(cast("dict[str, Any]", each).values())
            elif isinstance(each, list):
                inner.extend(cast("list[Any]", each))
        if not inner:
            return
        level = inner
    raise _not_json("it is nested too deeply")


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


class Place:
    """A value in the document, and its path.

    Parameters
    ----------
    value : object
        The value that `json` gives.
    outer : Place, optional
        The object or list that holds the value.
    key : str or int
        Its key or number in `outer`.
    """

    __slots__ = ("key", "outer", "value")

    def __init__(self, value: object, outer: Place | None = None, key: str | int = "") -> None:
        self.value = value
        self.outer = outer
        self.key = key

    @property
    def path(self) -> str:
        """The path as text: `nodes[17].params.axis`."""
        parts: list[str] = []
        at: Place = self
        while at.outer is not None:
            parts.append(f"[{at.key}]" if isinstance(at.key, int) else f".{at.key}")
            at = at.outer
        return "".join(reversed(parts)).removeprefix(".") or "the document"

    def refuse(self, what: str, mend: str = "") -> NoReturn:
        """Raise an error that begins with the path.

        Raises
        ------
        FormatError
        """
        raise FormatError(f"{self.path}: {what}.", mend=mend)

    def expected(self, what: str) -> NoReturn:
        """Raise the error that another value was expected here."""
        self.refuse(f"expected {what}, got {_shown(self.value)}")

    # -- the value -------------------------------------------------------------------------------
    def fields(self, needed: Sequence[str], more: Sequence[str] = ()) -> dict[str, Place]:
        """The fields of an object: all of `needed`, perhaps some of `more`, and no others."""
        if not isinstance(self.value, dict):
            self.expected("an object")
        found = {name: Place(each, self, name) for name, each in cast("Any", self.value).items()}
        for name in needed:
            if name not in found:
                self.refuse(f"the field {name!r} is missing")
        for name, place in found.items():
            if name not in needed and name not in more:
                place.refuse("there is no such field")
        return found

    def named(self) -> dict[str, Place]:
        """The fields of an object that may have any fields."""
        if not isinstance(self.value, dict):
            self.expected("an object")
        return {str(n): Place(each, self, str(n)) for n, each in cast("Any", self.value).items()}

    def alone(self) -> tuple[str, Place]:
        """The only field of an object, and its name."""
        if not isinstance(self.value, dict) or len(cast("Any", self.value)) != 1:
            self.expected("an object of one field")
        ((name, each),) = cast("Any", self.value).items()
        return name, Place(each, self, name)

    def items(self, count: int | None = None) -> list[Place]:
        """The items of a list, which must be `count` if that is given."""
        if not isinstance(self.value, list):
            self.expected("a list" if count is None else f"a list of {count}")
        values = cast("list[Any]", self.value)
        if count is not None and len(values) != count:
            self.refuse(f"expected a list of {count}, got one of {len(values)}")
        return [Place(each, self, i) for i, each in enumerate(values)]

    def integer(self, least: int = -LARGEST - 1, most: int = LARGEST) -> int:
        """An integer between bounds."""
        if type(self.value) is not int:
            self.expected("an integer")
        if not least <= self.value <= most:
            self.expected(f"an integer from {least} to {most}")
        return self.value

    def boolean(self) -> bool:
        """True or false."""
        if type(self.value) is not bool:
            self.expected("true or false")
        return self.value

    def text(self) -> str:
        """Text that can be written again: no lone surrogates."""
        if not isinstance(self.value, str):
            self.expected("text")
        try:
            self.value.encode("utf-8")
        except UnicodeEncodeError:
            self.refuse("the text is not valid Unicode")
        return self.value

    def one_of(self, *choices: str) -> str:
        """One of some words."""
        if self.value not in choices or not isinstance(self.value, str):
            self.expected(f"one of {', '.join(map(_shown, choices))}")
        return self.value
