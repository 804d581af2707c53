"""The dask backend: batches that lie in chunks, on many machines if there is a cluster.

The batch is a named dimension: `graph.lower("dask", batch="n")`. Inputs with it are dask arrays,
whose chunks cut it; the rest is sent to each worker once. Each chunk is a task that runs a NumPy
program; what is summed over the batch is summed in a tree of tasks. Tasks keep nothing, so dask
computes again what a lost worker held.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from ..errors import BackendError, InputError
from ..ir.dag import Dag
from ..ir.dims import resolve
from ..ir.interpreter import evaluate
from ..namespace import NUMPY, Namespace
from ..saving.document import dag_of, text_of
from .base import Compiled, OwnArrays, sizes_read
from .capabilities import Capabilities
from .chunked.stages import ChunkedPlan, ChunkProgram, ChunkStage, planned
from .lowered import Lowered, lower

__all__ = ["BACKEND", "DaskBackend"]

# By name, so that types are checked without dask.
dask: Any = import_module("dask")
da: Any = import_module("dask.array")

FAN_IN = 8
"""How many results one task of a sum combines."""


# -- on the workers --------------------------------------------------------------------------------
@lru_cache(maxsize=64)
def _lowered(text: str) -> tuple[Lowered, tuple[str, ...]]:
    """The program that a text is, lowered once in each process, and the sizes that it reads."""
    dag = dag_of(text)
    return lower(dag), sizes_read(dag)


def _run(text: str, names: Sequence[str], values: Sequence[Any], sizes: Mapping[str, int]) -> Any:
    """The results of a program for its inputs, by name."""
    program, read = _lowered(text)
    found = program(**dict(zip(names, values, strict=True)), **{n: sizes[n] for n in read})
    return list(found)


def _rows_of(
    text: str,
    names: Sequence[str],
    values: Sequence[Any],
    sizes: Mapping[str, int],
    batch: str,
    rows: int,
) -> Any:
    return _run(text, names, values, {**sizes, batch: rows})


def _combined(functions: Sequence[str], parts: Sequence[Any]) -> Any:
    """The results of several chunks combined, one after the other."""
    first, *others = parts
    total = list(first)
    for part in others:
        total = [getattr(np, f)(a, b) for f, a, b in zip(functions, total, part, strict=True)]
    return total


def _head(results: Sequence[Any], count: int) -> Any:
    return list(results[:count])


def _item(results: Sequence[Any], place: int) -> Any:
    return results[place]


# -- one call --------------------------------------------------------------------------------------
class _Call:
    """The tasks of one call."""

    def __init__(self, plan: ChunkedPlan, batch: str, given: Mapping[str, Any], sizes: Any) -> None:
        self._plan = plan
        self._batch = batch
        self._blocks, self._lengths = _blocks(plan, given)
        self._sizes = {**sizes, batch: sum(self._lengths)}
        self._values: dict[str, Any] = {
            name: dask.delayed(_whole_array(value), pure=False)
            for name, value in given.items()
            if name not in plan.rows
        }
        for name, (size, dtype) in plan.sizes.items():
            self._values[name] = np.asarray(resolve(size, self._sizes), dtype)
        self._rows: dict[str, list[Any]] = {}
        self._avals = {
            name: aval for stage in plan.stages for name, aval in stage.chunk.avals().items()
        }

    def results(self) -> list[Any]:
        """The result of each output: a NumPy array, or a dask array if it has rows."""
        for stage in self._plan.stages:
            if stage.whole is not None:
                self._whole(stage.whole)
            self._chunks(stage)
        if self._plan.last is not None:
            self._whole(self._plan.last)
        # Together, so that a chunk is computed once for all results.
        names = dict(self._plan.results)
        kept = dask.persist(
            {n: self._values[n] for n, axis in names.items() if axis is None},
            {n: self._rows[n] for n, axis in names.items() if axis is not None},
        )
        (whole,) = dask.compute(kept[0])
        return [
            np.asarray(whole[name]) if axis is None else self._array(name, axis, kept[1][name])
            for name, axis in self._plan.results
        ]

    def _whole(self, program: ChunkProgram) -> None:
        values = [self._values[name] for name in program.given]
        found = dask.delayed(_run, pure=False)(_text(program), program.given, values, self._sizes)
        for place, name in enumerate(program.gives):
            self._values[name] = dask.delayed(_item, pure=False)(found, place)

    def _chunks(self, stage: ChunkStage) -> None:
        program, count = stage.chunk, len(stage.combine)
        text = dask.delayed(_text(program), pure=False)
        run = dask.delayed(_rows_of, pure=False)
        found: list[Any] = []
        for number, rows in enumerate(self._lengths):
            values = [
                self._blocks[name][number] if name in self._blocks else self._values[name]
                for name in program.given
            ]
            found.append(run(text, program.given, values, self._sizes, self._batch, rows))
        if count:
            head = dask.delayed(_head, pure=False)
            parts = [head(each, count) for each in found]
            combine = dask.delayed(_combined, pure=False)
            while len(parts) > 1:
                groups = [parts[n : n + FAN_IN] for n in range(0, len(parts), FAN_IN)]
                parts = [combine(stage.combine, group) for group in groups]
            for place, name in enumerate(program.gives[:count]):
                self._values[name] = dask.delayed(_item, pure=False)(parts[0], place)
        item = dask.delayed(_item, pure=False)
        for place, name in enumerate(program.gives[count:], count):
            self._rows[name] = [item(each, place) for each in found]

    def _array(self, name: str, axis: int, blocks: Sequence[Any]) -> Any:
        """The rows of a result as one dask array."""
        aval = self._avals[name]
        arrays = [
            da.from_delayed(
                block, resolve(aval.shape, {**self._sizes, self._batch: rows}), aval.dtype
            )
            for block, rows in zip(blocks, self._lengths, strict=True)
        ]
        return da.concatenate(arrays, axis=axis % len(aval.shape))


@lru_cache(maxsize=256)
def _text(program: ChunkProgram) -> str:
    return text_of(program.dag)


def _whole_array(value: Any) -> Any:
    """An input without rows, for one task."""
    return value.rechunk(-1).to_delayed().ravel()[0] if isinstance(value, da.Array) else value


def _blocks(plan: ChunkedPlan, given: Mapping[str, Any]) -> tuple[dict[str, list[Any]], list[int]]:
    """The chunks of each input with rows, and the rows of each; chunks without rows left out."""
    arrays: dict[str, Any] = {name: given[name] for name in plan.rows}
    lying = [name for name, value in arrays.items() if isinstance(value, da.Array)]
    first = lying[0] if lying else next(iter(arrays))
    pattern = da.asarray(arrays[first]).chunks[plan.rows[first]]
    blocks: dict[str, list[Any]] = {}
    for name, value in arrays.items():
        axis = plan.rows[name] % value.ndim
        cut = {place: pattern if place == axis else -1 for place in range(value.ndim)}
        blocks[name] = list(da.asarray(value).rechunk(cut).to_delayed().ravel())
    kept = [place for place, rows in enumerate(pattern) if rows] or [0]
    lengths = [int(pattern[place]) for place in kept]
    return {name: [each[place] for place in kept] for name, each in blocks.items()}, lengths


def _check_sizes(value: Any) -> None:
    if any(size != size for size in value.shape):  # NaN: unknown.
        raise InputError(
            "An input has chunks of unknown sizes.", mend="Call compute_chunk_sizes() on it first."
        )


# -- the backend -----------------------------------------------------------------------------------
class _DaskArrays(OwnArrays):
    """Dask's arrays."""

    def holds(self, value: Any) -> bool:
        return isinstance(value, da.Array)

    def dtype_of(self, value: Any) -> np.dtype[Any]:
        _check_sizes(value)
        return np.dtype(value.dtype)

    def cast(self, value: Any, dtype: np.dtype[Any]) -> Any:
        return value.astype(dtype)


