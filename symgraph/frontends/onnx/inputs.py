"""The dtype and shape of an input, as the model declares them and the user adds to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import FormatError, InputError
from ...ir.avals import Aval
from ...ir.dims import Dim, ShapeLike, known_equal, named, parse_shape, show_shape
from .attributes import dtype_of

__all__ = ["declared", "names_of_dims"]


def declared(info: Any, given: ShapeLike | None, sizes: Mapping[str, int]) -> Aval:
    """The dtype and shape of an input.

    Parameters
    ----------
    info : onnx.ValueInfoProto
    given : shape, optional
        In the place of the model's, which it must fit.
    sizes : mapping
        Numbers for named dimensions.
    """
    name = info.name
    kind = info.type.WhichOneof("value")
    if kind != "tensor_type":
        what = (kind or "nothing").removesuffix("_type")
        raise FormatError(
            f"The input {name!r} is of the kind {what}, and graphs take tensors alone."
        )
    tensor = info.type.tensor_type
    dtype = dtype_of(tensor.elem_type)
    if not tensor.HasField("shape"):
        if given is None:
            raise InputError(
                f"The model does not tell the shape of its input {name!r}.",
                mend=f'Give it, as in shapes={{{name!r}: "n, 3"}}.',
            )
        return Aval(dtype, parse_shape(given))
    shape = tuple([_dim(dim, name, axis, sizes) for axis, dim in enumerate(tensor.shape.dim)])
    if given is None:
        return Aval(dtype, shape)
    found = parse_shape(given)
    fits = len(found) == len(shape) and all(
        known_equal(one, other) or not isinstance(other, int)
        for one, other in zip(found, shape, strict=True)
    )
    if not fits:
        raise InputError(
            f"The input {name!r} is given the shape {show_shape(found)}, and the model declares "
            f"{show_shape(shape)}."
        )
    return Aval(dtype, found)


def names_of_dims(info: Any) -> Iterator[str]:
    """The names by which a size of an input may be given: the model's, and those of ours."""
    for axis, dim in enumerate(info.type.tensor_type.shape.dim):
        if not dim.HasField("dim_value"):
            text = dim.dim_param or f"{info.name}_{axis}"
            yield from dict.fromkeys([text, _word(text)])


def _word(text: str) -> str:
    """A name as it can stand in a formula."""
    word = "".join(c if c.isalnum() or c == "_" else "_" for c in text)
    return word if word.isidentifier() else f"_{word}"


def _dim(dim: Any, name: str, axis: int, sizes: Mapping[str, int]) -> Dim:
    """A number, the model's name, or a name made of the input's if the model gives none."""
    if dim.HasField("dim_value"):
        if dim.dim_value < 0:
            raise FormatError(f"The input {name!r} has the size {dim.dim_value} on axis {axis}.")
        return int(dim.dim_value)
    text = dim.dim_param or f"{name}_{axis}"
    if text in sizes:
        return int(sizes[text])
    word = _word(text)
    return int(sizes[word]) if word in sizes else named(word)
