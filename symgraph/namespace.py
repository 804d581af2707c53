"""The array namespace that kernels are written against: NumPy's names, and the few it lacks.

A backend brings a `Namespace` around its own module; special functions, scatter and the like are
the methods it may override. Every kernel of every operation runs on any of them.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["NUMPY", "Namespace"]


class Namespace:
    """Names of `module`, of `special` (SciPy's special functions) and what both lack.

    Parameters
    ----------
    module : str
        Import path of a module with NumPy's names, such as `"jax.numpy"`.
    special : str
        Import path of a module with SciPy's special functions; imported at first use.
    """

    def __init__(self, module: str, special: str) -> None:
        self._module_name = module
        self._special_name = special
        self.module: ModuleType = import_module(module)

    @property
    def special(self) -> ModuleType:
        """erf, gammaln, ... under SciPy's names."""
        return import_module(self._special_name)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.module, name)
        setattr(self, name, value)
        return value

    def scatter_add(self, x: Any, index: tuple[Any, ...], values: Any) -> Any:
        """A copy of `x` with `values` added at `index`; repeated positions add up."""
        result = self.module.array(x)
        self.module.add.at(result, index, values)
        return result

    def scatter_set(self, x: Any, index: tuple[Any, ...], values: Any) -> Any:
        """A copy of `x` with `values` written at `index`."""
        result = self.module.array(x)
        result[index] = values
        return result


NUMPY = Namespace("numpy", "scipy.special")
