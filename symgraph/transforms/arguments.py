"""Arguments of a call, taken apart: which leaves are arrays, which are known while tracing.

Arrays and floats are traced. What cannot be an array (None, text, functions, ...) and Python's ints
and bools, which count and choose, are static: a function is traced anew for each value of them.
"""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias, cast

import numpy as np

from ..array.handle import Array
from ..backends.base import OwnArrays
from ..errors import InputError, did_you_mean
from ..pytrees import LEAF, Tree, flatten, leaf_paths, unflatten
from ..records import record

__all__ = ["Arguments", "Names", "Place", "Signature", "check_foreign", "is_array", "shown_place"]

Place: TypeAlias = "int | str"
"""Which argument: its name, or the position of one that has none."""
Names: TypeAlias = "Place | Sequence[Place]"
"""One argument or several, as `wrt` and `static` name them."""


def is_array(value: object) -> bool:
    """Whether a leaf is an array: symbolic, NumPy's, another library's, or a float."""
    return isinstance(value, (Array, np.ndarray, np.generic, float)) or (
        hasattr(value, "__array__") and hasattr(value, "dtype") and hasattr(value, "shape")
    )


@record
class Arguments:
    """A call's arguments as leaves.

    Parameters
    ----------
    entries : tuple of (Place, Tree)
        Each argument and its structure.
    leaves : list
    paths : tuple of str
        Where each leaf is, as text.
    arrays : tuple of int
        Positions of the leaves that are arrays; the rest are static.
    targets : tuple of (int, ...)
        For each argument to differentiate with respect to, the positions of its leaves.
    trees : tuple of Tree
        The structures of these arguments.
    by_position : set of Place
        Arguments that are not passed by name.
    counts : tuple of int
        Positions of ints that are traced as numbers of any value; they are among the arrays.
    """

    entries: tuple[tuple[Place, Tree], ...]
    leaves: list[Any]
    paths: tuple[str, ...]
    arrays: tuple[int, ...]
    targets: tuple[tuple[int, ...], ...]
    trees: tuple[Tree, ...]
    by_position: frozenset[Place]
    counts: tuple[int, ...] = ()

    def numbers(self) -> list[int]:
        """Positions of static leaves that are numbers."""
        arrays = set(self.arrays)
        return [
            i
            for i, leaf in enumerate(self.leaves)
            if i not in arrays
            and isinstance(leaf, (int, float, np.number))
            and not isinstance(leaf, bool)
        ]

    def counted(self, positions: Sequence[int]) -> Arguments:
        """The same with the ints at these positions traced as numbers of any value."""
        leaves = list(self.leaves)
        for i in positions:
            leaves[i] = np.asarray(leaves[i], np.int64)
        arrays = tuple(sorted({*self.arrays, *positions}))
        return replace(self, leaves=leaves, arrays=arrays, counts=tuple(positions))

    def call(self, f: Callable[..., Any], leaves: Sequence[Any]) -> Any:
        """`f` called with these leaves instead."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        start = 0
        for place, tree in self.entries:
            value = unflatten(tree, leaves[start : start + tree.size])
            start += tree.size
            if place in self.by_position:
                args.append(value)
            else:
                kwargs[str(place)] = value
        return f(*args, **kwargs)

    def moving(self) -> list[int]:
        """Positions of the array leaves to differentiate with respect to, target by target."""
        arrays = set(self.arrays)
        return [i for target in self.targets for i in target if i in arrays]

    def shown(self, i: int) -> str:
        """Leaf `i` as a row of an error message."""
        return f"{self.paths[i]} = {reprlib.repr(self.leaves[i])}"

    def fixed(self) -> list[tuple[str, Any]]:
        """The leaves that are no arrays, each with where it is."""
        arrays = set(self.arrays)
        return [(self.paths[i], leaf) for i, leaf in enumerate(self.leaves) if i not in arrays]

    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shapes of the arrays."""
        return tuple([np.shape(self.leaves[i]) for i in self.arrays])

    def key(self, without: Sequence[int] = ()) -> Hashable:
        """The key of a trace: structure, static values, shapes and dtypes.

        Parameters
        ----------
        without : sequence of int
            Positions of static leaves for which only the type counts.

        Raises
        ------
        InputError
            If a static value is not hashable.
        """
        arrays = set(self.arrays)
        described: list[Hashable] = []
        for i, leaf in enumerate(self.leaves):
            if i in arrays:
                described.append((np.shape(leaf), dtype_of(leaf).str))
                continue
            if i in without:
                described.append(type(leaf))
                continue
            try:
                hash(leaf)
            except (TypeError, ValueError):  # the latter of a memory view
                raise InputError(
                    f"Argument {self.paths[i]} is no array, and {type(leaf).__name__} "
                    "cannot be hashed, so no trace can be kept for it.",
                    mend=f"Pass its array: np.asarray({self.paths[i]})."
                    if hasattr(leaf, "__array__")
                    else "Let the function read it, as a global or in a closure: A @ x is traced."
                    if hasattr(leaf, "tocsr")
                    else "Pass arrays, numbers, something hashable, or a container of them: a "
                    "dict, a dataclass, or a type that symgraph.pytrees.register has made one.",
                ) from None
            described.append((type(leaf), leaf))
        return (self.entries, tuple(described), self.counts)


