"""What every doctest finds imported, which modules need an extra, and the tiers of the tests."""

from __future__ import annotations

import gc
import sys
from collections import defaultdict
from collections.abc import Generator
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from types import SimpleNamespace
from typing import Any
from zlib import crc32

import pytest
from hypothesis import settings

# The same examples at every run: what fails once fails again, and what passed did not by luck.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

# Collecting a module's doctests imports it, and these import an extra at their top.
NEEDS = {
    "jax": [
        "symgraph/backends/jax.py",
        "symgraph/backends/jaxnames.py",
        "symgraph/frontends/jax/entry.py",
    ],
    "torch": [
        "symgraph/backends/torch.py",
        "symgraph/backends/torchconvolution.py",
        "symgraph/frontends/torch/entry.py",
    ],
    "cupy": ["symgraph/backends/cupy.py", "symgraph/backends/cupynames.py"],
    "dask": ["symgraph/backends/dask.py"],
    "array_api_compat": ["symgraph/backends/torch.py"],
    "llvmlite": [
        "symgraph/backends/native.py",
        "symgraph/backends/native_convolutions.py",
        "symgraph/native/machine.py",
    ],
}
collect_ignore = [
    path for extra, paths in NEEDS.items() if find_spec(extra) is None for path in paths
]


@pytest.fixture(autouse=True)
def usual_names(request: pytest.FixtureRequest, doctest_namespace: dict[str, Any]) -> None:
    """`np`, `sg` and `snp`, so that an example starts with what it shows."""
    if isinstance(request.node, pytest.DoctestItem):
        # Here and not above: a test of one module still runs while another is broken.
        import numpy as np

        import symgraph as sg
        import symgraph.numpy as snp

        doctest_namespace.update(np=np, sg=sg, snp=snp)


@pytest.fixture(autouse=True)
def nothing_known() -> None:
    """No test gets what another has found."""
    if (found := sys.modules.get("symgraph.graph.cache")) is not None:
        found.CACHE.clear()


# -- tiers -----------------------------------------------------------------------------------------
# `-m` of the default run, in `pyproject.toml`, leaves out the tests marked with one of these.
LONG = {"fuzz", "oracle", "whole", "gpu"}


def _checksum(item: pytest.Function) -> int:
    # Of no path, so that moving a file does not change the sample.
    return crc32(item.name.encode())


def _group(item: pytest.Function, each: str) -> str:
    """What `sampled(each="case.op")` names of the rows that a test has, as text."""
    return str(attrgetter(each)(SimpleNamespace(**item.callspec.params)))


def _mark_sample(items: list[pytest.Item]) -> None:
    """Mark as `whole` the tests of a sampled family that are not in its sample.

    One of each group is in it, so that every op has its test in the default run.
    """
    families: dict[Any, list[pytest.Function]] = defaultdict(list)
    for item in items:
        if any(map(item.get_closest_marker, LONG)):
            continue
        if (mark := item.get_closest_marker("sampled")) and isinstance(item, pytest.Function):
            one_in, each = mark.kwargs["one_in"], mark.kwargs.get("each")
            name = _group(item, each) if each else None
            families[item.parent, item.originalname, one_in, name].append(item)
    for (_, _, one_in, _), family in families.items():
        _, *others = sorted(family, key=_checksum)
        for item in others:
            if _checksum(item) % one_in:
                item.add_marker(pytest.mark.whole)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Import the package before the doctests of one file make a second module of that file.

    Without the garbage collector: what is made here stays, and it would look at all of it.
    """
    with suppress(Exception):  # A test of one module still runs while another is broken.
        import_module("symgraph")
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop() -> Generator[None, object, object]:
    """Make what was collected old, and all of it unseen when pytest looks for garbage at the end.

    It does so many times, and each time would walk over all tests.
    """
    gc.collect()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Before `-m` is asked."""
    _mark_sample(items)
    if config.option.unless_passed:
        _leave_out_passed(config, items)


def pytest_pycollect_makeitem(collector: pytest.Collector, obj: Any) -> list[Any] | None:
    """Make no rows for a long test that the default run leaves out: they cost seconds.

    One that is asked for by its name is made, so that pytest can say that it was deselected.
    """
    config = collector.config
    default = config.option.markexpr in config.getini("addopts")
    if not default or any("::" in each for each in config.args):
        return None
    marks = getattr(obj, "pytestmark", ())
    return [] if any(mark.name in LONG for mark in marks) else None


# -- runs one after the other ----------------------------------------------------------------------
# The build runs the sample first and then every other test, each test once.
PASSED = "symgraph/passed"
_passed: set[str] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option by which a run leaves out what the run before it has passed."""
    parser.addoption(
        "--unless-passed",
        action="store_true",
        help="leave out the tests that passed in the last run in this folder",
    )


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that passed; one that was skipped has its chance in the next run."""
    if report.when == "call" and report.passed:
        _passed.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep what passed, in the process that has all reports."""
    if not hasattr(session.config, "workerinput") and (
        cache := getattr(session.config, "cache", None)
    ):
        cache.set(PASSED, sorted(_passed))


def _leave_out_passed(config: pytest.Config, items: list[pytest.Item]) -> None:
    cache = getattr(config, "cache", None)
    assert cache is not None, "--unless-passed needs the cache plugin of pytest."
    before = frozenset(cache.get(PASSED, []))
    config.hook.pytest_deselected(items=[each for each in items if each.nodeid in before])
    items[:] = [each for each in items if each.nodeid not in before]
