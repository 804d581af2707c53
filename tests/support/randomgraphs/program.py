"""A random function as text: inputs, one line of NumPy source a step, the last step a scalar."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

__all__ = ["Input", "Line", "Program"]


@dataclass(frozen=True)
class Input:
    """An input and the numbers it is tried at."""

    name: str
    value: np.ndarray[Any, Any]
    assume: str = ""
    """The facts to state of it, as source text such as `sg.positive`."""

    @property
    def is_float(self) -> bool:
        return self.value.dtype.kind == "f"


@dataclass(frozen=True)
class Line:
    """One step: source text with `{0}`, `{1}` where earlier values go."""

    text: str
    args: tuple[int, ...]
    """Positions: inputs first, then lines in order."""


@dataclass(frozen=True)
class Program:
    """A scalar function of arrays, as data."""

    seed: int
    inputs: tuple[Input, ...]
    lines: tuple[Line, ...]

    @cached_property
    def source(self) -> str:
        """`def function(np, sp, x, ...)`: `np` has NumPy's names, `sp` those NumPy lacks."""
        names = [each.name for each in self.inputs]
        body: list[str] = []
        for line in self.lines:
            name = f"v{len(names) - len(self.inputs)}"
            body.append(f"    {name} = {line.text.format(*[names[i] for i in line.args])}")
            names.append(name)
        head = f"def function(np, sp, {', '.join(each.name for each in self.inputs)}):"
        return "\n".join([head, *body, f"    return {names[-1]}"]) + "\n"

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The source, compiled."""
        made: dict[str, Any] = {}
        exec(compile(self.source, f"<random program {self.seed}>", "exec"), made)
        return made["function"]

    @property
    def values(self) -> dict[str, np.ndarray[Any, Any]]:
        """The numbers it is tried at."""
        return {each.name: each.value for each in self.inputs}

    @property
    def targets(self) -> tuple[str, ...]:
        """Inputs there is a gradient with respect to."""
        return tuple(each.name for each in self.inputs if each.is_float)

    def astype(self, dtype: str) -> Program:
        """The same function at floating inputs of another dtype; "mixed" alternates both."""
        floats = ("float64", "float32") if dtype == "mixed" else (dtype, dtype)
        return replace(
            self,
            inputs=tuple(
                replace(each, value=each.value.astype(floats[i % 2])) if each.is_float else each
                for i, each in enumerate(self.inputs)
            ),
        )

    def trimmed(self) -> Program:
        """Without lines the result does not depend on, and without inputs nothing uses."""
        first = len(self.inputs)
        used = {first + len(self.lines) - 1}
        for position in range(first + len(self.lines) - 1, first - 1, -1):
            if position in used:
                used.update(self.lines[position - first].args)
        kept = sorted(used)
        new = {old: i for i, old in enumerate(kept)}
        return Program(
            self.seed,
            tuple(self.inputs[i] for i in kept if i < first),
            tuple(
                Line(self.lines[i - first].text, tuple(new[a] for a in self.lines[i - first].args))
                for i in kept
                if i >= first
            ),
        )

    def script(self, problem: str = "") -> str:
        """A file that shows the program, its inputs and the gradients, ready to run."""
        arrays: Mapping[str, Any] = self.values
        given = "\n".join(
            f"{name} = np.array({value.tolist()!r}, dtype={str(value.dtype)!r})"
            for name, value in arrays.items()
        )
        specs = ", ".join(
            f"{each.name}=sg.spec({each.value.shape}, {str(each.value.dtype)!r}"
            + (f", assume={each.assume})" if each.assume else ")")
            for each in self.inputs
        )
        call = ", ".join(f"{name}={name}" for name in arrays)
        passed = ", ".join(arrays)
        return f'''"""Random program {self.seed}: {problem or "a mismatch"}."""
import numpy as np
import symgraph as sg
import symgraph.numpy as snp

{given}

{self.source}
graph = sg.trace(lambda {passed}: function(np, snp, {passed}), {specs})
joint = graph.gradient(*{self.targets!r})
print(joint.evaluate({call}))
print(joint.simplify().evaluate({call}))
print(joint.simplify())
'''
