"""The dtypes and devices that a backend declares, and the errors where a graph needs others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from ..errors import BackendError
from ..ir.body import Body
from ..ir.dag import Dag
from ..ir.node import Node
from ..records import record

__all__ = ["DTYPES", "Capabilities", "check_device", "check_dtypes", "dtypes_of"]

DTYPES = frozenset(
    [
        "bool",
        *[f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)],
        *[f"float{bits}" for bits in (16, 32, 64)],
    ]
)
"""The dtypes that graphs have."""


@record
class Capabilities:
    """The dtypes and devices of a backend, as they are on this machine.

    A backend has them as `capabilities`. One without them is taken to have all dtypes.

    Parameters
    ----------
    dtypes : frozenset of str
        NumPy's names of the dtypes in which graphs can compute.
    devices : tuple of str
        The kinds of devices that are here, such as `"cpu"` and `"cuda"`.
    lacking : mapping of str to frozenset of str, optional
        For kinds of devices, the dtypes that they lack of those above.

    Examples
    --------
    >>> from symgraph.backends.base import backend_named
    >>> backend_named("numpy").capabilities.devices
    ('cpu',)
    """

    dtypes: frozenset[str] = DTYPES
    devices: tuple[str, ...] = ("cpu",)
    lacking: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    def dtypes_on(self, device: str | None) -> frozenset[str]:
        """The dtypes on a kind of devices; None stands for any."""
        return self.dtypes - self.lacking.get(device or "", frozenset())


def dtypes_of(dag: Dag) -> Iterator[tuple[Node, np.dtype[Any]]]:
    """The dtypes of all values of a graph and of its bodies, each with its node."""
    waiting = [dag]
    while waiting:
        for node in waiting.pop().nodes:
            for aval in node.results:
                yield node, aval.dtype
            waiting += [each.dag for each in node.params.values() if isinstance(each, Body)]


def check_dtypes(dag: Dag, name: str, has: Capabilities, device: str | None = None) -> None:
    """Refuse a graph that computes in a dtype which the backend `name` lacks.

    Parameters
    ----------
    dag : Dag
    name : str
    has : Capabilities
    device : str, optional
        The kind of devices on which the graph is to run.

    Raises
    ------
    BackendError
        It names the dtype, the operation and your line.
    """
    known = has.dtypes_on(device)
    if known == DTYPES:
        return
    for node, dtype in dtypes_of(dag):
        if dtype.name not in known:
            where = f" on {device}" if device and dtype.name in has.dtypes else ""
            raise BackendError(
                f"Backend {name!r} has no {dtype.name}{where}.",
                [f"{node.op.name} {node.aval}   from {node.origin}"],
                mend="Trace the graph in another dtype, as in sg.spec(shape, 'float32'), or lower "
                "it to another backend.",
            )


def check_device(name: str, has: Capabilities, device: str) -> None:
    """Refuse a device that the backend `name` does not have here.

    Raises
    ------
    BackendError
        It names the devices that are here.
    """
    if device.partition(":")[0] not in has.devices:
        raise BackendError(
            f"Backend {name!r} has no device {device!r} here.",
            [f"here: {', '.join(has.devices)}"],
            mend="Name one of these, or install the package's build for that device.",
        )
