"""What every doctest finds imported, which modules need an extra, and the tiers of the tests."""

from __future__ import annotations

import gc
import sys
from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zlib import crc32

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

# The same examples at every run: what fails once fails again, and what passed did not by luck.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

# Collecting a module's doctests imports it, and these import an extra at their top.
NEEDS = {
    "jax": [
        "symgraph/backends/jax.py",
        "symgraph/backends/jax_host_calls.py",
        "symgraph/backends/jax_namespace.py",
        "symgraph/frontends/jax/entry.py",
    ],
    "torch": [
        "symgraph/backends/torch.py",
        "symgraph/backends/torch_convolution.py",
        "symgraph/backends/torch_namespace.py",
        "symgraph/frontends/torch/entry.py",
    ],
    "cupy": ["symgraph/backends/cupy.py", "symgraph/backends/cupy_namespace.py"],
    "dask": ["symgraph/backends/dask.py"],
    "array_api_compat": ["symgraph/backends/torch.py", "symgraph/backends/torch_namespace.py"],
    "llvmlite": [
        "symgraph/backends/native.py",
        "symgraph/backends/native_convolutions.py",
        "symgraph/native/entry_table.py",
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


def _checksum(name: str) -> int:
    # Of no path, so that moving a file does not change the sample.
    return crc32(name.encode())


def _group(params: Mapping[str, Any], each: str) -> str:
    """What `sampled(each="case.op")` names of the rows that a test has, as text."""
    return str(attrgetter(each)(SimpleNamespace(**params)))


def _outside_sample(tests: Mapping[str, Mapping[str, Any]], mark: pytest.Mark) -> set[str]:
    """Which tests of a sampled family, each with its parameters, are not in its sample.

    One of each group is in it, so that every op has its test in the default run.
    """
    one_in, each = mark.kwargs["one_in"], mark.kwargs.get("each")
    groups: dict[str, list[str]] = defaultdict(list)
    for name, params in tests.items():
        groups[_group(params, each) if each else ""].append(name)
    others = (name for group in groups.values() for name in sorted(group, key=_checksum)[1:])
    return {name for name in others if _checksum(name) % one_in}


def _mark_sample(items: list[pytest.Item]) -> None:
    """Mark as `whole` the tests of a sampled family that are not in its sample."""
    families: dict[Any, dict[str, pytest.Function]] = defaultdict(dict)
    samples: dict[Any, pytest.Mark] = {}
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark and isinstance(item, pytest.Function) and not _is_long(item):
            families[item.parent, item.originalname][item.name] = item
            samples[item.parent, item.originalname] = mark
    for test, family in families.items():
        tests = {name: item.callspec.params for name, item in family.items()}
        for name in _outside_sample(tests, samples[test]):
            family[name].add_marker(pytest.mark.whole)


def _is_long(node: pytest.Item) -> bool:
    return any(map(node.get_closest_marker, LONG))


def _leaves_out_long(config: pytest.Config) -> bool:
    """Whether this is the default run of files and folders.

    A test that is asked for by its name is made, so that pytest can say that it was deselected.
    """
    default = config.option.markexpr in config.getini("addopts")
    return default and not any("::" in each for each in config.args)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Import the package before the doctests of one file make a second module of that file.

    Before workers start, too: in a fresh copy they find it compiled, if Python may write that down.
    """
    has_workers = getattr(session.config.option, "dist", "no") != "no"
    if not (has_workers and sys.dont_write_bytecode):
        with suppress(Exception):  # A test of one module still runs while another is broken.
            import_module("symgraph")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Without the garbage collector: what is made here stays, and it would look at all of it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop() -> Generator[None, object, object]:
    """Hide what was collected from the garbage collector: each full round would walk over it.

    It stays to the end anyway, where pytest looks for garbage many times. Full rounds are rare: a
    test leaves little in cycles.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
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
    """Make no rows for a long test that the default run leaves out: they cost seconds."""
    marks = getattr(obj, "pytestmark", ())
    return [] if _leaves_out_long(collector.config) and _names(marks) & LONG else None


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Generator[None, object, object]:
    """Make no tests of the rows that the default run leaves out: they are three in four."""
    result = yield
    # Of a pytest that keeps the rows elsewhere all tests are made, and deselected afterwards.
    rows: list[Any] = getattr(metafunc, "_calls", [])
    if rows and _leaves_out_long(metafunc.config):
        test = metafunc.definition
        short = [] if _is_long(test) else [row for row in rows if not _names(row.marks) & LONG]
        if mark := test.get_closest_marker("sampled"):
            named = {f"{test.name}[{row.id}]": row for row in short}
            outside = _outside_sample({name: row.params for name, row in named.items()}, mark)
            short = [row for name, row in named.items() if name not in outside]
        # Without a row pytest would make a test without parameters. A long one it deselects.
        metafunc._calls = short or rows[:1]  # pyright: ignore[reportPrivateUsage]
    return result


def _names(marks: Iterable[Any]) -> set[str]:
    return {mark.name for mark in marks}


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[Any], list[Any]]:
    """Read a file of tests for doctests only if it shows an example, as three do."""
    found = yield
    of_tests = file_path.is_relative_to(parent.config.rootpath / "tests")
    if of_tests and b">>> " not in file_path.read_bytes():
        return [each for each in found if not isinstance(each, DoctestModule)]
    return found


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
