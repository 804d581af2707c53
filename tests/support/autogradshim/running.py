"""Run autograd's tests over symgraph: `python -m autogradshim.running FOLDER [FILE ...] [-v]`.

FOLDER is where autograd's own test files lie; they are no part of this repository. Each test is run
with a limit of time, and told as passed, failed or left out; of what is left out the reason is
told. Parametrized tests are one for each set of parameters.
"""

from __future__ import annotations

import importlib.util
import itertools
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from symgraph import DTypeError, TraceError

from . import install
from .excluded import ComplexNumber, Internal

__all__ = ["Outcome", "outcomes", "table"]

SECONDS = 60

# Whole files that are not about derivatives of real arrays.
FILES = {
    "test_fft.py": "Fourier transforms, which are of complex numbers",
    "test_complex.py": "complex numbers",
    "test_vspaces.py": "autograd's vector spaces",
    "test_ufunc_dispatch.py": "how autograd's boxes take the place of arrays",
    "test_tests.py": "autograd's own checker",
    "test_performance.py": "no tests",
}
# Tests that are about something else; what is of complex numbers tells by itself.
_DEPRECATED = "names that autograd itself deprecates"
_NO_DERIVATIVE = "no derivative: what autograd's own np.where gives for numbers"
TESTS = {
    "test_unimplemented_falseyness": "the inside of autograd",
    "test_deprecated_defgrad_wrapper": _DEPRECATED,
    "test_deprecated_defvjp_wrapper": _DEPRECATED,
    "test_deprecated_defvjp_is_zero_wrapper": _DEPRECATED,
    "test_deprecated_quick_grad_check_wrapper": _DEPRECATED,
    "test_custom_where_dtypes": _NO_DERIVATIVE,
    "test_custom_where": _NO_DERIVATIVE,
    "test_wrapped_name_and_docs": "texts of autograd's help",
}


class Outcome(NamedTuple):
    """What came of a test: "passed", "failed" or "left out", and why."""

    file: str
    test: str
    what: str
    why: str = ""


class _Late(Exception):
    pass


@contextmanager
def _limit(seconds: int) -> Generator[None]:
    def late(_number: int, _frame: Any) -> None:
        raise _Late(f"not done in {seconds} s")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # of this process alone, however busy the machine
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def outcomes(folder: Path, files: Sequence[str] = (), seconds: int = SECONDS) -> Iterator[Outcome]:
    """What comes of each test of the files in a folder, by default of all."""
    install()
    sys.path.insert(0, str(folder))
    for path in sorted(folder.glob("test_*.py")):
        if files and path.name not in files:
            continue
        if path.name in FILES:
            yield Outcome(path.name, "*", "left out", FILES[path.name])
            continue
        try:
            module = _loaded(path)
        except Exception as error:
            yield Outcome(path.name, "*", "failed", _told(error))
            continue
        for name, test in list(vars(module).items()):
            if name.startswith("test_") and callable(test):
                for label, call in _calls(test):
                    yield Outcome(path.name, name + label, *_tried(call, name, seconds))


def _loaded(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _calls(test: Callable[..., Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    marks = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
    tables = [[_named(mark.args[0], row) for row in mark.args[1]] for mark in marks]
    for number, rows in enumerate(itertools.product(*tables)):
        params = {key: value for row in rows for key, value in row.items()}
        yield f"[{number}]" if params else "", lambda params=params: test(**params)


def _named(names: Any, row: Any) -> dict[str, Any]:
    keys = [each.strip() for each in names.split(",")] if isinstance(names, str) else list(names)
    return dict(zip(keys, row if len(keys) > 1 else [row], strict=True))


def _tried(call: Callable[[], Any], name: str, seconds: int) -> tuple[str, str]:
    if name in TESTS:
        return "left out", TESTS[name]
    np.random.seed(42)
    try:
        with warnings.catch_warnings(), _limit(seconds):
            warnings.simplefilter("ignore")
            call()
    except ComplexNumber:
        return "left out", "complex numbers"
    except Internal:
        return "left out", "the inside of autograd"
    except (DTypeError, TraceError) as error:
        if "complex" in str(error):
            return "left out", "complex numbers"
        return "failed", _told(error)
    except BaseException as error:  # pytest's outcomes are none of `Exception`
        if type(error).__name__ == "Skipped":
            return "left out", "skipped by itself"
        if isinstance(error, KeyboardInterrupt):
            raise
        return "failed", _told(error)
    return "passed", ""


def _told(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:150] if lines else ''}"


def table(found: Sequence[Outcome]) -> str:
    """Counts by file, what is left out by reason, and the share that passed."""
    counts = Counter((each.file, each.what) for each in found)
    lines = [f"{'file':26}{'passed':>8}{'failed':>8}{'left out':>10}"]
    for file in sorted({each.file for each in found}):
        row = [counts[file, what] for what in ("passed", "failed", "left out")]
        lines.append(f"{file:26}{row[0]:>8}{row[1]:>8}{row[2]:>10}")
    total = Counter(each.what for each in found)
    tried = total["passed"] + total["failed"]
    lines.append(
        f"passed {total['passed']} of {tried}: {100 * total['passed'] / max(tried, 1):.1f} %"
    )
    for why, number in Counter(e.why for e in found if e.what == "left out").most_common():
        lines.append(f"  left out {number}: {why}")
    return "\n".join(lines)


def main(argv: Sequence[str]) -> None:
    """Run, and print the table."""
    files = [each for each in argv[1:] if each.endswith(".py")]
    found: list[Outcome] = []
    for each in outcomes(Path(argv[0]), files):
        found.append(each)
        if each.what == "failed" or ("-v" in argv and each.what != "passed"):
            print(f"{each.what:9}{each.file}::{each.test}  {each.why}", flush=True)
    print(table(found))


if __name__ == "__main__":
    main(sys.argv[1:])
