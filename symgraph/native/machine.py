"""From the intermediate language to functions of the process, by LLVM.

A compiled function is a builtin of Python: it takes arrays, reads where their numbers lie from the
array objects, and gives None. Machine code is kept on disk, so that the same loop is compiled once
for a machine.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

__all__ = [
    "address",
    "assembly",
    "entry_function",
    "functions",
    "head_bytes",
    "llvm_version",
    "unsupported",
    "vector_bytes",
]

# By name, so that types are checked without llvmlite.
llvm: Any = import_module("llvmlite.binding")

_MAGIC = b"symgraph native 1\n"
_SYMBOLS = (
    "Py_DecRef",
    "Py_IncRef",
    "PyEval_RestoreThread",
    "PyEval_SaveThread",
    "PyTuple_New",
    "PyTuple_SetItem",
)
_FASTCALL = 0x80
_lock = threading.Lock()
_engines: dict[str, _Engine] = {}


def llvm_version() -> int:
    """The major version of LLVM."""
    return int(llvm.llvm_version_info[0])


def head_bytes() -> int:
    """Where the fields of an array object begin: after the head of every Python object."""
    return object.__basicsize__


@cache
def unsupported() -> str:
    """Why nothing can be compiled in this process; empty if it can be."""
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return "machine code is written for 64-bit little-endian machines"
    if sys.implementation.name != "cpython":
        return "machine code is called by CPython's interface"
    if not _arrays_as_documented():
        return "arrays and numbers do not lie in memory as documented"
    triple = llvm.get_default_triple()
    if triple.startswith(("x86_64", "amd64")) and not llvm.get_host_cpu_features().get("fma"):
        return "the processor has no fused multiply-add"
    return ""


def _arrays_as_documented() -> bool:
    """Whether the fields of array objects, and numbers of Python, lie where code reads them."""
    array = np.zeros((2, 3))
    at = id(array) + head_bytes()
    places = [ctypes.c_void_p.from_address(at + each).value for each in (0, 16, 24, 40, -8)]
    data, lengths, strides, dtype, kind = places
    if not (data and lengths and strides) or data != array.ctypes.data:
        return False
    if dtype != id(array.dtype) or kind != id(np.ndarray) or not _dtypes_as_documented():
        return False
    numbers = [[*(ctypes.c_int64 * 2).from_address(each)] for each in (lengths, strides)]
    axes, flags = [ctypes.c_int.from_address(at + each).value for each in (8, 48)]
    if numbers != [[2, 3], [24, 8]] or axes != 2 or flags != array.flags.num:
        return False
    return all(
        ctypes.c_double.from_address(id(each) + head_bytes()).value == 1.5
        for each in (1.5, np.float64(1.5))
    )


def _dtypes_as_documented() -> bool:
    """Whether the byte order and the number of a dtype lie where code reads them."""
    for each in (np.dtype("float64"), np.dtype(">f8"), np.dtype("bool"), np.dtype("int64")):
        at = id(each) + head_bytes()
        order = ctypes.c_char.from_address(at + 10).value.decode()
        if order != each.byteorder or ctypes.c_int.from_address(at + 12).value != each.num:
            return False
    return True


@cache
def _about() -> str:
    """The machine that code is written for; what LLVM must know of this process is set."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name in _SYMBOLS:
        llvm.add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value)
    features = llvm.get_host_cpu_features().flatten()
    versions = f"{llvm.llvm_version_info} {sys.version}"
    return f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()} {features} {versions}"


@cache
def _processor() -> tuple[Any, str, str]:
    """The processor of this process: its kind, its name, and all that it can do."""
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _new_machine() -> Any:
    """LLVM's target machine for the processor of this process."""
    target, name, features = _processor()
    return target.create_target_machine(
        cpu=name,
        features=features,
        opt=2,
        reloc="pic",
        codemodel="jitdefault",
        jit=True,
    )


@cache
def vector_bytes() -> int:
    """The bytes of a register of the processor."""
    features = llvm.get_host_cpu_features()
    return 64 if features.get("avx512f") else 32 if features.get("avx2") else 16


class _Definition(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )


_definitions: list[_Definition] = []
"""Never freed: CPython reads the definition of a builtin when it frees the builtin."""


class _Code(Protocol):
    """LLVM's object that holds machine code."""

    def get_function_address(self, name: str) -> int: ...


class _Engine:
    """Machine code in memory; the builtins made from it keep it alive."""

    def __init__(self, engine: _Code, names: Sequence[str]) -> None:
        self.engine = engine
        self.definitions: list[_Definition] = []
        for name in names:
            self.definitions.append(
                _Definition(name.encode(), self.address(name), _FASTCALL, b"A compiled loop.")
            )
        _definitions.extend(self.definitions)

    def address(self, name: str) -> int:
        """Where a function begins."""
        found = self.engine.get_function_address(name)
        if not found:
            raise OSError(f"the code has no function {name}")
        return found

    def builtins(self) -> tuple[Any, ...]:
        """The functions, as builtins of Python."""
        return tuple([_builtin(each, self, None) for each in self.definitions])

    def entry(self, name: str, table: np.ndarray[Any, Any]) -> Any:
        """A function that reads a table of addresses, as a builtin of Python."""
        given = name.encode(), self.address(name), _FASTCALL, b"A compiled program."
        definition = _Definition(*given)
        _definitions.append(definition)
        return _builtin(definition, table, self)