def shown_place(place: Place) -> str:
    """An argument as text: its name, or `args[2]`."""
    return place if isinstance(place, str) else f"args[{place}]"


def check_foreign(leaf: Any, path: str, own: OwnArrays | None) -> None:
    """Check that an array is one of the backend's own, or has a dtype that NumPy knows.

    Parameters
    ----------
    leaf : array
    path : str
        Where it is, as text.
    own : OwnArrays, optional
        The arrays that the backend takes as they are.

    Raises
    ------
    InputError
        Of a tensor of PyTorch's for another backend: converted in silence, it would leave its
        graph. Of a dtype that graphs do not have.
    """
    if isinstance(leaf, (Array, np.ndarray, np.generic, float, int)):
        return
    if own is not None and own.holds(leaf):
        own.dtype_of(leaf)
        return
    try:
        np.dtype(leaf.dtype)
    except TypeError:
        kind = type(leaf)
        raise InputError(
            f"Argument {path} is a {kind.__module__.partition('.')[0]}.{kind.__name__}, and its "
            f"dtype {leaf.dtype} is none of NumPy's.",
            mend="Convert it first: np.asarray(t), for a tensor of PyTorch's t.detach().numpy(); "
            'backend="torch" takes tensors and gives tensors.',
        ) from None


def dtype_of(leaf: object) -> np.dtype[Any]:
    """The dtype of an array leaf, as NumPy's; a tensor's has the same name in its own library."""
    found = getattr(leaf, "dtype", None)
    return np.asarray(leaf).dtype if found is None else _numpy_dtype(found)


@cache
def _numpy_dtype(dtype: object) -> np.dtype[Any]:
    try:
        return np.dtype(cast("Any", dtype))
    except TypeError:
        return np.dtype(str(dtype).rpartition(".")[2])  # torch.float32


def _is_number(wrt: object) -> bool:
    """Whether it is one value, where names of parameters are asked for."""
    return not hasattr(wrt, "__iter__") or getattr(wrt, "ndim", 1) == 0


