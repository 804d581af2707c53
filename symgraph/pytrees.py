"""Nested containers of arrays as a flat list and the structure to put them back into.

Tuples, lists, dicts, named tuples and dataclasses are containers, None is an empty one, anything
else is a leaf. Dicts are flattened in the order of their sorted keys, so that the order of
insertion does not matter, and come back in the order they were written in. Complex numbers and
arrays of them are containers of two real ones (see `symgraph.complexes`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, Literal, TypeAlias, cast

from .records import record

__all__ = ["LEAF", "Tree", "flatten", "leaf_paths", "listed", "register", "tree_map", "unflatten"]

Kind: TypeAlias = Literal[
    "leaf", "none", "tuple", "list", "dict", "namedtuple", "dataclass", "registered"
]


@record
class Tree:
    """The structure of a nested container, compared by value.

    Parameters
    ----------
    kind : str
    children : tuple of Tree
        In the order in which leaves are listed.
    keys : tuple
        What each child is found under: keys of a dict, names of fields.
    cls : type, optional
        Of a named tuple or a dataclass.
    order : tuple
        Keys of a dict as they were inserted; no part of its value.
    """

    kind: Kind
    children: tuple[Tree, ...] = ()
    keys: tuple[Any, ...] = ()
    cls: type[Any] | None = None
    order: tuple[Any, ...] = field(default=(), compare=False)

    @property
    def size(self) -> int:
        """The number of leaves."""
        return 1 if self.kind == "leaf" else sum(child.size for child in self.children)

    @property
    def holds_complex(self) -> bool:
        """Whether one of the leaves is a part of a complex number."""
        return self.cls is complex or any(child.holds_complex for child in self.children)

    def __str__(self) -> str:
        # As deep as what the user wrote.
        parts = [str(child) for child in self.children]
        match self.kind:
            case "leaf":
                return "*"
            case "none":
                return "None"
            case "tuple":
                return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
            case "list":
                return f"[{', '.join(parts)}]"
            case "dict":
                shown = (f"{key!r}: {part}" for key, part in zip(self.keys, parts, strict=True))
                return "{" + ", ".join(shown) + "}"
            case "registered" if self.cls is complex:
                return "complex *"
            case "namedtuple" | "dataclass" | "registered":
                shown = (f"{key}={part}" for key, part in zip(self.keys, parts, strict=True))
                return f"{getattr(self.cls, '__name__', '')}({', '.join(shown)})"


LEAF = Tree("leaf")
_NONE = Tree("none")


_REGISTERED: dict[type[Any], tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {}


def register(
    cls: type[Any],
    to_parts: Callable[[Any], tuple[Sequence[Any], Sequence[Any]]],
    from_parts: Callable[[Sequence[Any], Sequence[Any]], Any],
) -> None:
    """Make a type of one's own a container.

    Parameters
    ----------
    cls : type
    to_parts : callable
        `to_parts(container)` gives keys (hashable) and values of its parts.
    from_parts : callable
        `from_parts(keys, values)` gives a container; values may be symbolic arrays, or None.
    """
    _REGISTERED[cls] = (to_parts, from_parts)


def flatten(value: object, *, by_parts: bool = True) -> tuple[list[Any], Tree]:
    """The leaves in order, and the structure that held them.

    Parameters
    ----------
    value : object
    by_parts : bool
        Whether a complex array is two leaves, its real and its imaginary part.
    """
    leaves: list[Any] = []
    return leaves, _flattened(value, leaves, by_parts)


def _flattened(value: object, leaves: list[Any], by_parts: bool) -> Tree:
    if value is None:
        return _NONE
    if type(value) in _REGISTERED and type(value) is not complex:
        return _of_registered(type(value), value, leaves, by_parts)
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value)
        keys = _sorted(list(items))
        children = tuple([_flattened(items[key], leaves, by_parts) for key in keys])
        return Tree("dict", children, keys, order=tuple(items))
    if isinstance(value, (tuple, list)):
        parts = cast("Sequence[Any]", value)
        children = tuple([_flattened(each, leaves, by_parts) for each in parts])
        names = getattr(type(parts), "_fields", None)
        if names is not None:
            return Tree("namedtuple", children, tuple(names), type(parts))
        return Tree("tuple" if isinstance(parts, tuple) else "list", children)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = tuple([each.name for each in dataclasses.fields(value) if each.init])
        children = tuple([_flattened(getattr(value, name), leaves, by_parts) for name in names])
        return Tree("dataclass", children, names, cast("type[Any]", type(value)))
    if by_parts and _is_complex(value):
        return _of_registered(complex, value, leaves, by_parts)
    leaves.append(value)
    return LEAF


def _of_registered(cls: type[Any], value: object, leaves: list[Any], by_parts: bool) -> Tree:
    found, values = _REGISTERED[cls][0](value)
    children = tuple([_flattened(each, leaves, by_parts) for each in values])
    return Tree("registered", children, tuple(found), cls)


def _is_complex(value: object) -> bool:
    """Whether it is a complex number or an array of such: symbolic, NumPy's, or another's."""
    return isinstance(value, complex) or (
        getattr(getattr(value, "dtype", None), "kind", None) == "c"
        and getattr(value, "real", value) is not value
    )


def _sorted(keys: list[Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(keys))
    except TypeError:
        return tuple(sorted(keys, key=lambda key: (type(key).__name__, repr(key))))


def unflatten(tree: Tree, leaves: Sequence[Any]) -> Any:
    """The leaves in the containers they came from."""
    rest = iter(leaves)
    return _unflattened(tree, lambda: next(rest))


def _unflattened(tree: Tree, take: Callable[[], Any]) -> Any:
    if tree.kind == "leaf":
        return take()
    parts = [_unflattened(child, take) for child in tree.children]
    match tree.kind:
        case "none":
            return None
        case "tuple":
            return tuple(parts)
        case "list":
            return parts
        case "dict":
            found = dict(zip(tree.keys, parts, strict=True))
            return {key: found[key] for key in tree.order or tree.keys}
        case "namedtuple" | "dataclass":
            assert tree.cls is not None
            return tree.cls(**dict(zip(tree.keys, parts, strict=True)))
        case "registered":
            assert tree.cls is not None
            return _REGISTERED[tree.cls][1](tree.keys, parts)


def tree_map(f: Callable[..., Any], first: object, *others: object) -> Any:
    """`f` of corresponding leaves, in the containers of `first`; a complex array is one leaf.

    Raises
    ------
    ValueError
        If the structures differ.
    """
    leaves, tree = flatten(first, by_parts=False)
    columns = [leaves]
    for other in others:
        found, structure = flatten(other, by_parts=False)
        if structure != tree:
            raise ValueError(f"The structures differ: {tree} and {structure}.")
        columns.append(found)
    return unflatten(tree, [f(*row) for row in zip(*columns, strict=True)])


def listed(value: object) -> list[Any]:
    """The entries of a tuple, list or range; any other value alone.

    Examples
    --------
    >>> listed((0, 1)), listed(2)
    ([0, 1], [2])
    """
    return list(value) if isinstance(value, (tuple, list, range)) else [value]


def leaf_paths(tree: Tree, prefix: str = "") -> list[str]:
    """Where each leaf is: `["[0]", ".weights", "['b']"]` and the like, prefixed."""
    if tree.kind == "leaf":
        return [prefix]
    keys = tree.keys if tree.kind not in ("tuple", "list") else tuple(range(len(tree.children)))
    dotted = tree.kind in ("namedtuple", "dataclass", "registered")
    return [
        path
        for key, child in zip(keys, tree.children, strict=True)
        for path in leaf_paths(child, f"{prefix}.{key}" if dotted else f"{prefix}[{key!r}]")
    ]
