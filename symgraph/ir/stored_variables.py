"""Which variables a function stores right after each instruction, read from its bytecode."""

from __future__ import annotations

import dis
from types import CodeType
from typing import Any

__all__ = ["stores_after"]

_STORES = frozenset({"STORE_FAST", "STORE_NAME", "STORE_DEREF", "STORE_GLOBAL"})
# What may stand between an operation and the store of its result: nothing here makes a node.
_BETWEEN = frozenset(
    {
        *("CACHE", "COPY", "SWAP", "NOP", "EXTENDED_ARG", "RESUME", "UNPACK_SEQUENCE", "UNPACK_EX"),
        *("BUILD_TUPLE", "BUILD_LIST", "LOAD_FAST", "LOAD_CONST", "LOAD_DEREF", "LOAD_GLOBAL"),
        "LOAD_NAME",
        # From Python 3.12, 3.13 and 3.14 on.
        *("LOAD_FAST_CHECK", "LOAD_FAST_AND_CLEAR", "LOAD_FAST_LOAD_FAST", "LOAD_SMALL_INT"),
        *("LOAD_FAST_BORROW", "LOAD_FAST_BORROW_LOAD_FAST_BORROW", "NOT_TAKEN"),
    }
)
_stored: dict[CodeType, dict[int, tuple[str, ...]]] = {}


def stores_after(code: CodeType) -> dict[int, tuple[str, ...]]:
    """The variables that are stored right after each instruction, by the instruction's offset."""
    found = _stored.get(code)
    if found is None:
        found = _stored[code] = {}
        names: list[str] = []
        after = len(code.co_code)
        for each in reversed(list(dis.get_instructions(code))):
            if each.opname in _STORES:
                names.insert(0, str(each.argval))
            elif "STORE_FAST" in each.opname:  # 3.13 stores two, or stores one and loads another.
                pair: Any = each.argval if isinstance(each.argval, tuple) else (each.argval,)
                both = each.opname == "STORE_FAST_STORE_FAST"
                names[:0] = [str(name) for name in (pair if both else pair[:1])]
            elif each.opname not in _BETWEEN:
                if names:
                    # While a function of Python runs, the caller stands at the end of the call.
                    found.update(dict.fromkeys(range(each.offset, after, 2), tuple(names)))
                names = []
            after = each.offset
    return found