def _builtin(definition: _Definition, bound: object, kept: object) -> Any:
    """A builtin: its function gets the bound object, and it keeps another object alive."""
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.py_object)
    return make(ctypes.addressof(definition), bound, kept)


def functions(text: str, names: Sequence[str]) -> tuple[Any, ...]:
    """The functions of a module by these names, compiled or read from disk.

    Parameters
    ----------
    text : str
        The module in LLVM's intermediate language.
    names : sequence of str
    """
    return _engine(text, names).builtins()


def entry_function(text: str, name: str, table: np.ndarray[Any, Any]) -> Callable[..., Any]:
    """A function of the module that reads a table of addresses.

    Parameters
    ----------
    text : str
    name : str
        The function's name.
    table : ndarray
    """
    return _engine(text, ()).entry(name, table)


@cache
def address(text: str, name: str) -> int:
    """Where a function of the module begins, which other modules call; it stays there.

    Parameters
    ----------
    text : str
    name : str
    """
    engine = _engine(text, ())
    _for_ever.append(engine)
    return engine.address(name)


def _engine(text: str, names: Sequence[str]) -> _Engine:
    with _lock:
        key = hashlib.blake2b(f"{_about()}\n{text}".encode(), digest_size=20).hexdigest()
        engine = _engines.get(key)
        if engine is None:
            engine = _engines[key] = _loaded(key, text, names)
            while len(_engines) > _MOST_ENGINES:
                _engines.pop(next(iter(_engines)))
        return engine


_MOST_ENGINES = 512
_for_ever: list[_Engine] = []


def _loaded(key: str, text: str, names: Sequence[str]) -> _Engine:
    place = _cache_folder()
    if place is not None:
        code = _read(place / f"{key}.bin")
        if code is not None:
            with suppress(Exception):  # A file that cannot be used is written again.
                return _Engine(_from_file(code), names)
    engine, code = compiled(text)
    if place is not None:
        _write(place / f"{key}.bin", code)
    return _Engine(engine, names)


def compiled(text: str) -> tuple[_Code, bytes]:
    """A module as machine code in memory, and as an object file."""
    machine, module = _optimised(text)
    engine = llvm.create_mcjit_compiler(module, machine)
    written: list[bytes] = []
    engine.set_object_cache(lambda _, code: written.append(code))
    engine.finalize_object()
    engine.remove_module(module)  # Its text is not needed any more.
    (code,) = written
    return engine, code


def _from_file(code: bytes) -> _Code:
    """The machine code of an object file, in memory."""
    machine = _new_machine()
    module = llvm.parse_assembly("")
    module.triple = machine.triple
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def assembly(text: str) -> str:
    """Machine code of a module, in the processor's assembly language."""
    machine, module = _optimised(text)
    return machine.emit_assembly(module)


def _optimised(text: str) -> tuple[Any, Any]:
    _about()
    machine = _new_machine()
    module = llvm.parse_assembly(text)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    builder = llvm.create_pass_builder(machine, options)
    # Loops are written for vectors already, so a few passes do what LLVM's usual ones do, in a
    # third of the time.
    passes = llvm.create_new_function_pass_manager()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.add_loop_rotate_pass()
    passes.add_new_gvn_pass()
    passes.add_simplify_cfg_pass()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)
    return machine, module


# -- on disk -----------------------------------------------------------------------------------
def _cache_folder() -> Path | None:
    """The folder of machine code, which only the user can write to; None if there is none.

    The environment variable SYMGRAPH_CACHE names another; if it is empty, nothing is kept.
    """
    given = os.environ.get("SYMGRAPH_CACHE")
    if given == "":
        return None
    root = Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    try:
        place = (root.expanduser() / ("." if given else "symgraph") / "native").resolve()
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = place.stat()
    except (OSError, RuntimeError):
        return None
    if hasattr(os, "getuid"):
        others = about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        # Code that somebody else could have written is not run.
        if about.st_uid != os.getuid() or others:
            return None
    return place


def _read(path: Path) -> bytes | None:
    """The code in a file; None if there is none, or if the file is damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    head = len(_MAGIC)
    code = data[head + 20 :]
    intact = data[:head] == _MAGIC and data[head : head + 20] == _digest(code)
    return code if intact else None


def _write(path: Path, code: bytes) -> None:
    """Write a file in one step, so that no other process reads a part of it."""
    with suppress(OSError):
        descriptor, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(_MAGIC + _digest(code) + code)
        os.replace(name, path)


def _digest(code: bytes) -> bytes:
    return hashlib.blake2b(code, digest_size=20).digest()
