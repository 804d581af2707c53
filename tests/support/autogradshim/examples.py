"""Run autograd's examples over symgraph, too: `python -m autogradshim.examples FOLDER [NAME ...]`.

`--calls N` and `--seconds N` change how many calls are compared, and how long one run may take.

FOLDER is where the examples lie; they are no part of this repository, nor is any line of them
changed: the shim has the names that they import. Each is run twice, in processes of their own. What
the transforms give is taken down, and after a number of calls an example is stopped, for it would
go on for hundreds of steps that are alike. Both runs draw the same random numbers, so the calls are
at the same points. Pictures are not drawn, and images of digits are random ones.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import pickle
import resource
import runpy
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

import numpy as np
from numpy.random import bit_generator

__all__ = ["compared", "main"]

CALLS = 2
"""Calls of transforms that are compared."""
SECONDS = 120
"""Of the processor, for one run of one example."""
TOLERANCE = 1e-6
LOOSE = {"fixed_points": 1e-2}
"""Where autograd iterates to 1e-4 only, and symgraph solves the linear equation."""
HELPERS = {"__init__.py", "data.py", "data_mnist.py"}
RECORDED = ("grad", "value_and_grad", "elementwise_grad", "jacobian", "hessian_vector_product")


class Enough(BaseException):
    """As many calls as are compared have been made."""


# -- one example, in a process of its own ----------------------------------------------------------
def _run(path: Path, ours: bool, out: Path, calls: int, seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    _without_pictures()
    if ours:
        from . import install

        install()
    sys.path.insert(0, str(path.parent))
    sys.path.insert(0, str(path.parent.parent.parent))
    _with_random_digits()
    setattr(bit_generator, "randbits", lambda bits: 1)  # noqa: B010  # seeds where none is given
    import autograd

    records: list[list[Any]] = []
    for name in RECORDED:
        setattr(autograd, name, _recorded(getattr(autograd, name), records, calls))
    np.random.seed(0)
    said = "finished"
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            runpy.run_path(str(path), run_name="__main__")
    except Enough:
        said = f"stopped after {calls} calls"
    except BaseException as error:
        lines = str(error).strip().splitlines() or [""]
        said = f"{type(error).__name__}: {lines[0][:160]}"
    out.write_bytes(pickle.dumps((said, records)))


def _recorded(transform: Callable[..., Any], records: list[list[Any]], calls: int) -> Any:
    depth = 0

    def made(*operands: Any, **params: Any) -> Any:
        function = transform(*operands, **params)

        def call(*at: Any, **named: Any) -> Any:
            nonlocal depth
            depth += 1
            try:
                found = function(*at, **named)
            finally:
                depth -= 1
            numbers = _numbers(found)
            if depth == 0 and numbers is not None:
                records.append(numbers)
                if len(records) >= calls:
                    raise Enough
            return found

        return call

    return made


def _numbers(value: Any) -> list[Any] | None:
    """The numbers in nested containers; None if there are symbols or boxes among them."""
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, (list, tuple)):
        parts = [_numbers(each) for each in value]
        return None if None in parts else [leaf for part in parts if part for leaf in part]
    if not isinstance(value, (float, int, np.ndarray, np.generic)):
        return None
    return [np.asarray(value, float)]


def _without_pictures() -> None:
    names = ["matplotlib", "matplotlib.pyplot", "matplotlib.animation", "matplotlib.image", "pylab"]
    names += ["matplotlib.cm", "matplotlib.colors", "graphviz"]
    for name in names:
        sys.modules[name] = MagicMock()
    plots: Any = sys.modules["matplotlib.pyplot"]
    sys.modules["matplotlib"].pyplot = plots  # pyright: ignore[reportAttributeAccessIssue]
    plots.subplots.return_value = (MagicMock(), MagicMock())
    rng = np.random.default_rng(0)
    plots.imread = lambda path: rng.random((30, 30, 3) if "init" in str(path) else (60, 60))


def _with_random_digits() -> None:
    rng = np.random.default_rng(0)
    images, labels = rng.random((300, 28, 28)), np.eye(10)[rng.integers(10, size=300)]
    digits: Any = ModuleType("data_mnist")
    digits.mnist = lambda: (images, labels.argmax(1), images, labels.argmax(1))
    sys.modules["data_mnist"] = digits
    try:
        data: Any = importlib.import_module("data")
    except ImportError:
        return  # an example in a folder of its own, that needs no data
    flat = images.reshape(300, 784)
    data.load_mnist = lambda: (300, flat, labels, flat, labels)
    data.plot_images = data.save_images = MagicMock()


# -- both, compared --------------------------------------------------------------------------------
def compared(path: Path, calls: int = CALLS, seconds: int = SECONDS) -> tuple[bool, str]:
    """Whether an example runs over symgraph with autograd's gradients, and what came of it."""
    theirs, ours = (_outcome(path, which, calls, seconds) for which in ("theirs", "ours"))
    said, found = ours
    if "stopped" not in said and said != "finished":
        return False, f"{said} (autograd: {theirs[0]})"
    if len(found) != len(theirs[1]):
        return False, f"{len(found)} calls, autograd makes {len(theirs[1])} ({theirs[0]})"
    worst = 0.0
    for a, b in zip(found, theirs[1], strict=True):
        for x, y in zip(a, b, strict=True):
            if x.size != y.size:
                return False, f"shapes {x.shape} and {y.shape}"
            off = np.abs(x.ravel() - y.ravel())
            scale = 1e-300 + max(1e-6, float(np.max(np.abs(y), initial=0)))
            worst = max(worst, float(np.max(off, initial=0)) / scale)
    good = worst < LOOSE.get(path.stem, TOLERANCE)
    return good, f"{said}, {len(found)} calls compared, off by {worst:.1e}"


def _outcome(path: Path, which: str, calls: int, seconds: int) -> tuple[str, list[list[Any]]]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "records"
        command = [sys.executable, "-m", "autogradshim.examples", "--one", str(path), which]
        ended = subprocess.run(
            [*command, str(out), str(calls), str(seconds)],
            cwd=path.parent,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if out.exists():
            return pickle.loads(out.read_bytes())
        if ended.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return f"not done in {seconds} s", []
        return f"the process ended: {(ended.stderr.strip() or 'no error').splitlines()[-1]}", []


def main(argv: Sequence[str]) -> None:
    """Run all examples of a folder, or those named after it."""
    if argv[0] == "--one":
        _run(Path(argv[1]), argv[2] == "ours", Path(argv[3]), int(argv[4]), int(argv[5]))
        return
    asked = argparse.ArgumentParser()
    asked.add_argument("folder", type=Path)
    asked.add_argument("names", nargs="*")
    asked.add_argument("--calls", type=int, default=CALLS)
    asked.add_argument("--seconds", type=int, default=SECONDS, help="of the processor, for one run")
    given = asked.parse_args(argv)
    folder, wanted = given.folder.resolve(), set(given.names)
    paths = [each for each in sorted(folder.rglob("*.py")) if each.name not in HELPERS]
    right = 0
    chosen = [each for each in paths if not wanted or each.stem in wanted]
    for path in chosen:
        good, said = compared(path, given.calls, given.seconds)
        right += good
        print(f"{'as autograd' if good else 'NOT':12}{path.stem:34}{said}", flush=True)
    print(f"{right} of {len(chosen)} examples run, with autograd's gradients")


if __name__ == "__main__":
    main(sys.argv[1:])