class DaskBackend:
    """Runs graphs on chunks of a batch."""

    name = "dask"
    native = (da.Array, np.ndarray)
    capabilities = Capabilities()

    @property
    def namespace(self) -> Namespace:
        return NUMPY

    def compile(self, dag: Dag, *, batch: str = "", trial: bool = True) -> Compiled:
        """The programs of `dag` on chunks.

        Parameters
        ----------
        dag : Dag
        batch : str
            The named dimension that the chunks cut.
        trial : bool
            Whether the programs are tried on random numbers first, against the graph.

        Raises
        ------
        BackendError
            If no dimension is named, or the rows are mixed in a way that chunks cannot be combined
            from; it names the user's line.
        """
        if not batch:
            raise BackendError(
                "Which dimension is the batch?", mend='Name it, as in lower("dask", batch="n").'
            )
        plan = planned(dag, batch)
        if trial:
            _try(dag, plan, batch)
        names = tuple(dag.inputs)
        others = tuple(each for each in dag.dims if each != batch)

        def run(*values: Any) -> Sequence[Any]:
            given = dict(zip(names, values, strict=False))
            for each in given.values():
                _check_sizes(each)
            return _Call(plan, batch, given, _sizes_of(dag, given, others)).results()

        return Compiled(run, _source(plan), own=_DaskArrays())

    def to_numpy(self, value: Any) -> np.ndarray[Any, Any]:
        return np.asarray(value)


