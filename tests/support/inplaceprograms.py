"""Random programs that write in place: views, aliases, augmented assignment, `out=`, helpers.

A program is drawn line by line and each line is run with NumPy at once: one that NumPy refuses is
not kept, so what is left has a meaning. It begins with the arguments `x` (a vector) and `m` (a
matrix), and returns all of its variables.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["arguments", "compiled", "program"]

Names = dict[str, Any]


def bump(z: Any) -> None:
    z += 0.5


def shift(z: Any) -> Any:
    z[1:] = z[:-1]
    return z


def halved(z: Any, by: float = 2.0) -> Any:
    z /= by
    return z


def reset(z: Any) -> Any:
    z = z * 1.25
    z -= 1.0
    return z


HELPERS = {"bump": bump, "shift": shift, "halved": halved, "reset": reset}


def arguments(seed: int, order: str = "C") -> Names:
    rng = np.random.default_rng(seed)
    m = np.asarray(rng.normal(size=(3, 4)), order=order)  # type: ignore[call-overload]
    return {"x": rng.normal(size=6), "m": m}


def compiled(lines: list[str], lib: Any) -> Callable[..., Any]:
    """The function of `x` and `m`; `lib` makes what is given no array, as `lib.zeros(3)`."""
    names = {"np": np, "lib": lib, **HELPERS}
    body = "\n".join(f"    {line}" for line in lines)
    exec(f"def f(x, m):\n{body}\n", names)
    return names["f"]


def program(seed: int, length: int = 9) -> list[str]:
    """The lines of a function."""
    drawn = _Drawn(seed)
    # Mostly copies: a write into an argument is refused, and the rest is not looked at.
    drawn.add("a = x.copy()" if drawn.chance(0.85) else "a = x")
    drawn.add(drawn.pick(["b = m.copy()", "b = m * 1.5", "b = m.copy()", "b = m - 1.0"]))
    drawn.add("c = a")
    while len(drawn.lines) < length:
        drawn.add(drawn.line())
    arrays = [name for name in drawn.shapes() if name not in ("x", "m")]
    return [*drawn.lines, f"return [{', '.join(arrays)}]"]


class _Drawn:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed + 10_000)
        self.lines: list[str] = []

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def pick(self, options: Any) -> Any:
        options = list(options)
        return options[int(self.rng.integers(len(options)))]

    def run(self, lines: list[str]) -> Names | None:
        found: Names = {}
        names = {"np": np, "lib": np, "x": arguments(0)["x"], "m": arguments(0)["m"], **HELPERS}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                exec("\n".join(lines), names, found)
        except Exception:
            return None
        values = [each for each in found.values() if not isinstance(each, list)]
        finite = all(np.all(np.isfinite(each)) and np.all(np.abs(each) < 1e6) for each in values)
        return found if finite else None

    def shapes(self) -> Names:
        found = self.run(self.lines)
        assert found is not None
        return {name: np.shape(v) for name, v in found.items() if not isinstance(v, list)}

    def add(self, text: str) -> None:
        if self.run([*self.lines, text]) is not None:
            self.lines.append(text)

    # -- what is drawn -----------------------------------------------------------------------------
    def line(self) -> str:
        shapes = self.shapes()
        name = self.pick(shapes)
        shape = shapes[name]
        if not shape:
            return self.of_number(name)
        kinds = [self.view, self.write, self.write, self.copy, self.call, self.several]
        return self.pick(kinds)(name, shape, shapes)

    def fresh(self) -> str:
        return self.pick("abcdefg")

    def of_number(self, name: str) -> str:
        return self.pick([f"{name} += 0.5", f"{self.fresh()} = {name}", f"{name} *= 1.5"])

    def index(self, shape: Any, *, basic: bool = False) -> str:
        n = shape[0]
        options = ["1:", ":-1", "::2", "::-1", "...", ":", "0", "-1", "2:0:-1", "..., 0", "None"]
        if len(shape) > 1:
            options += [":, 1", "1:, ::2", "0, 1", "-1, ...", ":, ::-1", ":, None, 1"]
        if not basic:
            options += ["[0, 1]", "[0, 0, 1]", "np.array([1, 0])", "[0, -1]", f"np.arange({n}) % 2"]
            options += [f"np.arange({n}) > 0", "[[0, 1], [1, 1]]"]
            if len(shape) > 1:
                options += ["[0, 1], [1, 0]", ":, [0, 0]", "[0, 0], 1:"]
        return str(self.pick(options))

    def view(self, name: str, shape: Any, shapes: Names) -> str:
        size = int(np.prod(shape))
        made = [f"{name}[{self.index(shape, basic=True)}]"] * 4
        made += [f"{name}.T", f"{name}.reshape(-1)", f"np.ravel({name})", f"{name}.ravel()"]
        made += [f"np.reshape({name}, ({size // 2}, 2))", f"{name}.reshape(2, -1)"]
        made += [f"np.flip({name})", f"np.split({name}, {shape[0]})[0]", f"np.atleast_2d({name})"]
        made += [f"np.expand_dims({name}, 0)", f"np.squeeze({name})", f"lib.asarray({name})"]
        made += [f"np.swapaxes({name}, 0, -1)", f"np.broadcast_to({name}, (2, *{shape}))"]
        made += [f"np.diagonal({name})", f"np.einsum('ij->ji', {name})", f"{name}.real"]
        made += [f"np.moveaxis({name}, 0, -1)", f"{name}.T.reshape(-1)", f"{name}[1:].ravel()"]
        made += [f"np.ravel({name}, order='F')", f"np.rot90({name})", f"{name}.T[1:].T", name]
        made += [f"np.array_split({name}, 2)[1]", f"list({name})[0]", f"{name}[1:][::2]"]
        return f"{self.fresh()} = {self.pick(made)}"

    def copy(self, name: str, shape: Any, shapes: Names) -> str:
        made = [
            f"{name}.copy()",
            f"+{name}",
            f"{name}.flatten()",
            f"{name} * 2.0",
            f"{name}[[0, 1]]",
        ]
        made += [f"{name}.astype(float)", f"np.where({name} > 0, {name}, 1.0)", f"np.copy({name})"]
        made += [f"lib.zeros({shape})", f"np.zeros_like({name})", f"np.sum({name})", f"{name}[0]"]
        made += [f"np.concatenate([{name}, {name}])", f"np.clip({name}, -1, None)"]
        made += [f"lib.ones(({shape[0]}, 2))", f"np.sum({name}, axis=0)", f"np.tile({name}, 1)"]
        made += [f"np.roll({name}, 0)", f"np.round({name}, 2) * 1.0", f"{name}.T * 1.0"]
        return f"{self.fresh()} = {self.pick(made)}"

    def value(self, shapes: Names) -> str:
        other = self.pick(shapes)
        values = ["1.5", "-0.5", other, f"{other} * 0.5", f"{other} + 1.0", f"np.sum({other})"]
        if shapes[other]:
            values += [f"{other}[{self.index(shapes[other])}]", f"{other}[::-1]", f"{other}.T"]
        return str(self.pick(values))

    def write(self, name: str, shape: Any, shapes: Names) -> str:
        sign = self.pick(["+=", "-=", "*=", "+=", "/="])
        value = "1.5" if sign == "/=" else self.value(shapes)
        target = f"{name}[{self.index(shape)}]"
        if self.chance(0.15):
            target += f"[{self.pick(['1:', '::2', '0', '...', '::-1'])}]"
        options = [f"{name} {sign} {value}"] * 2 + [f"{target} {sign} {value}"] * 3
        options += [f"{target} = {self.value(shapes)}"] * 3
        options += [f"{name}[{name} > 0] = 0.25", f"{name}.T[0] {sign} {value}"]
        return str(self.pick(options))

    def call(self, name: str, shape: Any, shapes: Names) -> str:
        other, into = self.pick(shapes), self.pick(shapes)
        index = self.index(shape)
        calls = [f"bump({name})", f"{self.fresh()} = shift({name})", f"halved({name})"]
        calls += [f"bump({name}[1:])", f"{self.fresh()} = reset({name})", f"bump({name}[{index}])"]
        calls += [f"np.add({name}, {other}, out={into})", f"np.negative({name}, out={name})"]
        calls += [
            f"np.multiply({name}, 1.5, out={name}[...])",
            f"np.clip({name}, -1, 1, out={into})",
        ]
        calls += [f"np.add.at({name}, {_tuple(index)}, {self.value(shapes)})"] * 2
        calls += [f"np.subtract.at({name}, [0, 0, 1], 0.5)", f"np.negative.at({name}, [0, 1])"]
        calls += [f"{name}.sort()", f"{name}.fill({self.pick(['0.5', f'np.sum({name})'])})"]
        calls += [
            f"np.copyto({name}, {self.value(shapes)})",
            f"np.put({name}, [0, -1], [0.5, 1.5])",
        ]
        calls += [f"np.putmask({name}, {name} > 0, {other})", f"np.fill_diagonal({name}, 0.5)"]
        calls += [f"np.copyto({name}, {self.value(shapes)}, where={name} > 0)", f"del {name}"]
        calls += [f"np.multiply({name}, 2, out={into}, where={name} > 0)", f"{name}.sort(axis=0)"]
        calls += [f"np.sum({name}, axis=0, out={into})", f"np.place({name}, {name} > 0, [0.5])"]
        calls += [f"np.nan_to_num({name}, copy=False)", f"np.cumsum({name}, out={into})"]
        calls += [f"{self.fresh()} = np.add({name}, 1.0, out={into})"]
        return str(self.pick(calls))

    def several(self, name: str, shape: Any, shapes: Names) -> str:
        sign = self.pick(["+=", "*="])
        lines = [
            f"for r in {name}: r {sign} 1.5",
            f"rows = [{name}[i] for i in range({shape[0]})]; rows[0] {sign} rows[1]",
            f"rows = [{name}, {name}[1:]]; rows[1][0] = 0.5; rows[0] {sign} 2.0",
            f"for i in range(1, {shape[0]}): {name}[i] {sign} {name}[i - 1]",
            f"{name}[0], {name}[1] = {name}[1], {name}[0]",
            f"s = {name}[0]; t = s; t {sign} 1.5",
            f"u, v = np.split({name}, 2); u {sign} v",
        ]
        return str(self.pick(lines))


def _tuple(index: str) -> str:
    return f"np.s_[{index}]"
