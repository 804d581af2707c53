"""Programs of torch's functions, compiled by `torch.compile`.

A program is traced once for each size of its inputs into torch's own operations, on tensors without
numbers. So a branch that asks for a number, or a function that NumPy would compute, is an error and
is not frozen into the program with the numbers of the first call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from ..errors import BackendError

__all__ = ["Compilations"]

_MOST = 64
"""For how many sizes a compiled program is kept; those first compiled go first."""


class Compilations:
    """A program, compiled anew for each size, dtype and device of its inputs.

    Parameters
    ----------
    program : callable
        Takes a list of tensors and the sizes of named dimensions, and gives a list of tensors.
    backend : str
        The backend of `torch.compile`.
    """

    def __init__(
        self, program: Callable[[Sequence[Any], Mapping[str, int]], list[Any]], backend: str
    ) -> None:
        self._program = program
        self._backend = backend
        self._found: dict[Any, Callable[..., Any]] = {}

    def __call__(self, given: Sequence[Any], sizes: Mapping[str, int]) -> list[Any]:
        key = (
            tuple([(each.shape, each.dtype, each.device) for each in given]),
            tuple(sizes.items()),
        )
        found = self._found.get(key)
        if found is None:
            while len(self._found) >= _MOST:
                del self._found[next(iter(self._found))]
            found = self._found[key] = self._compiled(given, dict(sizes))
        return list(found(*given))

    def _compiled(self, given: Sequence[Any], sizes: Mapping[str, int]) -> Callable[..., Any]:
        torch: Any = import_module("torch")
        make_fx: Any = import_module("torch.fx.experimental.proxy_tensor").make_fx

        def program(*tensors: Any) -> list[Any]:
            return self._program(tensors, sizes)

        try:
            with torch.no_grad():
                traced = make_fx(program, tracing_mode="fake")(*[each.detach() for each in given])
        except BackendError as error:
            error.add_note(
                "torch.compile takes no operation that reads numbers while it is traced; "
                'lower("torch") runs it.'
            )
            raise
        return torch.compile(traced, backend=self._backend, dynamic=False)
