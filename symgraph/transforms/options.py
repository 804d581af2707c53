"""Options of a transform beyond its own arguments: they are the backend's."""

from __future__ import annotations

from collections.abc import Mapping

from ..backends.base import Backend
from ..backends.options import check_options
from ..errors import BackendError, InputError

__all__ = ["check_transform_options"]

_ELSEWHERE = {
    "argnum": "wrt",
    "argnums": "wrt",
    "static_argnames": "static",
    "static_argnums": "static",
    "in_dims": "in_axes",
    "out_dims": "out_axes",
}
"""What autograd, JAX and PyTorch call an argument of ours."""


def check_transform_options(
    transform: str, backend: str | Backend, options: Mapping[str, object]
) -> None:
    """Refuse options that the backend lacks.

    Raises
    ------
    InputError
        If it is another library's name for an argument of the transform.
    BackendError
        If it is no argument at all, or if the backend is unknown or not installed.
    """
    try:
        check_options(backend, [name for name in options if name != "check_facts"])
    except BackendError:
        for name in options:
            ours = _ELSEWHERE.get(name)
            if ours is not None:
                raise InputError(
                    f"{transform} has no argument {name!r}.", mend=f"Its name here is {ours}."
                ) from None
        raise
