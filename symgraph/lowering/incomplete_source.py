"""Source of the derivatives of incomplete functions in their parameters, which stands alone."""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from types import ModuleType

from ..ops import incomplete, incomplete_beta

__all__ = ["OF_INCOMPLETE", "source_of_slope"]

_KERNELS: dict[str, tuple[str, str, tuple[ModuleType, ...]]] = {
    incomplete.gammainc_slope.op.name: ("a, x", "_kernel", (incomplete,)),
    incomplete_beta.betainc_slope_a.op.name: (
        "a, b, x",
        "_kernel_of_a",
        (incomplete, incomplete_beta),
    ),
    incomplete_beta.betainc_slope_b.op.name: (
        "a, b, x",
        "_kernel_of_b",
        (incomplete, incomplete_beta),
    ),
}
OF_INCOMPLETE = tuple(_KERNELS)
"""The operations whose kernels are read from their modules."""

_HEAD = """
from functools import cache
from math import factorial, inf, log, pi
from scipy import special as own

class Names:
    module, special = np, own
    def __getattr__(self, name):
        return getattr(np, name)
    def dtype_of(self, x):
        return x.dtype
    def astype(self, x, dtype):
        return x.astype(dtype)
"""


@cache
def source_of_slope(name: str) -> str:
    """A function of NumPy and the operands, with all that it needs inside."""
    operands, kernel, modules = _KERNELS[name]
    parts = [_HEAD, *[_definitions(inspect.getsource(module)) for module in modules]]
    arrays = ", ".join([f"np.asarray({each})" for each in operands.split(", ")])
    parts.append(f"return {kernel}(Names(), {arrays})\n")
    return f"\ndef {name}(np, {operands}):\n" + textwrap.indent("\n".join(parts), "    ")


def _definitions(source: str) -> str:
    """Kernels and their constants, without annotations and docstrings."""
    kept = [each for each in ast.parse(source).body if _is_of_a_kernel(each)]
    for node in [inner for each in kept for inner in ast.walk(each)]:
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            if ast.get_docstring(node) is not None and len(node.body) > 1:
                del node.body[0]
        elif isinstance(node, ast.arg):
            node.annotation = None
    return "\n".join([ast.unparse(each) for each in kept])


def _is_of_a_kernel(node: ast.stmt) -> bool:
    """Whether it is a function of arrays, the rule that they share, or a constant."""
    if isinstance(node, ast.FunctionDef):
        return node.name == "_rule" or [each.arg for each in node.args.args][:1] == ["xp"]
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).isupper()
