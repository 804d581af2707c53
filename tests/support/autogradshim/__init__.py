"""HIPS/autograd's names over symgraph, to run programs and tests that were written for autograd.

`install()` puts modules of these names where `import autograd` finds them. What autograd has and
symgraph has not, for it belongs to the machinery inside of autograd, raises `Internal` when it is
called; complex numbers raise `ComplexNumber`. So a runner can tell why a test is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from . import checks, containers, derivatives, extending, misc, numpynames, scipynames
from .excluded import ComplexNumber, Internal, internal

__all__ = ["ComplexNumber", "Internal", "install", "modules"]


class _Names(ModuleType):
    """A module that has some names; of others it gives what raises `Internal` when called."""

    def __init__(self, name: str, members: Mapping[str, Any]) -> None:
        super().__init__(name)
        self.__path__ = []
        self.__dict__.update(members)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return internal(f"{self.__name__}.{name}")


def _public(module: ModuleType) -> dict[str, Any]:
    return {name: getattr(module, name) for name in module.__all__}


def modules() -> dict[str, ModuleType]:
    """The modules by the names under which they are imported."""
    transforms = _public(derivatives)
    members: dict[str, Mapping[str, Any]] = {
        "autograd": transforms | _public(containers),
        "autograd.builtins": _public(containers),
        "autograd.core": {
            "primitive": extending.primitive,
            "make_vjp": derivatives.vjp_and_value,
            "make_jvp": derivatives.jvp_of_tangent,
        },
        "autograd.differential_operators": transforms,
        "autograd.extend": _public(extending),
        "autograd.tracer": {
            "primitive": extending.primitive,
            "isbox": numpynames.is_symbol,
            "getval": lambda x: x,
        },
        "autograd.wrap_util": {"unary_to_nary": derivatives.unary_to_nary},
        "autograd.util": {},
        "autograd.test_util": _public(checks),
        "autograd.misc": {"flatten": misc.flatten, "fixed_point": misc.fixed_point},
        "autograd.misc.flatten": {"flatten": misc.flatten, "flatten_func": misc.flatten_func},
        "autograd.misc.optimizers": {
            name: getattr(misc, name) for name in ("sgd", "rmsprop", "adam")
        },
        "autograd.misc.fixed_points": {"fixed_point": misc.fixed_point},
    }
    found: dict[str, ModuleType] = {name: _Names(name, each) for name, each in members.items()}
    found |= numpynames.modules() | scipynames.modules()
    for name, module in found.items():
        parent, _, last = name.rpartition(".")
        if parent in found and last not in members.get(parent, {}):
            setattr(found[parent], last, module)
    return found


def install() -> None:
    """Let `import autograd` and all below it find these modules from now on."""
    for name in [each for each in sys.modules if each.split(".")[0] == "autograd"]:
        del sys.modules[name]
    sys.modules.update(modules())