def _source(plan: ChunkedPlan) -> str:
    """The programs as text, one after the other."""
    parts: list[str] = []
    for number, stage in enumerate(plan.stages):
        if stage.whole is not None:
            parts.append(f"# before stage {number}\n{lower(stage.whole.dag).source}")
        parts.append(f"# stage {number}, for each chunk\n{lower(stage.chunk.dag).source}")
    if plan.last is not None:
        parts.append(f"# at the end\n{lower(plan.last.dag).source}")
    return "\n".join(parts)


def _sizes_of(dag: Dag, given: Mapping[str, Any], names: Sequence[str]) -> dict[str, int]:
    """The sizes of the other named dimensions, read off the inputs."""
    found: dict[str, int] = {}
    for name, node in dag.inputs.items():
        for dim, size in zip(node.shape, given[name].shape, strict=True):
            if str(dim) in names:
                found[str(dim)] = int(size)
    return found


# -- the trial -------------------------------------------------------------------------------------
def _try(dag: Dag, plan: ChunkedPlan, batch: str) -> None:
    """Refuse a plan that gives other numbers than the graph, on a small batch of three chunks.

    Placements rest on what the records of operations say of axes. A record does not say whether an
    operation reads the number of a row, as that of a triangle does; here it shows.
    """
    rng = np.random.default_rng(0)
    sizes = {name: 3 + place for place, name in enumerate(dag.dims)} | {batch: 7}
    given = {name: _sample(rng, node.aval, sizes) for name, node in dag.inputs.items()}
    with np.errstate(all="ignore"):
        try:
            expected = evaluate(dag, given, sizes)
        except (ArithmeticError, IndexError, ValueError, np.linalg.LinAlgError) as error:
            raise BackendError(
                f"The graph takes no random numbers, so chunks cannot be tried: {error}.",
                mend="Leave the trial out with trial=False.",
            ) from error
        found = _locally(plan, batch, given, sizes)
    for ours, theirs in zip(found, expected, strict=True):
        near = 1e-9 if theirs.dtype == np.float64 else 1e-3
        if not np.allclose(ours, theirs, rtol=near, atol=near, equal_nan=True):
            raise BackendError(
                "In chunks the graph gives other numbers on a trial: an operation reads the places "
                f"of rows along the dimension {batch!r}.",
                mend="Rows may depend on their own numbers and on whole values alone.",
            )


def _sample(rng: Any, aval: Any, sizes: Mapping[str, int]) -> Any:
    shape = resolve(aval.shape, sizes)
    if aval.dtype.kind == "f":
        return rng.uniform(0.5, 1.5, shape).astype(aval.dtype)
    return rng.integers(0, 2, shape).astype(aval.dtype)


def _locally(
    plan: ChunkedPlan, batch: str, given: Mapping[str, Any], sizes: Mapping[str, int]
) -> Any:
    """The results of a plan on chunks of 1, 2 and 4 rows, without dask."""
    with dask.config.set(scheduler="synchronous"):
        chunks = {
            name: da.from_array(
                value,
                chunks=tuple(
                    (1, 2, 4) if n - value.ndim == plan.rows[name] else -1
                    for n in range(value.ndim)
                ),
            )
            if name in plan.rows
            else value
            for name, value in given.items()
        }
        others = {name: size for name, size in sizes.items() if name != batch}
        return [np.asarray(each) for each in _Call(plan, batch, chunks, others).results()]


BACKEND = DaskBackend()