class Signature:
    """The parameters of a function, and which of them are meant by `wrt` and `static`.

    Parameters
    ----------
    f : callable
    wrt : str, int, or a sequence of them; None
        Names or positions; None is the first argument, an empty sequence is none.
    static : sequence of str or int
        Arguments that are static, of any type.
    """

    def __init__(self, f: Callable[..., Any], wrt: object, static: Names) -> None:
        self.name = str(getattr(f, "__name__", "the function"))
        try:
            self.signature: inspect.Signature | None = inspect.signature(f)
        except (TypeError, ValueError):  # some builtins have none
            self.signature = None
        self.single = wrt is None or isinstance(wrt, (str, int)) or _is_number(wrt)
        chosen = [0 if wrt is None else wrt] if self.single else list(cast("Any", wrt))
        self.wrt = [self._place(each) for each in chosen]
        fixed: list[Any] = [static] if isinstance(static, (str, int)) else list(static)
        self.static = {self._place(each) for each in fixed}
        both = [place for place in self.wrt if place in self.static]
        if both:
            raise InputError(f"{both[0]!r} is static: nothing can be differentiated by it.")

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """By name, in order; empty where the function tells none."""
        return {} if self.signature is None else self.signature.parameters

    def _place(self, given: object) -> Place:
        """Where an argument is once a call is bound: by position if it can be."""
        if isinstance(given, bool) or not isinstance(given, (str, int)):
            raise InputError(
                f"{given!r} names no parameter.",
                mend="Give its name or position; values come in the second call: sg.grad(f)(x).",
            )
        kinds = list(self.parameters.values())
        if isinstance(given, int):
            ordered = [each.name for each in kinds if each.kind in _POSITIONAL]
            more = self.signature is None or any(e.kind is e.VAR_POSITIONAL for e in kinds)
            if not kinds and not more:
                raise InputError(
                    f"{self.name} takes no arguments: there is nothing to differentiate by.",
                    mend="Make an argument of what the derivative is by; all else may be read "
                    "from an object or a global.",
                )
            if given < 0 or (given >= len(ordered) and not more):
                raise InputError(
                    f"{self.name}{self.signature} has no parameter {given}.",
                    mend="Parameters are counted from 0; values come in the second call: "
                    "sg.grad(f)(x).",
                )
            return ordered[given] if given < len(ordered) else given
        for position, parameter in enumerate(kinds):
            if parameter.name == given and parameter.kind is parameter.VAR_POSITIONAL:
                raise InputError(
                    f"*{given} holds any number of arguments.",
                    mend=f"Give the positions of those that are meant, from {position} on.",
                )
            if parameter.name == given and parameter.kind is not parameter.VAR_KEYWORD:
                return given
        if any(each.kind is each.VAR_KEYWORD for each in kinds):
            return given
        raise InputError(
            f"{self.name} has no parameter {given!r}.",
            mend=f"Its parameters are {', '.join(self.parameters)}."
            if self.parameters
            else "It does not tell its parameters; give a position.",
        )

    def bound(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], own: OwnArrays | None = None
    ) -> Arguments:
        """The arguments of a call taken apart; a default counts if it is differentiated by.

        Parameters
        ----------
        args, kwargs
            Of the call.
        own : OwnArrays, optional
            The arrays that the backend takes as they are.

        Raises
        ------
        InputError
            If the call does not fit the parameters, or a target is not given.
        """
        given: dict[Place, Any] = {**dict(enumerate(args)), **kwargs}
        positional: set[Place] = set(range(len(args)))
        if self.signature is not None:
            try:
                call = self.signature.bind(*args, **kwargs)
            except TypeError as error:
                raise self._misfit(len(args), kwargs, str(error)) from None
            given, positional = self._named(call)
        absent = [place for place in self.wrt if place not in given]
        if absent:
            raise InputError(f"{self.name}: the argument {absent[0]!r} is not given.")
        return self._taken_apart(given, frozenset(positional), own)

    def _misfit(self, count: int, named: Mapping[str, Any], error: str) -> InputError:
        """The error of a call that does not fit the parameters: both, and what was misspelt."""
        by_place = f"{count} value{'s' * (count != 1)} by position"
        given = [by_place] * bool(count or not named) + [f"{name}=..." for name in named]
        unknown = [name for name in named if name not in self.parameters]
        known = [name for name in self.parameters if name not in named]
        meant = [did_you_mean(name, known) for name in unknown]
        fits = "Give a value for each parameter that has no default, and no more."
        return InputError(
            f"{self.name}({', '.join(self.parameters)}) cannot be called with "
            f"{', '.join(given)}: {error}.",
            mend=" ".join(filter(None, meant)) or fits,
        )

    def _named(self, call: inspect.BoundArguments) -> tuple[dict[Place, Any], set[Place]]:
        """Arguments by name, the ones in *args by position, and which are passed by position."""
        given: dict[Place, Any] = {}
        positional: set[Place] = set()
        more = any(
            each.kind is each.VAR_POSITIONAL and call.arguments.get(each.name)
            for each in self.parameters.values()
        )
        for position, (name, parameter) in enumerate(self.parameters.items()):
            asked = name in self.wrt and parameter.default is not parameter.empty
            if name not in call.arguments and not asked:
                continue
            value = call.arguments.get(name, parameter.default)
            if parameter.kind is parameter.VAR_POSITIONAL:
                for extra, each in enumerate(value, position):
                    given[extra] = each
                    positional.add(extra)
            elif parameter.kind is parameter.VAR_KEYWORD:
                given.update(value)
            else:
                given[name] = value
                first = parameter.kind is parameter.POSITIONAL_ONLY
                if first or (more and parameter.kind in _POSITIONAL):
                    positional.add(name)
        return given, positional

    def _taken_apart(
        self, given: Mapping[Place, Any], positional: frozenset[Place], own: OwnArrays | None
    ) -> Arguments:
        entries: list[tuple[Place, Tree]] = []
        leaves: list[Any] = []
        paths: list[str] = []
        arrays: list[int] = []
        ranges: dict[Place, range] = {}
        for place, value in given.items():
            parts, tree = ([value], LEAF) if place in self.static else flatten(value)
            start = len(leaves)
            label = shown_place(place)
            ranges[place] = range(start, start + len(parts))
            for i, leaf in enumerate(parts, start):
                counted = isinstance(leaf, int) and not isinstance(leaf, bool)
                if place not in self.static and (is_array(leaf) or (counted and place in self.wrt)):
                    arrays.append(i)
            entries.append((place, tree))
            leaves.extend(parts)
            paths.extend(leaf_paths(tree, label))
        for i in arrays:
            check_foreign(leaves[i], paths[i], own)
        for i, number in _numbers(leaves, arrays).items():
            leaves[i] = number
        trees = dict(entries)
        return Arguments(
            tuple(entries),
            leaves,
            tuple(paths),
            tuple(arrays),
            tuple(tuple(ranges[place]) for place in self.wrt),
            tuple(trees[place] for place in self.wrt),
            positional,
        )


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _numbers(leaves: Sequence[Any], arrays: Sequence[int]) -> dict[int, np.ndarray[Any, Any]]:
    """Python's numbers as arrays, of the floating dtype the arrays beside them have in common.

    As NumPy 2 promotes them: `x * 2.0` keeps the dtype of a float32 x.
    """
    plain = [i for i in arrays if type(leaves[i]) in (float, int)]
    if not plain:
        return {}
    typed = [dtype_of(leaves[i]) for i in arrays if i not in plain]
    floating = [dtype for dtype in typed if dtype.kind == "f"]
    dtype = np.result_type(*floating) if floating else np.dtype("float64")
    return {i: np.asarray(leaves[i], dtype) for i in plain}
