"""What every doctest finds imported, and which modules a plain installation cannot import."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import settings

# The same examples at every run: what fails once fails again, and what passed did not by luck.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

# Collecting a module's doctests imports it, and these import an extra at their top.
NEEDS = {
    "jax": ["symgraph/backends/jax.py", "symgraph/interop/jax.py"],
}
collect_ignore = [
    path for extra, paths in NEEDS.items() if find_spec(extra) is None for path in paths
]


def pytest_collection() -> None:
    """Import the package before the doctests of one file make a second module of that file."""
    # A test of one module still runs while another is broken.
    with suppress(Exception):
        import_module("symgraph")


@pytest.fixture(autouse=True)
def usual_names(request: pytest.FixtureRequest, doctest_namespace: dict[str, Any]) -> None:
    """`np`, `sg` and `snp`, so that an example starts with what it shows."""
    if isinstance(request.node, pytest.DoctestItem):
        # Here and not above: a test of one module still runs while another is broken.
        import numpy as np

        import symgraph as sg
        import symgraph.numpy as snp

        doctest_namespace.update(np=np, sg=sg, snp=snp)
