"""NumPy under CuPy's names, so that the backend's own steps run where there is no device.

It shows what the backend does with arrays: which it takes, moves, checks, frees and gives back. It
shows nothing of CuPy's numbers: those are tested on a device (`pytest -m gpu`).
"""

from __future__ import annotations

from contextlib import nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from scipy import special

__all__ = ["OnDevice", "modules", "on_device"]

OWN_SPECIAL = (
    "erf",
    "erfc",
    "gammaln",
    "digamma",
    "expit",
    "log_expit",
    "psi",
    "polygamma",
    "zeta",
)
"""Some of the special functions that CuPy has; it lacks others."""


class Device(nullcontext[Any]):
    """A device with a number; the first one is the current one."""

    def __init__(self, number: int | None = None) -> None:
        super().__init__(self)
        self.id = number or 0


class OnDevice(np.ndarray[Any, Any]):
    """An array that says which device it is on."""

    number = 0

    def __array_finalize__(self, source: Any) -> None:
        self.number = getattr(source, "number", 0)

    @property
    def device(self) -> Device:
        return Device(self.number)

    @property
    def data(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        owner: Any = self
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        return SimpleNamespace(mem=SimpleNamespace(ptr=owner.__array_interface__["data"][0]))


def on_device(x: Any, dtype: Any = None, number: int = 0) -> OnDevice:
    """An array on a device: those of the host are copied, those of a device are kept."""
    kept = isinstance(x, OnDevice) and dtype in (None, x.dtype)
    found = x if kept else np.array(x, dtype=dtype).view(OnDevice)
    found.number = number or found.number
    return found


def modules(available: bool = True) -> dict[str, ModuleType]:
    """What `import cupy` and its kin shall give."""
    cupy: Any = ModuleType("cupy")
    cupy.__getattr__ = lambda name: getattr(np, name)
    cupy.ndarray, cupy.asarray = OnDevice, on_device
    cupy.asnumpy = lambda x: np.array(x).view(np.ndarray)
    cupy.is_available = lambda: available
    cupy.cuda = SimpleNamespace(Device=Device)
    # CuPy has no `initial` and no `stable`.
    cupy.max = lambda x, axis=None, keepdims=False: np.max(x, axis=axis, keepdims=keepdims)
    cupy.argsort = lambda x, axis=-1, kind=None: np.argsort(x, axis=axis, kind=kind)
    cupyx: Any = ModuleType("cupyx")
    cupyx.errstate = lambda **_: nullcontext()
    functions: Any = ModuleType("cupyx.scipy.special")
    for name in OWN_SPECIAL:
        setattr(functions, name, getattr(special, name))
    linear: Any = ModuleType("cupyx.scipy.linalg")
    from scipy import linalg

    linear.expm, linear.solve_triangular = linalg.expm, linalg.solve_triangular
    cupyx.scipy = ModuleType("cupyx.scipy")
    cupyx.scipy.special, cupyx.scipy.linalg = functions, linear
    return {each.__name__: each for each in (cupy, cupyx, cupyx.scipy, functions, linear)}
