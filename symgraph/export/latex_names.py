r"""Names, numbers and words in LaTeX formulas."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..ir.node import Node
from ..notation.node_text import escaped

__all__ = ["distinct", "number", "numbers", "symbol", "words"]

_GREEK = frozenset(
    re.findall(
        r"\w+",
        """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau
        upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega""",
    )
)
_CALLED = {"lam": r"\lambda", "lmbda": r"\lambda", "eps": r"\varepsilon"}
"""Greek letters under the names that programs use."""
_SPECIAL = {
    "\\": r"\backslash ",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\hat{}",
    "~": r"\sim ",
}


def words(text: str) -> str:
    r"""Text inside a formula, such as `log\_of\_exp`. Characters of commands are escaped."""
    special = {**_SPECIAL, "\\": r"\textbackslash ", "^": r"\textasciicircum ", "~": r"\sim "}
    return r"\text{" + "".join(special.get(char, char) for char in escaped(text)) + "}"


def symbol(name: str) -> str:
    r"""The symbol of a name: `x1` gives x_{1}, `lambda` a Greek letter, `w_old` a subscript."""
    name = name.rstrip("_") or name
    head, _, rest = name.partition("_")
    if rest and _is_simple(head) and rest.replace("_", "").isalnum():
        return f"{symbol(head)}_{{{_upright(rest)}}}"
    if rest.isdigit() and "_" not in (short := symbol(head)):
        return f"{short}_{{{rest}}}"  # A name used again, as x_2: its subscript is ours.
    letters = name.rstrip("0123456789")
    if letters and letters != name and _is_simple(letters):
        return f"{symbol(letters)}_{{{name[len(letters) :]}}}"
    if name in _GREEK:
        return rf"\{name}"
    if name in _CALLED:
        return _CALLED[name]
    return name if len(name) == 1 and name.isalpha() else _upright(name)


def distinct(inputs: Mapping[str, Node]) -> dict[Node, str]:
    """The symbols of inputs. Where two names have one symbol, both are written out."""
    short = {name: symbol(name) for name in inputs}
    seen = Counter(short.values())
    return {
        node: short[name] if seen[short[name]] == 1 else _upright(name)
        for name, node in inputs.items()
    }


def _is_simple(name: str) -> bool:
    return (len(name) == 1 and name.isalpha()) or name in _GREEK or name in _CALLED


def _upright(name: str) -> str:
    if len(name) == 1 and name.isalnum():
        return name
    return r"\mathrm{" + "".join(_SPECIAL.get(char, char) for char in escaped(name)) + "}"


def _six_digits(array: np.ndarray[Any, Any]) -> str:
    exact = str(array.dtype.type(array.item()))
    return min(exact, f"{array.item():.6g}", key=len)


def number(value: ArrayLike) -> str:
    """The LaTeX of a number in six digits, exact if that is shorter: `0.5`, `10^{-6}`, infinity."""
    array: np.ndarray[Any, Any] = np.asarray(value)
    item = array.item()
    if array.dtype.kind != "f":
        return _upright(str(item).lower()) if isinstance(item, bool) else str(item)
    if not isfinite(item):
        return r"\mathrm{NaN}" if item != item else r"\infty" if item > 0 else r"-\infty"
    text = str(int(item)) if item.is_integer() and abs(item) < 1e6 else _six_digits(array)
    mantissa, e, exponent = text.partition("e")
    if not e:
        return text
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa in ("1", "1.0") else rf"{mantissa} \cdot {power}"


def numbers(value: np.ndarray[Any, Any]) -> str:
    """The LaTeX of a constant array: its elements if they are few, else its size."""
    if value.ndim == 1 and value.size <= 8:
        return rf"\left({', '.join(number(item) for item in value)}\right)"
    if value.ndim == 2 and value.size <= 16:
        rows = r" \\ ".join(" & ".join(number(item) for item in row) for row in value)
        return rf"\begin{{pmatrix}} {rows} \end{{pmatrix}}"
    return words(" × ".join(map(str, value.shape)) + " numbers")
