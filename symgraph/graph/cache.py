"""Results of `simplify` are kept: a graph built alike gets the same result at once.

It is kept in memory for the process and, on request, in a folder for other processes.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, TypeAlias

from ..errors import InputError, SymgraphError
from ..ir.node import Node
from ..passes.simplify import Effort
from ..records import record
from ..rewriting import default_rules
from ..rewriting.index import RuleSet
from ..rewriting.log import Log
from ..rewriting.rule import Soundness
from .documents import document, fingerprint, read
from .isomorphic import Blueprint, Found, as_it_was, blueprint, carried_over, found
from .stage import Stage, lineage

__all__ = ["CACHE", "Missing", "SimplifyCache", "SimplifyCacheInfo"]

How: TypeAlias = tuple[Soundness, RuleSet, Effort]

_MOST_BYTES = 1 << 20
"""The most bytes of constants in a graph whose result is kept."""

_MOST_FILES = 1_000


class SimplifyCacheInfo(NamedTuple):
    """How often a result was known, and how much is kept.

    Parameters
    ----------
    hits, misses : int
        Calls of `simplify` whose result was known, and others.
    graphs, nodes : int
        The results kept in memory, and their nodes with those of their histories.
    """

    hits: int
    misses: int
    graphs: int
    nodes: int


@record
class Missing:
    """Where to keep a result that was not known: by this blueprint, and in this file."""

    of: Blueprint
    path: Path | None


class SimplifyCache:
    """The cache of results of `simplify`; there is one, `sg.cache`.

    A graph is looked up by all that simplification sees: operations, operands, parameters, dtypes,
    shapes, facts, and names of values. The result is told in the user's lines of now.

    Parameters
    ----------
    limit : int
        The most nodes kept in memory, histories included; about a kilobyte each. The results used
        longest ago go first. With 0 nothing is kept. It may be set at any time.

    Examples
    --------
    >>> sg.cache.clear()
    >>> for _ in range(2):  # a cell that is run again traces the function again
    ...     graph = sg.trace(lambda x: np.sum(np.log(1 + np.exp(x))), x="n").gradient("x")
    ...     small = graph.simplify()
    >>> sg.cache.info().hits, sg.cache.info().graphs
    (1, 1)
    """

    def __init__(self, limit: int = 50_000) -> None:
        self.limit = limit
        self._folder: Path | None = None
        self._found: OrderedDict[tuple[object, ...], Found] = OrderedDict()
        self._nodes = self._hits = self._misses = 0
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<cache of simplify: {self.info()}, folder={self.folder}>"

    @property
    def folder(self) -> Path | None:
        """Where results are kept for other processes; None, as at the start, for nowhere.

        Anyone who can write to it decides what your gradients are. Only results by the installed
        rules are kept there, and none of graphs with custom operations. After an update of symgraph
        or of a pack of rules, results are found anew.

        Raises
        ------
        InputError
            If it cannot be made, or is no folder.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     sg.cache.folder = folder
        ...     small = sg.trace(lambda x: np.log(np.exp(x)), x="n").simplify()
        ...     print(len(list(sg.cache.folder.iterdir())), "file")
        1 file
        >>> sg.cache.folder = None
        """
        return self._folder

    @folder.setter
    def folder(self, folder: str | os.PathLike[str] | None) -> None:
        if folder is None:
            self._folder = None
            return
        path = Path(folder).expanduser()
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{str(path)!r} cannot be the folder of the cache: {error.strerror}.",
                mend="Give a folder that can be written to, or None.",
            ) from None
        self._folder = path

    def info(self) -> SimplifyCacheInfo:
        """Hits, misses, graphs and nodes in memory."""
        with self._lock:
            return SimplifyCacheInfo(self._hits, self._misses, len(self._found), self._nodes)

    def clear(self) -> None:
        """Forget all results in memory; files in the folder stay."""
        with self._lock:
            self._found.clear()
            self._nodes = self._hits = self._misses = 0

    # -- used by simplify --------------------------------------------------------------------------
    def lookup(self, stage: Stage, how: How) -> tuple[list[Node], Log] | Missing | None:
        """The result of a stage built alike; else where to keep it, if it can be kept.

        Parameters
        ----------
        stage : Stage
        how : tuple of grade, RuleSet and effort
        """
        too_large = len(stage.dag.nodes) > self.limit or _is_heavy(stage)
        of = None if too_large else blueprint(stage)
        if of is None:
            return None
        key = (of.key, how)
        with self._lock:
            result = self._found.get(key)
            if result is not None:
                self._found.move_to_end(key)
        # Now, for simplifying gives names to values of the stage.
        path = self._path(stage, how) if result is None else None
        if path is not None and (result := _loaded(path, of)) is not None:
            self._remember(key, result)
        with self._lock:
            self._hits += result is not None
            self._misses += result is None
        return Missing(of, path) if result is None else carried_over(result, of)

    def keep(self, where: Missing, result: Stage, log: Log, how: How) -> None:
        """Keep the result of a stage."""
        if where.path is not None:
            self._save(where.path, result, log)
        kept = found(where.of, result.dag.outputs, log)
        if kept is not None:
            self._remember((where.of.key, how), kept)

    def _remember(self, key: tuple[object, ...], result: Found) -> None:
        if len(result.nodes) > self.limit:
            return  # All others would go for it.
        with self._lock:
            before = self._found.pop(key, None)
            self._nodes += len(result.nodes) - (0 if before is None else len(before.nodes))
            self._found[key] = result
            while self._nodes > self.limit:
                self._nodes -= len(self._found.popitem(last=False)[1].nodes)

    # -- the folder --------------------------------------------------------------------------------
    def _save(self, path: Path, result: Stage, log: Log) -> None:
        part = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        try:
            part.write_text(document(result, log), encoding="utf-8")
            part.replace(path)
            _tidy(path.parent)
        except InputError:
            return
        except OSError as error:
            self._folder = None
            warnings.warn(
                f"Results of simplify are no longer kept in {str(path.parent)!r}: {error}.",
                stacklevel=2,
            )

    def _path(self, stage: Stage, how: How) -> Path | None:
        """The file of a result; None if it is kept in no file."""
        trust, rules, effort = how
        if self._folder is None or rules is not default_rules():
            return None
        if any(node.op.custom for each in lineage(stage) for node in each.dag.nodes):
            return None  # Its derivative may be another one in another process.
        with suppress(InputError):
            told = "\n".join([fingerprint(stage), trust, effort, _code()])
            return self._folder / f"{blake2b(told.encode(), digest_size=16).hexdigest()}.json"
        return None


def _loaded(path: Path, wanted: Blueprint) -> Found | None:
    """The result in a file, if it is of a graph with this blueprint."""
    try:
        loaded, log = read(path.read_bytes())
    except (OSError, SymgraphError):  # Not there, or of another version: it is found anew.
        return None
    now = None if loaded.before is None else blueprint(loaded.before)
    of = None if now is None else as_it_was(now, wanted)
    return None if of is None else found(of, loaded.dag.outputs, log)


@cache
def _code() -> str:
    """Tells versions of this library and of the packs apart: another may find another result."""
    packages = {rule.function.__module__.partition(".")[0] for rule in default_rules()}
    told: list[str] = []
    for name in sorted({__name__.partition(".")[0], *packages}):
        for folder in map(Path, sys.modules[name].__path__):
            for path in sorted(folder.rglob("*.py")):
                file = path.stat()
                told.append(f"{name}/{path.relative_to(folder)} {file.st_size} {file.st_mtime_ns}")
    return blake2b("\n".join(told).encode(), digest_size=16).hexdigest()


def _is_heavy(stage: Stage) -> bool:
    """Whether constants of the graph would be kept that take much memory."""
    return sum(node.aval.nbytes for node in stage.dag.nodes if node.is_constant) > _MOST_BYTES


def _tidy(folder: Path) -> None:
    """Leave the newest files."""
    files: Sequence[Path] = list(folder.glob("*.json"))
    if len(files) > _MOST_FILES:
        for path in sorted(files, key=lambda each: each.stat().st_mtime)[:-_MOST_FILES]:
            path.unlink(missing_ok=True)


CACHE = SimplifyCache()
