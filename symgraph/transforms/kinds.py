"""The kinds of transforms: a gradient, a value and its gradient, a Hessian, and so on."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from ..autodiff.flat import StageOf
from ..errors import InputError
from ..pytrees import Tree
from ..records import record
from .arguments import Signature

__all__ = ["TransformKind", "check_complex", "checked", "with_keyword"]


@record
class TransformKind:
    """The kind of a transform.

    Parameters
    ----------
    name : str
    stages : tuple of callable
        Run one after the other; none if there is nothing to differentiate.
    grouping : str
        How results are nested: as `"targets"`, as `"outputs"`, in `"blocks"` (as targets within
        outputs), as a `"hessian"` (as targets within targets); or what `"traced"` gave, as it is.
    value : bool
        Whether the value is given, too.
    directions, directed : str
        The keyword that holds tangents, cotangents or vectors, and whether they belong to
        `"targets"` or `"outputs"`.
    otherwise : str
        The keyword where the function has a parameter of the first name; empty if none.
    """

    name: str
    stages: tuple[StageOf, ...]
    grouping: Literal["targets", "outputs", "blocks", "hessian", "traced"]
    value: bool = False
    directions: str = ""
    directed: Literal["targets", "outputs"] = "targets"
    otherwise: str = ""

    def of(self, parameters: Signature) -> TransformKind:
        """The kind for a function with these parameters, whose names its own keyword avoids."""
        taken = self.directions in parameters.parameters
        return replace(self, directions=self.otherwise) if taken and self.otherwise else self


def checked(parameters: Signature, kind: TransformKind) -> Signature:
    """The parameters of a function, if the transform can be of it."""
    if kind.stages and not parameters.wrt:
        raise InputError("Nothing to differentiate with respect to: name a parameter.")
    if kind.directions and kind.directions in parameters.parameters:
        raise InputError(
            f"{parameters.name} has a parameter {kind.directions!r}, the name by which "
            f"{kind.name} is given its direction.",
            mend="Rename the parameter, or wrap the function in one that has another.",
        )
    return parameters


def check_complex(kind: TransformKind, targets: Sequence[Tree], outputs: Tree) -> None:
    """Check that the derivative of complex numbers by complex ones is a complex number.

    Raises
    ------
    InputError
        Of a Hessian by complex arguments, or a Jacobian of complex results by such: it has a block
        for each part by each part, and is no complex number unless the function is holomorphic.
    """
    if not any(each.holds_complex for each in targets):
        return
    if kind.grouping == "hessian":
        raise InputError(
            "A Hessian by complex arguments has a block for each part by each part.",
            mend="Take the parts as two arguments: sg.hessian(lambda re, im: f(re + 1j * im), "
            "wrt=(0, 1))(z.real, z.imag); or ask for sg.hvp(f)(z, v=v).",
        )
    if kind.grouping == "blocks" and outputs.holds_complex:
        raise InputError(
            "A Jacobian of complex results by complex arguments has a block for each part by each "
            "part.",
            mend="Take the parts as two arguments: sg.jacobian(lambda re, im: f(re + 1j * im), "
            "wrt=(0, 1))(z.real, z.imag). sg.jvp(f)(z, tangent=v) has f'(z) v of a holomorphic f.",
        )


def with_keyword(signature: inspect.Signature, keyword: str) -> inspect.Signature:
    """The signature of a transformed function: with the keyword of its direction, if it has one."""
    if not keyword:
        return signature
    added = inspect.Parameter(keyword, inspect.Parameter.KEYWORD_ONLY)
    kinds = list(signature.parameters.values())
    last = [each for each in kinds if each.kind is each.VAR_KEYWORD]
    return signature.replace(
        parameters=[*[each for each in kinds if each not in last], added, *last]
    )
